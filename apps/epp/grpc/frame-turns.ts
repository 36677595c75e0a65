import type { Socket } from "node:net";
import { readAccepted } from "../../../core/runtime/accepted-socket.ts";
import { type Resting, readTurns, TURN_MS } from "../../../core/runtime/read-turns.ts";
import { FrameReader, type FrameSink } from "./frame-reader.ts";

const NOTHING = Buffer.alloc(0);

/**
 * Reads the frames of a connection for a moment in each turn of the event loop: one read may bring hundreds of whole calls, and each is
 * decided at once. The connection rests in between, and others that rest have their turns.
 */
export class FrameTurns implements Resting, FrameSink {
  readonly readMs: number = TURN_MS;
  readonly #reader = new FrameReader(this);
  readonly #sink: Pick<FrameSink, "frame">;
  /** Use it in place of the one that was given. */
  readonly socket: Socket;
  readonly #read: (chunk: Buffer) => void;
  #untilMs = 0;
  #isResting = false;

  /** `socket` is paused. `read` is called with what comes, and with nothing when frames go on that have come; it calls `push`. */
  constructor(sink: Pick<FrameSink, "frame">, socket: Socket, read: (chunk: Buffer) => void) {
    this.#sink = sink;
    this.socket = readAccepted(socket, read);
    this.#read = read;
  }

  get hasPreface(): boolean {
    return this.#reader.hasPreface;
  }

  get hasTime(): boolean {
    return performance.now() < this.#untilMs;
  }

  /** As in FrameReader. */
  push(chunk: Buffer): void {
    this.#untilMs = performance.now() + TURN_MS;
    if (!this.#reader.push(chunk) || this.#isResting) return;
    this.#isResting = true;
    this.socket.pause();
    readTurns.later(this);
  }

  frame(type: number, flags: number, stream: number, chunk: Buffer, start: number, end: number): void {
    this.#sink.frame(type, flags, stream, chunk, start, end);
  }

  goOn(): void {
    this.#isResting = false;
    this.socket.resume();
    this.#read(NOTHING);
  }
}
