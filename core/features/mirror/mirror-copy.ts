import type { BodyHold } from "../../body/receive.ts";
import type { Clock } from "../../contract/clock.ts";
import type { Endpoint } from "../../contract/endpoint.ts";
import type { MirrorEnding, MirrorRecord } from "../../contract/mirror.ts";
import type { AttemptFailure } from "../../contract/outcome.ts";
import type { InferenceRequest } from "../../contract/request.ts";
import type { ResponseShape } from "../../contract/response-shape.ts";
import { Booking, type BookingPool } from "../../pool/booking.ts";
import type { ReplicaConnection } from "../../pool/pool.ts";
import { forgetBody } from "../../request/parse.ts";
import type { Draft } from "../../request/rewrite.ts";
import { UNWATCHED } from "../../state/traffic.ts";
import { EventStream } from "../../stream/event-stream.ts";
import { ResponseCheck } from "../../stream/response-check.ts";
import type { Framing } from "../../wire/framing.ts";
import type { Head } from "../../wire/head.ts";
import { isEventStream, isText } from "../../wire/media-type.ts";
import type { ResponseReader, UpstreamFailure } from "../../wire/response-reader.ts";
import type { MirrorTally } from "./mirror-tally.ts";

/** A longer response is not read to its end: no generated text is so long. */
const MOST_RESPONSE_BYTES = 16 * 1024 * 1024;

const NONE: readonly string[] = [];

/** What a copy is made of. */
export interface CopyParts {
  /** As the endpoint gets it: with the mirror's target and an id of its own. */
  readonly request: InferenceRequest;
  readonly endpoint: Endpoint;
  readonly connection: ReplicaConnection;
  readonly openingEvents: number;
  /** What its response must have, if that is known. */
  readonly shape: ResponseShape | undefined;
  /** Keeps the request's body in memory. */
  readonly body: BodyHold;
  readonly tally: MirrorTally;
  readonly record: OpenRecord;
  readonly pool: BookingPool;
  readonly clock: Pick<Clock, "now" | "after">;
  /** It has ended, however it did. */
  ended(copy: MirrorCopy): void;
}

/** A record while it is written. */
export type OpenRecord = { -readonly [Key in keyof MirrorRecord]: MirrorRecord[Key] };

/**
 * One copy of a request: sends it, and reads the response only to throw it away. It counts in its endpoint's load, because it is
 * work there; but what becomes of it is told to nobody who judges endpoints, learns from them, or tries again.
 */
export class MirrorCopy implements ResponseReader {
  readonly endpoint: Endpoint;
  readonly #parts: CopyParts;
  readonly #booking: Booking;
  readonly #sentAtMs: number;
  readonly #cancelLimit: () => void;
  /** Set only if the response is an event stream, until its opening events are over. */
  #opening: EventStream | undefined;
  /** Set only if it is known what the response must have. */
  #check: ResponseCheck | undefined;
  #isPromptWorkedOff = false;
  #isBodyHeld = true;
  #isOver = false;
  /** When the request itself got its first byte, after so many milliseconds; NaN as long as that is not known. */
  #originalMs = Number.NaN;

  constructor(parts: CopyParts) {
    const { request, endpoint, pool, clock, tally } = parts;
    this.endpoint = endpoint;
    this.#parts = parts;
    this.#sentAtMs = clock.now();
    this.#booking = new Booking(request, endpoint, pool, UNWATCHED, this.#sentAtMs);
    tally.begin();
    this.#cancelLimit = clock.after(tally.bounds.timeoutMs, () => this.stop("time-limit"));
  }

  /** Sends it. It may end synchronously, so store the object first. The draft is not kept: it would keep the body's memory. */
  begin(draft: Draft, head: string): void {
    this.#parts.connection.send(draft.method, head, draft.body, this);
  }

  get hasTokens(): boolean {
    return this.#isPromptWorkedOff;
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
    if (this.#isOver) return;
    this.#parts.connection.destroy();
    this.#settle(ending);
  }

  // Called by the connection while it reads the response.

  head(head: Head, _framing: Framing): void {
    this.#parts.record.status = head.status;
    this.#booking.responded(head.status);
    const { shape, openingEvents } = this.#parts;
    if (isEventStream(head)) this.#opening = new EventStream(openingEvents);
    if (shape !== undefined && head.status < 300 && isText(head, shape.unread ?? NONE))
      this.#check = new ResponseCheck(shape, this.#opening !== undefined);
    this.#freeBody();
  }

  body(chunk: Buffer, spans: ArrayLike<number>, spanCount: number): void {
    const { record, clock } = this.#parts;
    if (this.#isOver) return;
    if (Number.isNaN(record.firstByteMs)) {
      record.firstByteMs = clock.now() - this.#sentAtMs;
      this.#compare();
    }
    for (let i = 0; i < spanCount; i++) record.responseBytes += spans[2 * i + 1]! - spans[2 * i]!;
    if (!this.#isPromptWorkedOff) this.#readOpening(chunk, spans, spanCount);
    if (this.#isBodyHeld) this.#freeBody();
    if (record.responseBytes > MOST_RESPONSE_BYTES) this.stop("too-large");
  }

  readDone(): void {}

  end(): void {
    if (!this.#isOver) this.#settle("complete");
  }

  failed(failure: UpstreamFailure): void {
    if (this.#isOver) return;
    this.#settle(failure);
  }

  #readOpening(chunk: Buffer, spans: ArrayLike<number>, spanCount: number): void {
    this.#opening?.read(chunk, spans, spanCount);
    this.#check?.read(chunk, spans, spanCount);
    if (this.#opening?.isOpeningOver === false || this.#check?.hasShown === false) return;
    this.#isPromptWorkedOff = true;
    this.#opening = undefined;
    this.#booking.firstToken(this.#parts.clock.now());
  }

  /** Once both times are known. */
  #compare(): void {
    const { record, tally } = this.#parts;
    // The first byte of an error is no token: a version that fails at once would look fast.
    if (record.status >= 400 || Number.isNaN(record.firstByteMs) || Number.isNaN(this.#originalMs)) return;
    tally.compare(record.firstByteMs, this.#originalMs);
    this.#originalMs = Number.NaN;
  }

  #freeBody(): void {
    if (this.#isBodyHeld && this.#parts.connection.hasSentAll) this.#giveBodyBack(true);
  }

  #giveBodyBack(isFree: boolean): void {
    const { request, body } = this.#parts;
    this.#isBodyHeld = false;
    forgetBody(request);
    body.giveBack(isFree);
  }

  #settle(ending: MirrorEnding): void {
    const { record, tally, connection, clock } = this.#parts;
    this.#isOver = true;
    record.ending = ending;
    this.#cancelLimit();
    // A version that answers 200 with an error must not teach the endpoint's speed, nor what its cache holds.
    const isMalformed = ending === "complete" && this.#check?.hasShown === false;
    this.#booking.settled(isMalformed ? "malformed" : resultOf(ending, record.status), undefined, clock.now());
    if (this.#isBodyHeld) this.#giveBodyBack(connection.hasSentAll);
    tally.end(ending, record.status);
    this.#parts.ended(this);
  }
}

/** What a copy's booking is told: a status, a failure of the connection, or that this side gave it up. */
function resultOf(ending: MirrorEnding, status: number): number | AttemptFailure {
  switch (ending) {
    case "complete":
      return status;
    case "client-left":
    case "time-limit":
    case "too-large":
    case "memory":
    case "stopped":
      return "aborted";
    default:
      return ending;
  }
}
