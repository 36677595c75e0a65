import { errorClassOf } from "../../core/report/blame.ts";
import { type EndedRequest, reportOf } from "../../core/report/decision-report.ts";
import type { DecisionReport } from "../../core/report/report-schema.ts";

const TEXT_ENCODER = new TextEncoder();
const TEXT_DECODER = new TextDecoder();

/** A report takes 20 to 50 µs to write, so only so many are written a second: of failed requests, of slow ones, and of all others. */
const MOST_FAILED = 200;
const MOST_SLOW = 50;
const MOST_USUAL = 50;
/** This share of the requests counts as slow. */
const SLOW_SHARE = 0.05;
/** How far one request moves the time from which on one is slow. */
const STEP = 0.1;
/** What a report takes beside its text. */
const PLACE_BYTES = 200;

/** A request as people see it. */
export interface Remembered {
  readonly id: string;
  readonly report: () => DecisionReport;
}

/**
 * A request as the text of its report: as an object, V8 would take all requests for long-lived (see DECISIONS.md). The text has memory of
 * its own: a small `Buffer` shares 8 KB with others, and one that is kept keeps all of them.
 */
interface Written {
  readonly id: string;
  readonly wallMs: number;
  readonly text: Uint8Array;
}

/**
 * The requests that ended last: the latest `count`, whatever they are, and older ones by memory. Of that, failed and slow ones have one
 * half and all others the other, so that what people look for is known for longer.
 */
export class RememberedRequests {
  /** A ring of at most `count`. */
  #latest: EndedRequest[] = [];
  /**
   * At the same places: where each will be kept when it leaves the ring. It is settled as the request ends: then all that tells it is
   * in the processor's cache, and those that will not be kept need not be read again.
   */
  #later: (WrittenQueue | undefined)[] = [];
  #next = 0;
  #count = 0;
  #bytes = 0;
  #slowMs = 0;
  readonly #usual = new WrittenQueue(MOST_USUAL);
  readonly #slow = new WrittenQueue(MOST_SLOW);
  readonly #failed = new WrittenQueue(MOST_FAILED);

  /** Sets the bounds; the oldest beyond them are forgotten. */
  resize(count: number, bytes: number): void {
    const latest = this.#inOrder(this.#latest);
    const later = this.#inOrder(this.#later);
    const surplus = Math.max(0, latest.length - count);
    for (let index = 0; index < surplus; index++) later[index]?.add(latest[index]!);
    this.#latest = latest.slice(surplus);
    this.#later = later.slice(surplus);
    this.#next = this.#latest.length % count;
    this.#count = count;
    this.#bytes = bytes;
    this.#keepBytes();
  }

  add(ended: EndedRequest): void {
    const at = this.#next;
    const oldest = this.#latest[at];
    const queue = this.#later[at];
    this.#latest[at] = ended;
    this.#later[at] = this.#queueFor(ended);
    this.#next = (at + 1) % this.#count;
    if (oldest === undefined || queue === undefined || this.#bytes === 0) return;
    queue.add(oldest);
    this.#keepBytes();
  }

  latestFirst(): Remembered[] {
    const older = [this.#usual, this.#slow, this.#failed].flatMap((queue) => queue.all());
    older.sort((one, other) => one.wallMs - other.wallMs);
    return [
      ...older.map(({ id, text }) => ({ id, report: () => JSON.parse(TEXT_DECODER.decode(text)) as DecisionReport })),
      ...this.#inOrder(this.#latest).map((ended) => ({ id: ended.id, report: () => reportOf(ended) })),
    ].reverse();
  }

  #inOrder<Item>(ring: readonly Item[]): Item[] {
    return [...ring.slice(this.#next), ...ring.slice(0, this.#next)];
  }

  /** Undefined if too many like it ended lately. */
  #queueFor(ended: EndedRequest): WrittenQueue | undefined {
    const errorClass = errorClassOf(ended);
    const isSlow = this.#isSlow(ended);
    const isFailed = errorClass === "replica" || errorClass === "router";
    const queue = isFailed ? this.#failed : isSlow ? this.#slow : this.#usual;
    return queue.takes(ended.wallMs) ? queue : undefined;
  }

  #keepBytes(): void {
    this.#usual.keepBytes(this.#bytes / 2);
    this.#slow.keepBytes(this.#bytes / 4);
    this.#failed.keepBytes(this.#bytes / 4);
  }

  /** Whether its first byte came later than that of most; each request moves what that is, so it needs no list of times. */
  #isSlow({ firstByteMs, durationMs }: EndedRequest): boolean {
    const ms = Number.isNaN(firstByteMs) ? durationMs : firstByteMs;
    const isSlow = this.#slowMs > 0 && ms > this.#slowMs;
    if (this.#slowMs === 0) this.#slowMs = ms;
    else this.#slowMs *= 1 + STEP * (isSlow ? 1 - SLOW_SHARE : -SLOW_SHARE);
    return isSlow;
  }
}

/** First in, first out. */
class WrittenQueue {
  #items: Written[] = [];
  /** Those before it have been taken. */
  #first = 0;
  #bytes = 0;
  readonly #perSecond: number;
  /** So many may be taken now. */
  #allowed: number;
  /** When the last one was taken or left out. */
  #wallMs = 0;

  /** `perSecond`: so many are taken in the long run, and at once. */
  constructor(perSecond: number) {
    this.#perSecond = perSecond;
    this.#allowed = perSecond;
  }

  /** Whether one that began then is to be added: not if there were too many lately. The clock of the machine may have been set back. */
  takes(wallMs: number): boolean {
    const passedMs = Math.abs(wallMs - this.#wallMs);
    this.#wallMs = wallMs;
    this.#allowed = Math.min(this.#perSecond, this.#allowed + (passedMs / 1000) * this.#perSecond);
    if (this.#allowed < 1) return false;
    this.#allowed -= 1;
    return true;
  }

  add(ended: EndedRequest): void {
    const written = { id: ended.id, wallMs: ended.wallMs, text: TEXT_ENCODER.encode(JSON.stringify(reportOf(ended))) };
    this.#items.push(written);
    this.#bytes += bytesOf(written);
  }

  /** Takes the oldest until no more than this is left. */
  keepBytes(most: number): void {
    while (this.#bytes > most) {
      this.#bytes -= bytesOf(this.#items[this.#first]!);
      this.#first += 1;
    }
    if (this.#first * 8 <= this.#items.length) return;
    this.#items = this.#items.slice(this.#first);
    this.#first = 0;
  }

  all(): readonly Written[] {
    return this.#items.slice(this.#first);
  }
}

const bytesOf = ({ text }: Written) => text.length + PLACE_BYTES;
