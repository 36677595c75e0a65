"""vLLM's idle worker calls sched_yield in a loop. On Linux 6.18 such a loop can keep every other process of a machine
with two cores from running for 30 seconds and more, the test's own among them, so here it sleeps instead."""

import os
import time

os.sched_yield = lambda: time.sleep(0.0002)
