import type { Dialect } from "../contract/errors.ts";
import type { Generated } from "../contract/outcome.ts";
import type { BodyForm, ReportTap } from "../contract/slots/inflate.ts";
import { estimateInDocument, estimateTokens } from "./estimate-tokens.ts";
import { ReportReader } from "./report-reader.ts";

/** Bytes kept from a response's end. */
export const TAIL_BYTES = 2048;
/** Most rings, and readers, kept for later responses. */
const MAX_SPARE = 256;

const NOTHING_GENERATED: Generated = {
  usage: undefined,
  outputTokens: Number.NaN,
  isOutputEstimated: false,
  finishReason: "",
};

const spare: Buffer[] = [];
const spareReaders: ReportReader[] = [];
const straight = Buffer.alloc(TAIL_BYTES);

/** Finds what a replica reports in a response of any length, and keeps the response's end. */
export class UsageTap implements ReportTap {
  readonly #form: BodyForm;
  #reader: ReportReader | undefined;
  /** The last read, of one span: its end is looked at where it lies, if the response ends with it. */
  #lent: Buffer | undefined;
  #lentStart = 0;
  #lentEnd = 0;
  #ring: Buffer | undefined;
  /** Bytes kept so far; modulo TAIL_BYTES, the index of the next byte. */
  #kept = 0;

  constructor(dialect: Dialect, form: BodyForm) {
    this.#form = form;
    this.#reader = spareReaders.pop() ?? new ReportReader();
    this.#reader.begin(dialect, form === "events");
  }

  /** Reads body bytes: `spanCount` [start, end) pairs into `chunk`. Call `readDone` before the chunk is overwritten. */
  read(chunk: Buffer, spans: ArrayLike<number>, spanCount: number): void {
    this.readDone();
    for (let i = 0; i < spanCount; i++) this.#reader?.read(chunk, spans[2 * i]!, spans[2 * i + 1]!);
    if (this.#form === "events") this.#reader?.text.read(chunk, spans, spanCount);
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

  finish(isComplete: boolean, bytes: number, events = 0, mostTokens = Number.POSITIVE_INFINITY): Generated {
    const tail = this.tail();
    const reader = this.#reader;
    this.#free();
    if (tail === undefined || reader === undefined) return NOTHING_GENERATED;
    reader.end();
    const usage = isComplete ? reader.marks.usage() : undefined;
    const reported = usage?.outputTokens ?? Number.NaN;
    const mayEstimate = Number.isNaN(reported) && mostTokens > 0;
    const estimated = mayEstimate ? this.#estimate(tail, bytes, events, reader.text.textBytes) : Number.NaN;
    const isOutputEstimated = !Number.isNaN(estimated);
    return {
      usage,
      outputTokens: isOutputEstimated ? Math.min(estimated, mostTokens) : reported,
      isOutputEstimated,
      finishReason: reader.marks.finishReason,
    };
  }

  /** NaN if the response tells nothing. */
  #estimate(tail: Buffer, bytes: number, events: number, textBytes: number): number {
    switch (this.#form) {
      case "events":
        return events > 0
          ? estimateTokens(tail.toString("latin1"), events, bytes > tail.length ? textBytes : undefined)
          : Number.NaN;
      case "document":
        return estimateInDocument(tail.toString("latin1"), bytes);
      case "no text":
        return Number.NaN;
    }
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
    if (this.#reader !== undefined && spareReaders.length < MAX_SPARE) spareReaders.push(this.#reader);
    this.#reader = undefined;
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
