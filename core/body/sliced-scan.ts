import type { BodyReader } from "../contract/parser.ts";
import type { BodyBuffer } from "./receive.ts";
import type { ScanJob, ScanTurns } from "./scan-turns.ts";

/** Bodies up to this size are scanned as they come: they cost little, and a turn of their own would cost more. */
export const DIRECT_BYTES = 256 * 1024;
/** How far the scan may be behind what has come before the host is asked to wait, and where it may go on. */
const MOST_BEHIND_BYTES = 1024 * 1024;
const RESUMED_BEHIND_BYTES = 256 * 1024;

/** What a scan in slices tells the request that it belongs to. */
export interface SlicedScanOwner {
  /** The complete body is scanned. */
  scanned(): void;
  /** The body is not what it should be. */
  failed(thrown: unknown): void;
  /** The host should bring no more of the body (true), or go on (false). */
  holdBody(isHeld: boolean): void;
}

/** Scans one large body behind its bytes, a slice per turn of the event loop. */
export class SlicedScan implements ScanJob {
  readonly #body: BodyBuffer;
  readonly #scanner: BodyReader;
  readonly #turns: ScanTurns;
  readonly #owner: SlicedScanOwner;
  #at: number;
  #isQueued = false;
  #isHeld = false;
  #isComplete = false;
  #isOver = false;

  /** `at`: how far the scanner has come already. */
  constructor(body: BodyBuffer, scanner: BodyReader, at: number, turns: ScanTurns, owner: SlicedScanOwner) {
    this.#body = body;
    this.#scanner = scanner;
    this.#at = at;
    this.#turns = turns;
    this.#owner = owner;
  }

  /** More of the body has come. */
  came(): void {
    if (!this.#isQueued) {
      this.#isQueued = true;
      this.#turns.add(this);
    }
    if (!this.#isHeld && this.#body.length - this.#at > MOST_BEHIND_BYTES) this.#hold(true);
  }

  /** All of it has come; `scanned` or `failed` follows in a later turn. */
  complete(): void {
    this.#isComplete = true;
    this.came();
  }

  /** The request has ended. */
  close(): void {
    this.#isOver = true;
    if (this.#isHeld) this.#hold(false);
  }

  scanStep(bytes: number): boolean {
    if (this.#isOver) return false;
    const { length, storage } = this.#body;
    this.#at = Math.min(length, this.#at + bytes);
    try {
      this.#scanner.push(storage, this.#at);
    } catch (thrown) {
      this.#owner.failed(thrown);
      return false;
    }
    if (this.#isHeld && length - this.#at < RESUMED_BEHIND_BYTES) this.#hold(false);
    if (this.#at < length) return true;
    this.#isQueued = false;
    if (this.#isComplete) this.#owner.scanned();
    return false;
  }

  #hold(isHeld: boolean): void {
    this.#isHeld = isHeld;
    this.#owner.holdBody(isHeld);
  }
}
