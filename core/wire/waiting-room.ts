import type { Socket } from "node:net";

interface Waiting {
  readonly socket: Socket;
  readonly sinceMs: number;
}

/**
 * Connections that were accepted and must wait, unread, until another one ends: the oldest first, none for longer than
 * `longestMs`. No runtime lets a program stop accepting while it listens, so waiting here stands for waiting in the kernel.
 */
export class WaitingRoom {
  readonly #places: number;
  /** May be changed at any time. */
  longestMs: number;
  #waiting: Waiting[] = [];

  /** `places`: so many may wait at once. */
  constructor(places: number, longestMs: number) {
    this.#places = places;
    this.longestMs = longestMs;
  }

  get size(): number {
    return this.#waiting.length;
  }

  /** Keeps a paused socket; without a place for it, closes it. */
  enter(socket: Socket, nowMs: number): void {
    if (this.#waiting.length >= this.#places) {
      socket.destroy();
      return;
    }
    // A client that resets its connection is noticed once somebody reads.
    socket.on("error", () => {});
    this.#waiting.push({ socket, sinceMs: nowMs });
  }

  /** The one that has waited longest; undefined if nobody waits. */
  next(): Socket | undefined {
    return this.#waiting.shift()?.socket;
  }

  /** Closes those that have waited too long. */
  sweep(nowMs: number): void {
    while (this.#waiting[0] !== undefined && nowMs - this.#waiting[0].sinceMs >= this.longestMs) this.next()?.destroy();
  }

  close(): void {
    for (const { socket } of this.#waiting) socket.destroy();
    this.#waiting = [];
  }
}
