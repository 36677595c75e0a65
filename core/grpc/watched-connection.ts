import type { Limits } from "../settings.ts";
import type { Deadlines, Timed } from "../wire/deadlines.ts";
import { type UnreadCounter, WriteProgress } from "../wire/write-progress.ts";
import type { Http2Connection } from "./http2-connection.ts";

/** Ends a connection whose peer does not begin as one of HTTP/2 in time, or takes nothing for too long. */
export class WatchedConnection implements Timed {
  readonly #connection: Http2Connection;
  readonly #deadlines: Deadlines;
  readonly #progress: WriteProgress;
  readonly #prefaceByMs: number;

  constructor(connection: Http2Connection, deadlines: Deadlines, limits: Limits, memory: UnreadCounter) {
    this.#connection = connection;
    this.#deadlines = deadlines;
    this.#progress = new WriteProgress(deadlines, limits.writeTimeoutMs, memory, () => undefined);
    this.#prefaceByMs = deadlines.nowMs + limits.headTimeoutMs;
    deadlines.add(this);
  }

  sweep(nowMs: number): void {
    const { waitingBytes, hasPreface } = this.#connection;
    const isLate = !hasPreface && nowMs >= this.#prefaceByMs;
    if (this.#progress.isStalled(waitingBytes, nowMs) || isLate) this.#connection.destroy();
  }

  close(): void {
    this.#deadlines.delete(this);
    this.#progress.close();
  }
}
