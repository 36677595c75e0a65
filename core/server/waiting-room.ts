import type { Socket } from "node:net";

/**
 * Connections that were accepted and must wait, unread, until another one ends: the oldest first, none for longer than
 * `longestMs`. No runtime lets a program stop accepting while it listens, so waiting here stands for waiting in the kernel.
 */
export class WaitingRoom {
  readonly #places: number;
  /** May be changed at any time. */
  longestMs: number;
  /** Since when each waits, the oldest first. */
  readonly #waiting = new Map<Socket, number>();

  /** `places`: so many may wait at once. */
  constructor(places: number, longestMs: number) {
    this.#places = places;
    this.longestMs = longestMs;
  }

  get size(): number {
    return this.#waiting.size;
  }

  /** Keeps a paused socket; without a place for it, closes it. */
  enter(socket: Socket, nowMs: number): void {
    if (this.#waiting.size >= this.#places) {
      socket.destroy();
      return;
    }
    // Bun notices a client that leaves; elsewhere that is noticed once somebody reads.
    socket.on("error", () => {});
    socket.once("close", () => this.#waiting.delete(socket));
    this.#waiting.set(socket, nowMs);
  }

  /** The one that has waited longest and is still open; undefined if nobody waits. */
  next(): Socket | undefined {
    for (const socket of this.#waiting.keys()) {
      this.#waiting.delete(socket);
      if (!socket.destroyed) return socket;
    }
    return undefined;
  }

  /** Closes those that have waited too long. */
  sweep(nowMs: number): void {
    for (const [socket, sinceMs] of this.#waiting) {
      if (nowMs - sinceMs < this.longestMs) return;
      this.#waiting.delete(socket);
      socket.destroy();
    }
  }

  close(): void {
    for (const socket of this.#waiting.keys()) socket.destroy();
    this.#waiting.clear();
  }
}
