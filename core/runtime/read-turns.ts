import type { Socket } from "node:net";
import { afterOthersReads } from "./next-turn.ts";

/** A shorter read can't take long. */
const LEAST_BYTES = 4 * 1024;
/** So long reads may take, all connections together, before what else waits in the event loop has as much time. */
export const TURN_MS = 2;

/** What goes on in a later turn. */
export interface Resting {
  /** How long it takes then, as far as one knows. */
  readonly readMs: number;
  goOn(): void;
}

/**
 * Shares the time of the event loop between connections whose reads take long. A runtime reads a connection up to 128 times in a row (Deno;
 * Node 32 times) as long as there is something to read: a peer that sends at full speed what costs much work would hold up everybody else
 * for seconds. Here a connection rests for a turn when reads have used up their time, and those that rest go on one after the other.
 */
export class ReadTurns {
  readonly #now: () => number;
  readonly #nextTurn: (run: () => void) => void;
  readonly #resting: Resting[] = [];
  /** By reads, since `#sinceMs`. */
  #spentMs = 0;
  #sinceMs = 0;
  #isScheduled = false;
  readonly #run = () => this.#turn();

  constructor(now: () => number = () => performance.now(), next: (run: () => void) => void = afterOthersReads) {
    this.#now = now;
    this.#nextTurn = next;
  }

  /** Does what `read` does, and lets the connection rest where that is due. */
  pace(socket: Socket, read: (chunk: Buffer) => void): (chunk: Buffer) => void {
    let pace: Pace | undefined;
    return (chunk) => {
      if (chunk.length < LEAST_BYTES) return read(chunk);
      const fromMs = this.#now();
      if (fromMs - this.#sinceMs - this.#spentMs >= TURN_MS) this.#restart(fromMs);
      read(chunk);
      const readMs = this.#now() - fromMs;
      this.#spentMs += readMs;
      if (this.#spentMs < TURN_MS || socket.destroyed) return;
      pace ??= new Pace(socket);
      pace.rest(readMs);
      this.later(pace);
    };
  }

  /** Lets one go on in its turn. */
  later(resting: Resting): void {
    this.#resting.push(resting);
    this.#schedule();
  }

  #restart(nowMs: number): void {
    this.#spentMs = 0;
    this.#sinceMs = nowMs;
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#nextTurn(this.#run);
  }

  /** Lets so many connections go on as have time for a read that takes as long as their last one, and one at least. */
  #turn(): void {
    this.#isScheduled = false;
    this.#restart(this.#now());
    let expectedMs = 0;
    do {
      const next = this.#resting.shift();
      if (next === undefined) return;
      expectedMs += next.readMs;
      next.goOn();
    } while (expectedMs < TURN_MS);
    this.#schedule();
  }
}

/** A connection that may rest. Whether its owner wants it paused counts again once it goes on. */
class Pace implements Resting {
  /** How long its last read took. */
  readMs = 0;
  readonly #socket: Socket;
  readonly #pause: () => void;
  readonly #resume: () => void;
  #isResting = false;
  #isPaused = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    this.#pause = socket.pause.bind(socket);
    this.#resume = socket.resume.bind(socket);
    const set = (isPaused: boolean) => {
      this.#isPaused = isPaused;
      if (this.#isResting) return socket;
      if (isPaused) this.#pause();
      else this.#resume();
      return socket;
    };
    socket.pause = () => set(true);
    socket.resume = () => set(false);
  }

  rest(readMs: number): void {
    this.readMs = readMs;
    this.#isPaused = this.#socket.isPaused();
    this.#isResting = true;
    this.#pause();
  }

  goOn(): void {
    this.#isResting = false;
    if (!this.#isPaused) this.#resume();
  }
}

/** One for the process, as there is one event loop. */
export const readTurns: ReadTurns = new ReadTurns();
