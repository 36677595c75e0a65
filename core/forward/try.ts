import type { Profile } from "../active-config.ts";
import type { Clock } from "../contract/clock.ts";
import type { Draft } from "../contract/draft.ts";
import type { Endpoint } from "../contract/endpoint.ts";
import type { Attempt, AttemptFailure } from "../contract/outcome.ts";
import type { Booking } from "../pool/booking.ts";
import type { ReplicaConnection } from "../pool/connections.ts";
import type { Pool } from "../pool/pool.ts";
import type { Run } from "../run.ts";
import type { Flaw } from "../stream/response-check.ts";
import type { Head } from "../wire/head.ts";
import type { ResponseReader, UpstreamFailure } from "../wire/response-reader.ts";
import { noteTry } from "./book.ts";
import { pauseMs } from "./overload-pause.ts";
import { isOverload } from "./retry-policy.ts";
import { tellLost } from "./tell-lost.ts";
import type { ReaderOwner, TryReader } from "./try-reader.ts";
import { type UnlistedOwner, UnlistedTry } from "./unlisted-try.ts";

/** Of a leg that is not the whole request: how its tries are made, and where they are noted. */
export interface LegTries {
  readonly profile: Profile;
  readonly attempts: Attempt[];
  /** The number of its first try among the spans of a trace. */
  readonly firstSpan: number;
  /** Undefined: the client gets the response. */
  readerFor?(endpoint: Endpoint, connection: ReplicaConnection): TryReader;
  /** What is sent in place of what was delivered in vain; undefined: the same, or nothing more. `isCounted`: as a retry. */
  again?(isCounted: boolean): Draft | undefined;
  /** A try's prompt is processed, or its first token came. */
  promptProcessed?(nowMs: number): void;
}

/** Who makes the try, and decides what follows from it. */
export interface TryOwner {
  /** A response's head came. Returns whether the response is read; if not, the owner has dropped the try. */
  responded(status: number): boolean;
  /** A whole 404 came for a target that the endpoint does not list. Returns whether it is read; if not, the owner has dropped the try. */
  missedTarget(): boolean;
  /** See ReaderOwner. */
  delivered(): boolean;
  /** The try is over: the whole response was read. `isCut`: something is missing at its end, so it was not ended for the client. */
  completed(isCut: boolean): void;
  /** The try is over: there is no response, or it broke off. */
  failed(failure: UpstreamFailure, isDelivered: boolean): void;
}

/**
 * One try at one endpoint: what it books there, the connection, and who reads the response. It ends once, however that comes about:
 * then the booking gives back what it took, and the ticket gets an entry. What follows from the end is the owner's.
 */
export class Try implements ReaderOwner, UnlistedOwner {
  readonly booking: Booking;
  readonly reader: TryReader;
  /** What the connection calls: the reader, or what keeps a 404 back in front of it. */
  readonly front: ResponseReader;
  readonly #pool: Pool;
  readonly #clock: Clock;
  readonly #run: Run | undefined;
  readonly #owner: TryOwner;
  readonly #unlisted: UnlistedTry | undefined;
  readonly #tries: LegTries | undefined;
  #status = 0;
  #isOver = false;
  #isUnsent = true;

  /** `run` is undefined for a copy: what becomes of it is noted nowhere, and nobody learns from it what the endpoint is. */
  constructor(
    pool: Pool,
    clock: Clock,
    run: Run | undefined,
    booking: Booking,
    reader: TryReader,
    owner: TryOwner,
    tries?: LegTries,
  ) {
    this.#tries = tries;
    this.#pool = pool;
    this.#clock = clock;
    this.#run = run;
    this.#owner = owner;
    this.booking = booking;
    this.reader = reader;
    this.#unlisted = UnlistedTry.of(booking.request, booking.endpoint, pool, clock, reader, this);
    this.front = this.#unlisted ?? reader;
    reader.reportTo(this);
  }

  get endpoint(): Endpoint {
    return this.booking.endpoint;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Whether its connection may still have to write the request's body, also after its end. */
  get needsBody(): boolean {
    return this.#isUnsent && !this.reader.connection.hasSentAll;
  }

  /** The client can take more bytes. */
  drained(): void {
    if (this.#isOver) return;
    if (this.#status !== 101) this.booking.released(this.#clock.now());
    this.reader.resume();
  }

  /**
   * Ends it from this side, if it is under way: the response is not passed on. `result`: why, if the replica says that it has not worked
   * on the request; `isOwn`: that is its own doing, so it counts when the endpoint is judged.
   */
  drop(result: number | AttemptFailure = "aborted", isOwn = true): void {
    if (this.#isOver) return;
    if (typeof result === "number") this.booking.responded(result);
    if (this.#unlisted?.hasWhole !== true) this.reader.connection.destroy();
    this.over(result, false, "", isOwn ? result : "aborted");
  }

  /** It is over, unless it is already. `lack`: what a response that is malformed lacks; `told`: the result for those who learn from it. */
  over(result: number | AttemptFailure, isSound: boolean, lack = "", told = result): void {
    if (this.#isOver) return;
    const nowMs = this.#clock.now();
    const { booking, reader } = this;
    this.#isOver = true;
    // Now, because a kept connection may carry another request in a moment.
    this.#isUnsent = !reader.connection.hasSentAll;
    this.#unlisted?.close();
    reader.close(isSound);
    booking.settled(told, isSound ? reader.usage : undefined, nowMs, lack, reader.content);
    const attempts = this.#tries?.attempts ?? this.#run?.ticket.attempts;
    if (attempts !== undefined) noteTry(attempts, this.#run!, booking.endpoint, result, booking.beganAtMs, nowMs);
  }

  // Reports from the reader.

  responded(head: Head): boolean {
    const { status } = head;
    this.#status = status;
    this.#pauseOverloaded(status, head);
    if (!this.#owner.responded(status)) return false;
    this.booking.responded(status);
    this.#doubtModels(status);
    return true;
  }

  refused(status: number): boolean {
    this.#pauseOverloaded(status);
    return this.#owner.responded(status);
  }

  missedTarget(): boolean {
    return this.#owner.missedTarget();
  }

  promptProcessed(nowMs: number, hasContent: boolean): void {
    this.booking.firstToken(nowMs, hasContent);
    this.#tries?.promptProcessed?.(nowMs);
  }

  held(): void {
    this.booking.held();
  }

  delivered(): boolean {
    return this.#owner.delivered();
  }

  completed(isVerbatimEnd: boolean): void {
    if (this.#isOver) return;
    const flaw = this.reader.flaw();
    this.over(this.#resultOf(flaw), flaw === undefined, flaw?.what);
    const isCut = flaw?.isCut === true;
    if (!isCut) this.reader.endResponse(isVerbatimEnd);
    this.#owner.completed(isCut);
  }

  failed(failure: UpstreamFailure, isDelivered: boolean): void {
    if (this.#isOver) return;
    // Nothing is missing but the last chunk.
    if (this.reader.hasEnd()) return this.completed(false);
    if (isDelivered && this.#run !== undefined) tellLost(this.#run, this.booking, this.reader, failure);
    this.over(failure, false);
    this.#owner.failed(failure, isDelivered);
  }

  /** Of a complete response. An error inside of a 200 has the same consequences as one with its own status. */
  #resultOf(flaw: Flaw | undefined): number | AttemptFailure {
    if (flaw === undefined) return this.#status;
    const { status } = flaw;
    if (status === 0) return "malformed";
    this.booking.responded(status);
    this.#pauseOverloaded(status);
    this.#doubtModels(status);
    return status;
  }

  /** An endpoint that says it has too much to do is not the first pick for a while. `head` is that of its response. */
  #pauseOverloaded(status: number, head?: Head): void {
    if (this.#run === undefined || !isOverload(status)) return;
    const { load } = this.#pool;
    if (load.isCurrent(this.endpoint)) load.pause(this.endpoint.slot, this.#clock.now() + pauseMs(head));
  }

  /** A 404 for a target that the endpoint lists: its list is read again. */
  #doubtModels(status: number): void {
    const { request, endpoint } = this.booking;
    if (this.#run === undefined || status !== 404 || !endpoint.models.has(request.target)) return;
    this.#pool.control.checkModels(endpoint);
  }
}
