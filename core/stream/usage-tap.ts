import type { Dialect } from "../contract/errors.ts";
import type { Usage } from "../contract/outcome.ts";
import { estimateTokens } from "./estimate-tokens.ts";
import { finishReasonIn } from "./finish-reason.ts";
import { readUsage } from "./read-usage.ts";

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

const NOTHING_GENERATED: Generated = {
  usage: undefined,
  outputTokens: Number.NaN,
  isOutputEstimated: false,
  finishReason: "",
};

const spare: Buffer[] = [];
const straight = Buffer.alloc(TAIL_BYTES);

/** Keeps the end of a response of any length, to find what the replica reports there. */
export class UsageTap {
  readonly #dialect: Dialect;
  /** The last read, of one span: its end is looked at where it lies, if the response ends with it. */
  #lent: Buffer | undefined;
  #lentStart = 0;
  #lentEnd = 0;
  #ring: Buffer | undefined;
  /** Bytes kept so far; modulo TAIL_BYTES, the index of the next byte. */
  #kept = 0;

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
  }

  /** Reads body bytes: `spanCount` [start, end) pairs into `chunk`. Call `readDone` before the chunk is overwritten. */
  read(chunk: Buffer, spans: ArrayLike<number>, spanCount: number): void {
    this.readDone();
    if (spanCount === 1 && this.#ring === undefined) {
      this.#lent = chunk;
      this.#lentStart = tailStart(spans[0]!, spans[1]!);
      this.#lentEnd = spans[1]!;
      return;
    }
    let first = spanCount;
    for (let left = TAIL_BYTES; first > 0 && left > 0; ) {
      first -= 1;
      left -= spans[2 * first + 1]! - spans[2 * first]!;
    }
    for (let i = first; i < spanCount; i++) this.#keep(chunk, tailStart(spans[2 * i]!, spans[2 * i + 1]!), spans[2 * i + 1]!);
  }

  /** Everything from one read has been handed over. */
  readDone(): void {
    if (this.#lent === undefined) return;
    this.#keep(this.#lent, this.#lentStart, this.#lentEnd);
    this.#lent = undefined;
  }

  /**
   * Returns what is known and frees the memory. `isComplete` is false if the response broke off: it has no usage then.
   *
   * @param bytes - of the whole response
   * @param events - of an event stream, all that have ended, in case that it reports no usage
   */
  finish(isComplete: boolean, bytes: number, events = 0): Generated {
    const tail = this.tail();
    this.#free();
    if (tail === undefined) return NOTHING_GENERATED;
    const usage = isComplete ? readUsage(tail) : undefined;
    const reported = usage?.outputTokens ?? Number.NaN;
    // Without any event it may be compressed, or nothing came.
    const isOutputEstimated = Number.isNaN(reported) && events > 0;
    return {
      usage,
      outputTokens: isOutputEstimated ? estimateTokens(tail.toString("latin1"), events, bytes) : reported,
      isOutputEstimated,
      finishReason: finishReasonIn(tail, this.#dialect),
    };
  }

  /** The last bytes of the response so far, valid until the next call; undefined if none came. */
  tail(): Buffer | undefined {
    const ring = this.#ring;
    if (ring === undefined) return this.#lent?.subarray(this.#lentStart, this.#lentEnd);
    if (this.#kept <= TAIL_BYTES) return ring.subarray(0, this.#kept);
    const at = this.#kept % TAIL_BYTES;
    straight.set(ring.subarray(at));
    straight.set(ring.subarray(0, at), TAIL_BYTES - at);
    return straight;
  }

  #free(): void {
    if (this.#ring !== undefined && spare.length < MAX_SPARE) spare.push(this.#ring);
    this.#ring = undefined;
    this.#lent = undefined;
  }

  /** Keeps chunk[start, end), at most TAIL_BYTES. */
  #keep(chunk: Buffer, start: number, end: number): void {
    this.#ring ??= spare.pop() ?? Buffer.allocUnsafeSlow(TAIL_BYTES);
    const at = this.#kept % TAIL_BYTES;
    const wrap = Math.min(end, start + TAIL_BYTES - at);
    chunk.copy(this.#ring, at, start, wrap);
    if (wrap < end) chunk.copy(this.#ring, 0, wrap, end);
    this.#kept += end - start;
  }
}

/** Where the last TAIL_BYTES of a span begin, or the span itself. */
function tailStart(start: number, end: number): number {
  return Math.max(start, end - TAIL_BYTES);
}
