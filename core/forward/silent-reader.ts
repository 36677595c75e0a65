import type { Clock } from "../contract/clock.ts";
import type { InferenceRequest } from "../contract/request.ts";
import type { ResponseShape } from "../contract/response-shape.ts";
import type { ReadConnection } from "../pool/connections.ts";
import { EventStream } from "../stream/event-stream.ts";
import { type Flaw, isAnswer, type ResponseCheck } from "../stream/response-check.ts";
import type { Head } from "../wire/head.ts";
import { isEventStream } from "../wire/media-type.ts";
import type { UpstreamFailure } from "../wire/response-reader.ts";
import { checkFor, shapeFor } from "./response-shape.ts";
import type { ReaderOwner, TryReader } from "./try-reader.ts";

const NO_ANSWER: Flaw = { what: "nothing of its API", status: 0, isCut: false };

export interface SilentParts {
  readonly request: InferenceRequest;
  readonly connection: ReadConnection;
  readonly openingEvents: number;
  /** What responses of its API must have, if that is known. */
  readonly shape: ResponseShape | undefined;
  readonly clock: Clock;
}

export interface BytesOwner {
  /** A piece of the body came. */
  bytesCame(bytes: number): void;
}

/** Reads a response that nobody gets: counts and checks its bytes, and throws them away. */
export class SilentReader implements TryReader {
  readonly takesErrorEvent = false;
  readonly usage = undefined;
  readonly content = "unread";
  readonly #parts: SilentParts;
  readonly #bytesOwner: BytesOwner;
  #owner!: ReaderOwner;
  /** Set only if the response is an event stream, until its opening events are over. */
  #opening: EventStream | undefined;
  /** Set only if it is known what the response must have. */
  #check: ResponseCheck | undefined;
  #status = 0;
  #hasTokens = false;
  #isBodyFreed = false;
  #isOver = false;

  constructor(parts: SilentParts, bytesOwner: BytesOwner) {
    this.#parts = parts;
    this.#bytesOwner = bytesOwner;
  }

  reportTo(owner: ReaderOwner): void {
    this.#owner = owner;
  }

  get connection(): ReadConnection {
    return this.#parts.connection;
  }

  get isStream(): boolean {
    return this.#parts.request.isStream;
  }

  get hasTokens(): boolean {
    return this.#hasTokens;
  }

  get awaitsToken(): boolean {
    return !this.#hasTokens && (this.#status === 0 || isAnswer(this.#status));
  }

  /** Nobody gets it. */
  resume(): void {}
  endResponse(): void {}

  flaw(): Flaw | undefined {
    return this.#check?.hasShown === false ? NO_ANSWER : undefined;
  }

  /** Where its end is missing, it counts as broken off. */
  hasEnd(): boolean {
    return false;
  }

  close(): void {
    this.#isOver = true;
  }

  // Called by the connection while it reads the response.

  head(head: Head): void {
    if (!this.#owner.responded(head)) return;
    this.#status = head.status;
    const { request, shape, openingEvents } = this.#parts;
    if (isEventStream(head)) this.#opening = new EventStream(openingEvents);
    this.#check = checkFor(head, shapeFor(head, request, shape), this.#opening !== undefined);
  }

  body(chunk: Buffer, spans: ArrayLike<number>, spanCount: number): void {
    if (this.#isOver) return;
    if (!this.#hasTokens) this.#readOpening(chunk, spans, spanCount);
    let bytes = 0;
    for (let i = 0; i < spanCount; i++) bytes += spans[2 * i + 1]! - spans[2 * i]!;
    this.#bytesOwner.bytesCame(bytes);
  }

  readDone(): void {
    if (!this.#isOver && !this.#isBodyFreed && this.connection.hasSentAll) this.#isBodyFreed = this.#owner.delivered();
  }

  end(isVerbatimEnd: boolean): void {
    this.#owner.completed(isVerbatimEnd);
  }

  failed(failure: UpstreamFailure, isDelivered: boolean): void {
    this.#owner.failed(failure, isDelivered);
  }

  #readOpening(chunk: Buffer, spans: ArrayLike<number>, spanCount: number): void {
    this.#opening?.read(chunk, spans, spanCount);
    this.#check?.read(chunk, spans, spanCount);
    if (this.#opening?.isOpeningOver === false || this.#check?.hasShown === false) return;
    this.#hasTokens = true;
    this.#opening = undefined;
    this.#owner.promptProcessed(this.#parts.clock.now(), true);
  }
}
