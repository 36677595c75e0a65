import type { Dialect } from "../contract/errors.ts";
import type { Usage } from "../contract/outcome.ts";
import {
  CACHE_CREATED,
  CACHE_READ,
  CACHED,
  DETAIL,
  DETAILS,
  NUMBERS,
  OUTPUT,
  PARTS,
  PROMPT,
  REASON,
  REPORT_NAMES,
  RESPONSE,
  type ReportNames,
  USAGE,
} from "./report-names.ts";

/** Stands for a number that was not reported. */
const ABSENT = -1;
/** Stands for the depth of an object that is not open. */
const CLOSED = -(2 ** 30);
/** Stands for the depth of what was not found: whatever is found is less deep. */
const DEEPEST = 2 ** 30;
/** States of a response that has not ended. */
const UNENDED = ["in_progress", "queued"];

/**
 * Collects what may be the response's own report. Depths are counted from where the reading began, so how deep something stands in the
 * response is known only at the end: there the depth is 0. Until then the least deep one is kept.
 */
export class ReportMarks {
  /** Objects and lists that were opened since the reading began, less those that were closed. */
  depth = 0;
  #names: ReportNames = REPORT_NAMES.openai;
  #responseAt = CLOSED;
  #usageAt = CLOSED;
  #usageDepth = DEEPEST;
  #isUsageWhole = false;
  #reasonDepth = DEEPEST;
  #reason = "";
  #isOfFirst = false;
  #detailsAt = CLOSED;
  #detailDepth = DEEPEST;
  #detail = "";
  /**
   * By meaning, of the object that is read, and of the response. Plain arrays: of a Float64Array JavaScriptCore reads whole numbers as
   * integers at first, and as doubles in compiled code, and then compiles again whatever works with them.
   */
  readonly #numbers = new Array<number>(NUMBERS).fill(ABSENT);
  readonly #ownNumbers = new Array<number>(NUMBERS).fill(ABSENT);
  #ownReason = "";
  #isOwnOfFirst = false;
  #ownDetail = "";

  begin(dialect: Dialect): void {
    this.#names = REPORT_NAMES[dialect];
    this.#forget();
    for (let meaning = 0; meaning < NUMBERS; meaning++) this.#ownNumbers[meaning] = ABSENT;
    this.#ownReason = "";
    this.#isOwnOfFirst = false;
    this.#ownDetail = "";
  }

  /** Whether a member of this meaning is looked at if its value is an object. The object has not been counted yet. */
  takesObject(meaning: number): boolean {
    const { depth } = this;
    if (meaning === RESPONSE && this.#responseAt === CLOSED) this.#responseAt = depth;
    else if (meaning === DETAILS && this.#detailsAt === CLOSED) this.#detailsAt = depth;
    else if (meaning !== USAGE || this.#usageAt !== CLOSED || this.#ownDepth() > this.#usageDepth) return false;
    else {
      this.#usageAt = depth;
      this.#usageDepth = this.#ownDepth();
      this.#isUsageWhole = false;
      for (let number = 0; number < NUMBERS; number++) this.#numbers[number] = ABSENT;
    }
    return true;
  }

  /** Whether a member of this meaning is looked at if its value is a text. */
  takesWord(meaning: number): boolean {
    return meaning === REASON || (meaning === DETAIL && this.#detailsAt !== CLOSED && this.depth === this.#detailsAt + 1);
  }

  takesNumber(meaning: number): boolean {
    return meaning > 0 && meaning < NUMBERS && this.#usageAt !== CLOSED;
  }

  /** An object or a list has ended. */
  closed(): void {
    this.depth -= 1;
    if (this.depth === this.#usageAt) {
      this.#usageAt = CLOSED;
      this.#isUsageWhole = true;
    } else if (this.depth === this.#responseAt) this.#responseAt = CLOSED;
    else if (this.depth === this.#detailsAt) this.#detailsAt = CLOSED;
  }

  /** The first number of each meaning counts; those of PARTS are added. */
  number(meaning: number, value: number): void {
    const before = this.#numbers[meaning]!;
    if (before === ABSENT) this.#numbers[meaning] = value;
    else if (meaning === PARTS) this.#numbers[meaning] = before + value;
  }

  /** `isOfFirst`: it is not known to be another choice's than the first one's. */
  word(meaning: number, word: string, isOfFirst: boolean): void {
    if (meaning === DETAIL) {
      // What stands beside the details is as deep as their object.
      const depth = this.#ownDepth() - 1;
      if (depth > this.#detailDepth) return;
      this.#detailDepth = depth;
      this.#detail = word;
      return;
    }
    const depth = this.#ownDepth();
    if (depth > this.#reasonDepth || (depth === this.#reasonDepth && (this.#isOfFirst || !isOfFirst))) return;
    this.#reasonDepth = depth;
    this.#reason = word;
    this.#isOfFirst = isOfFirst;
  }

  /** The document, or the event, has ended: what is its own is taken. A later event's report counts more. */
  settle(): void {
    const { depth } = this;
    if (this.#isUsageWhole && this.#usageDepth === depth + 1) {
      for (let meaning = 0; meaning < NUMBERS; meaning++)
        if (this.#numbers[meaning] !== ABSENT) this.#ownNumbers[meaning] = this.#numbers[meaning]!;
    }
    const isOwn = this.#reasonDepth > depth && this.#reasonDepth <= depth + this.#names.reasonDepth;
    if (isOwn && (this.#isOfFirst || !this.#isOwnOfFirst) && !UNENDED.includes(this.#reason)) {
      this.#ownReason = this.#reason;
      this.#isOwnOfFirst = this.#isOfFirst;
    }
    if (this.#detailDepth === depth + 1) this.#ownDetail = this.#detail;
    this.#forget();
  }

  get finishReason(): string {
    return this.#ownDetail === "" ? this.#ownReason : this.#ownDetail;
  }

  /** Undefined if no number of tokens was reported. */
  usage(): Usage | undefined {
    const own = this.#ownNumbers;
    const prompt = own[PROMPT]!;
    const output = own[OUTPUT]!;
    if (prompt === ABSENT && output === ABSENT) return undefined;
    const cacheRead = own[CACHE_READ]!;
    const promptTokens = prompt === ABSENT ? Number.NaN : prompt + Math.max(cacheRead, 0) + Math.max(own[CACHE_CREATED]!, 0);
    const cached = cacheRead === ABSENT ? own[CACHED]! : cacheRead;
    const usage = {
      promptTokens,
      outputTokens: output === ABSENT ? Number.NaN : output,
      cachedTokens: cached === ABSENT ? undefined : cached,
    };
    return own[PARTS] === ABSENT ? usage : { ...usage, partTokens: own[PARTS]! };
  }

  /** Members of the object that is the response count as those of the event around it. */
  #ownDepth(): number {
    const { depth } = this;
    return this.#responseAt !== CLOSED && depth > this.#responseAt ? depth - 1 : depth;
  }

  #forget(): void {
    this.depth = 0;
    this.#responseAt = CLOSED;
    this.#usageAt = CLOSED;
    this.#usageDepth = DEEPEST;
    this.#isUsageWhole = false;
    this.#reasonDepth = DEEPEST;
    this.#reason = "";
    this.#detailsAt = CLOSED;
    this.#detailDepth = DEEPEST;
    this.#detail = "";
  }
}
