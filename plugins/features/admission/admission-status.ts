import type { WaitingLine } from "./waiting-line.ts";

export type AdmissionStatus = Readonly<NonNullable<ReturnType<typeof admissionStatus>>>;

/** Priorities told apart: a client may name any number of them. */
const MOST_SHOWN = 16;

/** Who waits for room, as JSON; null where nobody has to. */
export function admissionStatus(line: WaitingLine, nowMs: number) {
  if (!line.isOn) return null;
  return {
    waiting: line.size,
    waitingBytes: line.bytes,
    longestMs: Math.round(line.longestMs),
    // How many go on a second, as in the last ten.
    drainPerS: Math.round(line.drain.perS(nowMs) * 10) / 10,
    byPriority: [...line.byPriority]
      .sort(([one], [other]) => other - one)
      .slice(0, MOST_SHOWN)
      .map(([priority, waiting]) => ({ priority, waiting })),
    // The most that waited in each of the last seconds, the oldest first.
    history: line.history.shown(nowMs),
  };
}
