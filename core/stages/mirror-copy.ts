import type { BodyHold } from "../body/receive.ts";
import type { Endpoint } from "../contract/endpoint.ts";
import type { MirrorEnding, MirrorRecord } from "../contract/mirror.ts";
import type { InferenceRequest } from "../contract/request.ts";
import type { DataPlane, ReplicaConnection } from "../data-plane.ts";
import { Claim } from "../state/claim.ts";
import type { MirrorTally } from "../state/mirror-tally.ts";
import { EventBoundary } from "../stream/event-boundary.ts";
import type { Framing } from "../wire/framing.ts";
import type { Head } from "../wire/head.ts";
import type { ResponseReader, UpstreamFailure } from "../wire/upstream-connection.ts";
import { isEventStream } from "./replica-exchange.ts";
import type { Draft } from "./rewrite.ts";

/** A longer response is not read to its end: no generated text is so long. */
const MOST_RESPONSE_BYTES = 16 * 1024 * 1024;

const NO_BODY = new Uint8Array(0);

/** What of the data plane a copy uses. */
type CopyPlane = Pick<DataPlane, "clock" | "load" | "prefixIndex">;

/** What a copy is made of. */
export interface CopyParts {
  /** As the endpoint gets it: with the mirror's target and an id of its own. */
  readonly request: InferenceRequest;
  readonly endpoint: Endpoint;
  readonly connection: ReplicaConnection;
  readonly openingEvents: number;
  /** Keeps the request's body in memory. */
  readonly body: BodyHold;
  readonly tally: MirrorTally;
  readonly record: OpenRecord;
  readonly plane: CopyPlane;
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
  readonly #claim: Claim;
  readonly #sentAtMs: number;
  readonly #cancelLimit: () => void;
  /** Set only if the response is an event stream, until its opening events are over. */
  #opening: EventBoundary | undefined;
  #isPromptWorkedOff = false;
  #isBodyHeld = true;
  #isOver = false;
  /** When the request itself got its first byte, after so many milliseconds; NaN as long as that is not known. */
  #originalMs = Number.NaN;

  constructor(parts: CopyParts) {
    const { request, endpoint, plane, tally } = parts;
    this.endpoint = endpoint;
    this.#parts = parts;
    this.#sentAtMs = plane.clock.now();
    this.#claim = new Claim(request, endpoint, plane.load, plane.prefixIndex, this.#sentAtMs);
    tally.begin();
    this.#cancelLimit = plane.clock.after(tally.bounds.timeoutMs, () => this.stop("time-limit"));
  }

  /** Sends it. It may end synchronously, so store the object first. The draft is not kept: it would keep the body's memory. */
  begin(draft: Draft, head: string): void {
    this.#parts.connection.send(draft.method, head, draft.body, this);
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
    if (head.status >= 400) this.#claim.withdraw();
    if (isEventStream(head)) this.#opening = new EventBoundary(this.#parts.openingEvents);
    this.#freeBody();
  }

  body(chunk: Buffer, spans: ArrayLike<number>, spanCount: number): void {
    const { record, plane } = this.#parts;
    if (this.#isOver) return;
    if (Number.isNaN(record.firstByteMs)) {
      record.firstByteMs = plane.clock.now() - this.#sentAtMs;
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
    if (this.#parts.record.status === 0) this.#claim.withdraw();
    this.#settle(failure);
  }

  #readOpening(chunk: Buffer, spans: ArrayLike<number>, spanCount: number): void {
    this.#opening?.read(chunk, spans, spanCount);
    if (this.#opening?.isOpeningOver === false) return;
    this.#isPromptWorkedOff = true;
    this.#opening = undefined;
    this.#claim.firstByte(this.#parts.plane.clock.now());
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
    (request as { body: Uint8Array }).body = NO_BODY;
    body.giveBack(isFree);
  }

  #settle(ending: MirrorEnding): void {
    const { record, tally, connection, plane } = this.#parts;
    this.#isOver = true;
    record.ending = ending;
    this.#cancelLimit();
    this.#claim.release(plane.clock.now());
    if (this.#isBodyHeld) this.#giveBodyBack(connection.hasSentAll);
    tally.end(ending, record.status);
    this.#parts.ended(this);
  }
}
