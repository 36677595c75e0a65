import type { Clock } from "../../../../core/contract/clock.ts";
import type { Log } from "../../../../core/contract/log.ts";
import type { WorkerProcess } from "./worker-process.ts";

/** One that still answers has so long to end, once nothing is under way. */
const LAST_MS = 10_000;

/** Passes a signal on to workers, and waits for `ended`: those that say nothing are killed after `mostMs`, all others a little later. */
export async function endWorkers(
  workers: readonly WorkerProcess[],
  signal: NodeJS.Signals,
  mostMs: number,
  ended: Promise<void>,
  clock: Clock,
  log: Log,
): Promise<void> {
  const kill = (late: readonly WorkerProcess[]) => {
    for (const each of late) {
      if (each.isOver) continue;
      log.error("A worker did not end in its time, and is killed", { worker: each.worker, pid: each.pid ?? 0 });
      each.kill("SIGKILL");
    }
  };
  for (const each of workers) each.kill(signal);
  const cancels = [
    clock.after(mostMs, () => kill(workers.filter(({ isSilent }) => isSilent))),
    clock.after(mostMs + LAST_MS, () => kill(workers)),
  ];
  await ended;
  for (const cancel of cancels) cancel();
}
