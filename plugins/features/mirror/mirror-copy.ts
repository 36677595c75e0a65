import type { BodyHold } from "../../../core/body/receive.ts";
import type { Draft } from "../../../core/contract/draft.ts";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import type { MirrorEnding, MirrorRecord } from "../../../core/contract/mirror.ts";
import { afterAwake } from "../../../core/contract/standstill.ts";
import { type BytesOwner, type SilentParts, SilentReader } from "../../../core/forward/silent-reader.ts";
import { Try, type TryOwner } from "../../../core/forward/try.ts";
import { Booking } from "../../../core/pool/booking.ts";
import type { ReplicaConnection } from "../../../core/pool/connections.ts";
import type { Pool } from "../../../core/pool/pool.ts";
import { forgetBody } from "../../../core/request/parse.ts";
import { UNWATCHED } from "../../../core/state/traffic.ts";
import type { UpstreamFailure } from "../../../core/wire/response-reader.ts";
import type { MirrorTally } from "./mirror-tally.ts";

/** A longer response is not read to its end: no generated text is so long. */
const MOST_RESPONSE_BYTES = 16 * 1024 * 1024;

/** What a copy is made of. Its request is as the endpoint gets it: with the mirror's target and an id of its own. */
export interface CopyParts extends SilentParts {
  readonly endpoint: Endpoint;
  readonly connection: ReplicaConnection;
  /** Keeps the request's body in memory. */
  readonly body: BodyHold;
  readonly tally: MirrorTally;
  readonly record: OpenRecord;
  /** It has ended, however it did. */
  ended(copy: MirrorCopy): void;
}

/** A record while it is written. */
export type OpenRecord = { -readonly [Key in keyof MirrorRecord]: MirrorRecord[Key] };

/**
 * One copy of a request: one try, whose response is thrown away. It counts in its endpoint's load, because it is work there; but what
 * becomes of it is told to nobody who judges endpoints, learns from them, or tries again.
 */
export class MirrorCopy implements TryOwner, BytesOwner {
  readonly #parts: CopyParts;
  readonly #try: Try;
  readonly #cancelLimit: () => void;
  #isBodyHeld = true;
  /** When the request itself got its first byte, after so many milliseconds; NaN as long as that is not known. */
  #originalMs = Number.NaN;

  constructor(parts: CopyParts, pool: Pool) {
    const { request, endpoint, clock, tally } = parts;
    const booking = new Booking(request, endpoint, pool, UNWATCHED, clock.now());
    this.#parts = parts;
    this.#try = new Try(pool, clock, undefined, booking, new SilentReader(parts, this), this);
    tally.begin();
    this.#cancelLimit = afterAwake(clock, tally.bounds.timeoutMs, () => this.stop("time-limit"));
  }

  /** Sends it. It may end synchronously, so store the object first. The draft is not kept: it would keep the body's memory. */
  begin(draft: Draft, head: string): void {
    this.#parts.connection.send(draft.method, head, draft.body, this.#try.front);
  }

  get endpoint(): Endpoint {
    return this.#parts.endpoint;
  }

  /** Whether the request's body stays in memory for it. */
  get isBodyHeld(): boolean {
    return this.#isBodyHeld;
  }

  /** The request itself has ended; NaN if it got no byte of a response, or an error. */
  originalEnded(firstByteMs: number): void {
    this.#originalMs = firstByteMs;
    this.#compare();
  }

  /** Ends it, if it is still under way. */
  stop(ending: MirrorEnding): void {
    if (this.#try.isOver) return;
    this.#try.drop();
    this.#ended(ending);
  }

  // Reports from the try and its reader.

  responded(status: number): boolean {
    this.#parts.record.status = status;
    return true;
  }

  /** Copies load nothing, so none is asked. */
  missedTarget(): boolean {
    return true;
  }

  delivered(): boolean {
    this.#giveBodyBack(true);
    return true;
  }

  completed(): void {
    this.#ended("complete");
  }

  failed(failure: UpstreamFailure): void {
    this.#ended(failure);
  }

  bytesCame(bytes: number): void {
    const { record, clock } = this.#parts;
    if (Number.isNaN(record.firstByteMs)) {
      record.firstByteMs = clock.now() - this.#try.booking.beganAtMs;
      this.#compare();
    }
    record.responseBytes += bytes;
    if (record.responseBytes > MOST_RESPONSE_BYTES) this.stop("too-large");
  }

  /** Once both times are known. */
  #compare(): void {
    const { record, tally } = this.#parts;
    // The first byte of an error is no token: a version that fails at once would look fast.
    if (record.status >= 400 || Number.isNaN(record.firstByteMs) || Number.isNaN(this.#originalMs)) return;
    tally.compare(record.firstByteMs, this.#originalMs);
    this.#originalMs = Number.NaN;
  }

  #giveBodyBack(isFree: boolean): void {
    if (!this.#isBodyHeld) return;
    const { request, body } = this.#parts;
    this.#isBodyHeld = false;
    forgetBody(request);
    body.giveBack(isFree);
  }

  #ended(ending: MirrorEnding): void {
    const { record, tally } = this.#parts;
    record.ending = ending;
    this.#cancelLimit();
    this.#giveBodyBack(!this.#try.needsBody);
    tally.end(ending, record.status);
    this.#parts.ended(this);
  }
}
