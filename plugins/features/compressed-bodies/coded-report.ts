import type { Clock } from "../../../core/contract/clock.ts";
import type { Dialect } from "../../../core/contract/errors.ts";
import type { Generated } from "../../../core/contract/outcome.ts";
import type { BodyForm, ReportTap } from "../../../core/contract/slots/inflate.ts";
import { EventStream } from "../../../core/stream/event-stream.ts";
import { UsageTap } from "../../../core/stream/usage-tap.ts";
import type { InflateAllowance } from "./inflate-allowance.ts";
import { inflateAtOnce } from "./inflater.ts";

/** A response of more bytes, or that becomes longer than this, is not read: its tokens are estimated by its length. */
const MOST_CODED_BYTES = 1024 * 1024;
const MOST_PLAIN_BYTES = 16 * 1024 * 1024;
const FIRST_BYTES = 4 * 1024;
const MOST_CODINGS = 3;
const TOO_LONG = "too long";
const NO_BYTES = Buffer.alloc(0);
/** About the bytes of a generated token in each form: compressed with others like it, and plain. */
const TOKEN_BYTES = { events: { coded: 20, plain: 250 }, document: { coded: 5 / 3, plain: 5 } } as const;

/** The parts of the router that it uses. */
export interface CodedParts {
  readonly allowance: InflateAllowance;
  readonly clock: Clock;
}

/**
 * Reads what a compressed response reports. Its bytes are kept as they come and inflated when it is over, in one go: what was reported is
 * asked for at that moment, also where the client has left, and a stream that inflates beside it would know it only later.
 */
export class CodedReport implements ReportTap {
  readonly #codings: string;
  readonly #dialect: Dialect;
  readonly #form: BodyForm;
  readonly #parts: CodedParts;
  #kept: Buffer | undefined = NO_BYTES;
  #bytes = 0;

  constructor(codings: string, dialect: Dialect, form: BodyForm, parts: CodedParts) {
    this.#codings = codings;
    this.#dialect = dialect;
    this.#form = form;
    this.#parts = parts;
  }

  read(chunk: Buffer, spans: ArrayLike<number>, spanCount: number): void {
    for (let i = 0; i < spanCount; i++) this.#keep(chunk, spans[2 * i]!, spans[2 * i + 1]!);
  }

  readDone(): void {}

  tail(): undefined {
    return undefined;
  }

  finish(isComplete: boolean, bytes: number, _events?: number, mostTokens = Number.POSITIVE_INFINITY): Generated {
    const plain = this.#inflate();
    this.#giveUp();
    if (plain === undefined || plain === TOO_LONG || plain.length === 0)
      return estimated(Math.min(mostTokens, this.#estimate(bytes, plain === TOO_LONG)));
    const tap = new UsageTap(this.#dialect, this.#form);
    const spans = [0, plain.length];
    tap.read(plain, spans, 1);
    const stream = new EventStream(0);
    if (this.#form === "events") stream.read(plain, spans, 1);
    return tap.finish(isComplete, plain.length, stream.ended, mostTokens);
  }

  #keep(chunk: Buffer, start: number, end: number): void {
    if (this.#kept === undefined) return;
    const bytes = this.#bytes + end - start;
    if (bytes > this.#kept.length && !this.#widen(bytes)) return this.#giveUp();
    chunk.copy(this.#kept, this.#bytes, start, end);
    this.#bytes = bytes;
  }

  /** Returns whether there is room for so many bytes now. */
  #widen(bytes: number): boolean {
    const kept = this.#kept!;
    const length = Math.min(MOST_CODED_BYTES, Math.max(FIRST_BYTES, 2 * bytes));
    if (bytes > length || !this.#parts.allowance.keep(length - kept.length)) return false;
    this.#kept = Buffer.allocUnsafeSlow(length);
    kept.copy(this.#kept, 0, 0, this.#bytes);
    return true;
  }

  #giveUp(): void {
    this.#parts.allowance.giveBack(this.#kept?.length ?? 0);
    this.#kept = undefined;
  }

  /** Undefined for what is not what its Content-Encoding says, and what was not kept. */
  #inflate(): Buffer | typeof TOO_LONG | undefined {
    const { allowance, clock } = this.#parts;
    // The last one was applied last (RFC 9110 8.4).
    const codings = this.#codings.toLowerCase().split(",", MOST_CODINGS + 1);
    if (this.#kept === undefined || codings.length > MOST_CODINGS || !allowance.hasTime(clock.now())) return undefined;
    let plain = this.#kept.subarray(0, this.#bytes);
    for (const coding of codings.map((name) => name.trim()).reverse()) {
      if (coding === "identity" || coding === "") continue;
      const made = inflated(coding, plain);
      allowance.inflated(made === TOO_LONG ? MOST_PLAIN_BYTES : (made?.length ?? plain.length));
      if (made === undefined || made === TOO_LONG) return made;
      plain = made;
    }
    return plain;
  }

  /** NaN where nothing is generated. */
  #estimate(bytes: number, isTooLong: boolean): number {
    if (this.#form === "no text") return Number.NaN;
    const { coded, plain } = TOKEN_BYTES[this.#form];
    return Math.ceil(isTooLong ? MOST_PLAIN_BYTES / plain : bytes / coded);
  }
}

function estimated(outputTokens: number): Generated {
  return { usage: undefined, outputTokens, isOutputEstimated: !Number.isNaN(outputTokens), finishReason: "" };
}

function inflated(coding: string, bytes: Uint8Array): Buffer | typeof TOO_LONG | undefined {
  try {
    return inflateAtOnce(coding)?.(bytes, MOST_PLAIN_BYTES);
  } catch (thrown) {
    return (thrown as { code?: unknown }).code === "ERR_BUFFER_TOO_LARGE" ? TOO_LONG : undefined;
  }
}
