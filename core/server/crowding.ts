import type { Log } from "../contract/log.ts";

/** Why connections are not taken now: more than may be open, or no file descriptor for another. */
export type CrowdReason = "connections" | "descriptors";

const WORDS: Record<CrowdReason, string> = {
  connections: "No more client connections are taken: as many are open as limits.clientConnections or the file descriptors allow",
  descriptors: "No more client connections are taken: the process is out of file descriptors; raise its limit",
};

/**
 * Times in which a listener takes no connections. One lasts from the first connection that is turned away to the first period in
 * which none is and there is room; it is logged once, at its beginning.
 */
export class Crowding {
  /** How many such times there were. */
  pauses = 0;
  /** Whether there is one now. */
  isNow = false;
  readonly #log: Log;
  #wasTurnedAway = false;

  constructor(log: Log) {
    this.#log = log;
  }

  turnedAway(reason: CrowdReason): void {
    this.#wasTurnedAway = true;
    if (this.isNow) return;
    this.isNow = true;
    this.pauses += 1;
    this.#log.warn(WORDS[reason], {});
  }

  /** A period has passed. Returns true when the crowd is over with it. */
  period(hasRoom: boolean): boolean {
    const isOver = this.isNow && hasRoom && !this.#wasTurnedAway;
    this.#wasTurnedAway = false;
    if (isOver) this.isNow = false;
    return isOver;
  }
}
