import type { Clock } from "../contract/clock.ts";
import { RouterError } from "../contract/errors.ts";
import { idleStorageBytes, trimStorage } from "./storage-pool.ts";

/** A body that is still arriving. */
export interface Upload {
  /** Bytes that have come. */
  readonly length: number;
  /** Bytes of memory that it counts for. */
  readonly heldBytes: number;
  /** Ends its request, which gives back its memory. */
  cut(error: RouterError): void;
}

/** Where an upload was at the last two marks; NaN before. */
interface Marks {
  before: number;
  latest: number;
}

/** Time between two marks. An upload's progress is what it brought since the mark before the latest. */
const MARK_MS = 1_000;
/** An upload that brought less than this is cut when a body that is just arriving needs the room. */
const SLOW_BYTES = 64 * 1024;

/** Bodies up to this size may exceed the budget by a share. Otherwise uploads that are too young to be cut would shut them out. */
const SMALL_BYTES = 64 * 1024;
const SMALL_SHARE = 1 / 16;

/**
 * One budget for the memory of all request bodies under way and of all responses that clients have not read. When it is used up,
 * room is made by cutting the uploads that made the least progress lately; where that is not enough, the body that asks is refused.
 * Idle buffers, kept for the next bodies, only get what is left of it.
 */
export class MemoryBudget {
  /** What all of it may be together; may be changed at any time. */
  limitBytes: number;
  /** Bodies refused and uploads cut so far. */
  refusals = 0;
  /** Gives up what is held only for as long as nobody else needs the room. */
  giveUpSpare: () => void = () => {};
  #bodyBytes = 0;
  #unreadBytes = 0;
  readonly #clock: Clock;
  readonly #uploads = new Map<Upload, Marks>();
  #stopMarking: (() => void) | undefined;

  constructor(limitBytes: number, clock: Clock) {
    this.limitBytes = limitBytes;
    this.#clock = clock;
  }

  /** Memory of all request bodies. */
  get bodyBytes(): number {
    return this.#bodyBytes;
  }

  /** Bytes of responses that wait for their readers; kept up to date by hosts. */
  get unreadBytes(): number {
    return this.#unreadBytes;
  }

  set unreadBytes(bytes: number) {
    this.#unreadBytes = bytes;
    this.#trimIdle();
  }

  /** Whether so much is used that nothing should be held that is not needed. */
  get isTight(): boolean {
    return this.#bodyBytes + this.#unreadBytes > this.limitBytes / 2;
  }

  /** A body of `bytes` is announced. Throws RouterError (503) if there is no room for it. */
  announced(bytes: number): void {
    this.#claim(bytes, SLOW_BYTES, bytes);
  }

  /** Memory for a body. Throws RouterError (503) if there is none. */
  take(upload: Upload, bytes: number): void {
    this.#claim(bytes, this.#progressOf(upload) ?? SLOW_BYTES, upload.heldBytes + bytes);
    this.#bodyBytes += bytes;
    this.#trimIdle();
  }

  give(bytes: number): void {
    this.#bodyBytes -= bytes;
  }

  /** The upload may be cut from now on, until it has `arrived`. */
  arriving(upload: Upload): void {
    this.#uploads.set(upload, { before: Number.NaN, latest: Number.NaN });
    this.#stopMarking ??= this.#clock.every(MARK_MS, () => this.#mark());
  }

  /** It is complete, or its request has ended. */
  arrived(upload: Upload): void {
    this.#uploads.delete(upload);
  }

  close(): void {
    this.#stopMarking?.();
  }

  /** Finds room for `bytes` more, where uploads slower than `least` may be cut for them; the body then holds `held`. */
  #claim(bytes: number, least: number, held: number): void {
    if (this.#hasRoom(bytes)) return;
    this.giveUpSpare();
    if (this.#hasRoom(bytes) || this.#makeRoom(bytes, least) || this.#hasSmallRoom(bytes, held)) return;
    this.refusals += 1;
    throw overloaded("The router has no memory left for this request's body; send the request again shortly.");
  }

  #hasRoom(bytes: number): boolean {
    return this.#bodyBytes + this.#unreadBytes + bytes <= this.limitBytes;
  }

  /** Whether a body that holds `held` bytes, `bytes` more than so far, may go beyond the limit. */
  #hasSmallRoom(bytes: number, held: number): boolean {
    return held <= SMALL_BYTES && this.#hasRoom(bytes - SMALL_SHARE * this.limitBytes);
  }

  #trimIdle(): void {
    const room = Math.max(0, this.limitBytes - this.#bodyBytes - this.#unreadBytes);
    if (idleStorageBytes() > room) trimStorage(room);
  }

  /** Cuts the slowest of the uploads that made less progress than `least`, if that makes enough room; else none. */
  #makeRoom(bytes: number, least: number): boolean {
    const slow: { readonly upload: Upload; readonly progress: number }[] = [];
    let held = 0;
    for (const upload of this.#uploads.keys()) {
      const progress = this.#progressOf(upload);
      if (progress === undefined || progress >= least) continue;
      slow.push({ upload, progress });
      held += upload.heldBytes;
    }
    if (!this.#hasRoom(bytes - held)) return false;
    slow.sort((a, b) => a.progress - b.progress);
    for (const { upload } of slow) {
      if (this.#hasRoom(bytes)) break;
      this.refusals += 1;
      upload.cut(overloaded(TOO_SLOW));
    }
    return true;
  }

  /** Bytes that came within the last one or two periods; undefined for an upload that is younger. */
  #progressOf(upload: Upload): number | undefined {
    const before = this.#uploads.get(upload)?.before ?? Number.NaN;
    return Number.isNaN(before) ? undefined : upload.length - before;
  }

  #mark(): void {
    for (const [upload, marks] of this.#uploads) {
      marks.before = marks.latest;
      marks.latest = upload.length;
    }
    if (this.#uploads.size > 0) return;
    this.#stopMarking?.();
    this.#stopMarking = undefined;
  }
}

const TOO_SLOW = "The router needed the memory of this request's body, which came slowly; send the request again, faster.";

function overloaded(message: string): RouterError {
  return new RouterError("overloaded", message, { retryAfterS: 1 });
}
