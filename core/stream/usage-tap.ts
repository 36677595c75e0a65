import type { Dialect } from "../contract/errors.ts";
import type { Usage } from "../contract/outcome.ts";
import { estimateTokens } from "./estimate-tokens.ts";
import { EventCount } from "./event-count.ts";
import { finishReasonIn } from "./finish-reason.ts";
import { readUsage } from "./usage-object.ts";

/** Bytes kept from a response's end. */
export const TAIL_BYTES = 2048;
/** Most rings kept for later responses. */
const MAX_SPARE = 256;

/** What a response, or what came of it, says of its generation. Plain data; the fields are those of an Outcome. */
export interface Generated {
  readonly usage: Usage | undefined;
  readonly outputTokens: number;
  readonly isOutputEstimated: boolean;
  readonly finishReason: string;
}

export const NOTHING_GENERATED: Generated = {
  usage: undefined,
  outputTokens: Number.NaN,
  isOutputEstimated: false,
  finishReason: "",
};

const spare: Buffer[] = [];
const straight = Buffer.alloc(TAIL_BYTES);

/**
 * Keeps the end of a response of any length, to find what the replica reports there. Counts the events of an event stream, in
 * case that it reports no usage.
 */
export class UsageTap {
  #ring: Buffer | undefined;
  /** Bytes kept so far; modulo TAIL_BYTES, the index of the next byte. */
  #kept = 0;
  #total = 0;
  readonly #events: EventCount | undefined;
  readonly #dialect: Dialect;

  constructor(isEventStream: boolean, dialect: Dialect) {
    this.#dialect = dialect;
    if (isEventStream) this.#events = new EventCount();
  }

  /** Reads body bytes: `spanCount` [start, end) pairs into `chunk`. Keeps only the last TAIL_BYTES. */
  read(chunk: Buffer, spans: ArrayLike<number>, spanCount: number): void {
    this.#ring ??= spare.pop() ?? Buffer.allocUnsafeSlow(TAIL_BYTES);
    let first = spanCount;
    let bytes = 0;
    while (first > 0 && bytes < TAIL_BYTES) {
      first -= 1;
      bytes += spans[2 * first + 1]! - spans[2 * first]!;
    }
    for (let i = 0; i < spanCount; i++) {
      const start = spans[2 * i]!;
      const end = spans[2 * i + 1]!;
      this.#total += end - start;
      this.#events?.read(chunk, start, end);
      if (i >= first) this.#keep(this.#ring, chunk, start, end);
    }
  }

  /** Returns what is known and frees the memory. `isComplete` is false if the response broke off: it has no usage then. */
  finish(isComplete: boolean): Generated {
    const ring = this.#ring;
    if (ring === undefined) return NOTHING_GENERATED;
    const kept = this.#kept;
    this.#free(ring);
    if (kept <= TAIL_BYTES) return this.#report(ring, kept, isComplete);
    const at = kept % TAIL_BYTES;
    straight.set(ring.subarray(at));
    straight.set(ring.subarray(0, at), TAIL_BYTES - at);
    return this.#report(straight, TAIL_BYTES, isComplete);
  }

  #report(bytes: Buffer, length: number, isComplete: boolean): Generated {
    const usage = isComplete ? readUsage(bytes, length) : undefined;
    const reported = usage?.outputTokens ?? Number.NaN;
    // Without any event it may be compressed, or nothing came.
    const events = this.#events?.ended ?? 0;
    const isOutputEstimated = Number.isNaN(reported) && events > 0;
    return {
      usage,
      outputTokens: isOutputEstimated ? estimateTokens(bytes.toString("latin1", 0, length), events, this.#total) : reported,
      isOutputEstimated,
      finishReason: finishReasonIn(bytes, length, this.#dialect),
    };
  }

  #free(ring: Buffer): void {
    if (spare.length < MAX_SPARE) spare.push(ring);
    this.#ring = undefined;
    this.#kept = 0;
  }

  #keep(ring: Buffer, chunk: Buffer, start: number, end: number): void {
    const from = Math.max(start, end - TAIL_BYTES);
    const at = this.#kept % TAIL_BYTES;
    const untilWrap = Math.min(end, from + TAIL_BYTES - at);
    ring.set(chunk.subarray(from, untilWrap), at);
    if (untilWrap < end) ring.set(chunk.subarray(untilWrap, end));
    this.#kept += end - from;
  }
}
