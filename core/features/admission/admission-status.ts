import type { WaitingLine } from "./waiting-line.ts";

/** Who waits for room, as JSON; null where nobody has to. */
export function admissionStatus(line: WaitingLine, nowMs: number) {
  if (!line.isOn) return null;
  return {
    waiting: line.size,
    waitingBytes: line.bytes,
    longestMs: Math.round(line.longestMs),
    // How many go on a second, as in the last ten.
    drainPerS: Math.round(line.drain.perS(nowMs) * 10) / 10,
    byPriority: [...line.byPriority].sort(([one], [other]) => other - one).map(([priority, waiting]) => ({ priority, waiting })),
  };
}
