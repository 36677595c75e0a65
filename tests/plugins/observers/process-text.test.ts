import assert from "node:assert/strict";
import { test } from "node:test";
import { processText } from "../../../plugins/observers/process-text.ts";
import { makeView } from "../../support/view.ts";

const samplesOf = (view: Parameters<typeof processText>[0]) =>
  processText(view)
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));

test("the process, its config and its plugins", () => {
  const view = makeView([], {
    config: {
      ...{ generation: 3, isLastReloadApplied: false, confirmedAtS: 1_893_456_060 },
      reloads: { applied: 2, unchanged: 1, refused: 5 },
    },
    plugins: {
      faults: new Map([["mine", 7]]),
      times: [{ kind: "scorer", name: "mine", timedRequests: 3, timedMs: 40, isSlow: true, hasNoVote: false }],
    },
    process: {
      memory: { limitBytes: 1000, bodyBytes: 300, unreadBytes: 200, refusals: 4 },
      ...{ acceptPauses: 2, droppedLogLines: 12 },
      usage: () => ({ cpuSeconds: 1.5, residentBytes: 2, heapUsedBytes: 3, heapBytes: 4, openFiles: 5, maxOpenFiles: 6 }),
    },
  });
  assert.deepEqual(samplesOf(view), [
    "signalbox_log_dropped_total 12",
    "signalbox_accept_pauses_total 2",
    "signalbox_start_time_seconds 1893456000",
    "signalbox_config_generation 3",
    "signalbox_config_last_reload_successful 0",
    "signalbox_config_last_reload_success_time_seconds 1893456060",
    'signalbox_config_reloads_total{result="applied"} 2',
    'signalbox_config_reloads_total{result="unchanged"} 1',
    'signalbox_config_reloads_total{result="refused"} 5',
    "signalbox_body_bytes 300",
    "signalbox_unread_bytes 200",
    "signalbox_memory_limit_bytes 1000",
    "signalbox_memory_refusals_total 4",
    'signalbox_plugin_faults_total{plugin="mine"} 7',
    'signalbox_plugin_timed_requests_total{kind="scorer",plugin="mine"} 3',
    'signalbox_plugin_timed_seconds_total{kind="scorer",plugin="mine"} 0.04',
    'signalbox_plugin_slow{kind="scorer",plugin="mine"} 1',
    'signalbox_plugin_without_vote{kind="scorer",plugin="mine"} 0',
    "process_cpu_seconds_total 1.5",
    "process_resident_memory_bytes 2",
    "signalbox_heap_used_bytes 3",
    "signalbox_heap_bytes 4",
    "process_open_fds 5",
    "process_max_fds 6",
  ]);
});

test("what the system does not tell is left out", () => {
  assert.doesNotMatch(processText(makeView()), /_fds/);
});
