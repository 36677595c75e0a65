import type { Leg } from "../contract/decision.ts";
import type { Draft } from "../contract/draft.ts";
import type { Endpoint } from "../contract/endpoint.ts";
import type { Attempt, AttemptFailure } from "../contract/outcome.ts";
import type { InferenceRequest } from "../contract/request.ts";
import type { ForwardOwner, Sending } from "../contract/slots/send.ts";
import { FIRST_TRY } from "../contract/trace.ts";
import { unfinished, upstreamError } from "../errors/upstream-errors.ts";
import type { ReplicaConnection } from "../pool/connections.ts";
import { makeDraft, requestHead } from "../request/draft.ts";
import type { Run } from "../run.ts";
import type { ResponseReader, UpstreamFailure } from "../wire/response-reader.ts";
import { traceLine } from "../wire/trace-lines.ts";
import { book, noteTry } from "./book.ts";
import { LegRetries } from "./leg-retries.ts";
import { Relay } from "./relay.ts";
import { isOverload, type NextStep } from "./retry-policy.ts";
import { tellFreed } from "./tell-lost.ts";
import { type LegTries, Try, type TryOwner } from "./try.ts";

const NONE: readonly Try[] = [];

/** Sends one request to the endpoints of its leg in order, until one of them responds or the retry policy ends it. */
export class Forward implements Sending, TryOwner {
  readonly #run: Run;
  readonly #owner: ForwardOwner;
  /** Undefined for a whole request, whose response is relayed. */
  readonly #tries: LegTries | undefined;
  #request: InferenceRequest;
  #draft: Draft;
  #retries: LegRetries;
  /** The one under way, or the last one. */
  #try: Try | undefined;
  /** Earlier ones whose connections may still have to write the body; most requests have none. */
  #unsent = NONE;
  /** Ends the pause before a retry. */
  #cancelPause: (() => void) | undefined;

  /** Call `begin` when it is stored: the first try may fail at once. */
  constructor(run: Run, request: InferenceRequest, leg: Leg, draft: Draft, owner: ForwardOwner, tries?: LegTries) {
    this.#run = run;
    this.#tries = tries;
    this.#owner = owner;
    this.#request = request;
    this.#draft = draft;
    this.#retries = new LegRetries(run, request, leg);
  }

  begin(nowMs: number): void {
    this.#run.pool.retryBudget.request(nowMs);
    this.#tryNext(nowMs);
  }

  beginAgain(nowMs: number): void {
    const { request, decision, trace } = this.#run.ticket;
    this.#request = request!;
    this.#draft = makeDraft(request!, this.#run, trace);
    this.#retries = new LegRetries(this.#run, request!, decision!.legs[0]!);
    this.#tryNext(nowMs);
  }

  get takesErrorEvent(): boolean {
    return this.#try?.reader.takesErrorEvent === true;
  }

  /** Whether it is certain that no connection needs the request's body any more for what has been sent. */
  get isBodyFree(): boolean {
    return this.#try?.needsBody !== true && this.#unsent.every(({ needsBody }) => !needsBody);
  }

  drained(): void {
    this.#try?.drained();
  }

  close(result?: number): boolean {
    this.#cancelPause?.();
    this.#try?.drop(result);
    return this.isBodyFree;
  }

  /** Goes on at the same endpoint with what its leg sends again. Returns false where that is nothing, or it is too late. */
  sendAgain(result: number | AttemptFailure): boolean {
    const { pool, parts, response } = this.#run;
    const tried = this.#try;
    if (tried === undefined || tried.isOver || response.hasStarted || !this.#takeAgain(false)) return false;
    const nowMs = parts.services.clock.now();
    tried.drop(result, false);
    pool.retryBudget.retry(nowMs);
    if (!this.#sendTo(tried.endpoint, this.#retries.needsFresh, nowMs)) this.#tryNext(nowMs);
    return true;
  }

  // Reports from the try.

  responded(status: number): boolean {
    this.#retries.mayHaveDied = false;
    if (isOverload(status) && this.#retries.stepAfter({ type: "status", status }) !== "relay") {
      this.#try!.drop(status);
      this.#retryNext(true);
      return false;
    }
    if (isOverload(status) && this.#owner.leaves?.(status) === true) return false;
    return status < 400 || !this.sendAgain(status);
  }

  missedTarget(): boolean {
    const { pool, parts } = this.#run;
    this.#retries.mayHaveDied = false;
    const isConfigured = this.#request.onDemand === "configured";
    if (this.#retries.stepAfter({ type: "missing", isConfigured }) === "relay") return true;
    this.#try!.drop(404);
    if (!isConfigured) pool.retryBudget.retry(parts.services.clock.now());
    this.#owner.missedTarget();
    return false;
  }

  delivered(): boolean {
    if (!this.isBodyFree) return false;
    tellFreed(this.#run, this.#try!.reader);
    this.#owner.bodyDelivered();
    return true;
  }

  completed(isCut: boolean): void {
    if (isCut) this.#owner.failed(unfinished());
    else this.#owner.completed();
  }

  failed(failure: UpstreamFailure, isDelivered: boolean): void {
    const { pool, response } = this.#run;
    const step = this.#retries.failed(failure, isDelivered);
    if (!isDelivered && failure !== "stale") pool.control.connectFailed(this.#try!.endpoint);
    if (step === "next") this.#retryNext(isDelivered);
    else if (step === "fresh") this.#tryFresh();
    else if (response.hasStarted) this.#owner.failed(upstreamError(failure));
    else this.#giveUp();
  }

  /** What was delivered once is not sent again where the leg has something else for that. */
  #takeAgain(isCounted: boolean): boolean {
    const draft = this.#tries?.again?.(isCounted);
    this.#draft = draft ?? this.#draft;
    return draft !== undefined;
  }

  #retryNext(wasDelivered: boolean): void {
    const { pool, parts } = this.#run;
    const { clock } = parts.services;
    if (wasDelivered) this.#takeAgain(true);
    if (wasDelivered) pool.retryBudget.retry(clock.now());
    const pauseMs = this.#retries.takeRetry();
    if (pauseMs < 1) return this.#tryNext(clock.now());
    this.#cancelPause = clock.after(pauseMs, () => this.#tryNext(clock.now()));
  }

  /** Sends to the next endpoint that is still in the pool and has a connection to spare. */
  #tryNext(nowMs: number): void {
    let step: NextStep = "next";
    while (step === "next") {
      const endpoint = this.#retries.takeNext();
      if (endpoint !== undefined && this.#sendTo(endpoint, this.#retries.needsFresh, nowMs)) return;
      step = this.#retries.stepAfter({ type: "not-sent" });
    }
    this.#giveUp();
  }

  #giveUp(): void {
    const { error, isUnreached } = this.#retries;
    if (isUnreached) this.#owner.unreached(error);
    else this.#owner.failed(error);
  }

  /** Goes back to the replica whose kept connection ended, on a fresh one: there the same end is a real failure. */
  #tryFresh(): void {
    this.#retries.mayTryFresh = false;
    this.#takeAgain(true);
    const nowMs = this.#run.parts.services.clock.now();
    if (this.#sendTo(this.#try!.endpoint, true, nowMs)) return;
    if (this.#retries.stepAfter({ type: "not-sent" }) === "next") this.#tryNext(nowMs);
    else this.#giveUp();
  }

  /** Makes a try; returns false if nothing was sent. */
  #sendTo(endpoint: Endpoint, isFresh: boolean, nowMs: number): boolean {
    const { pool, parts, connections } = this.#run;
    // A prefill is an HTTP request, however its request came.
    const own = this.#draft.role === "prefill" ? undefined : connections?.of(endpoint, pool);
    // The endpoint may have left the pool since the decision, for example while another try waited for its connect timeout.
    const isCurrent = pool.load.isCurrent(endpoint);
    const connection = isCurrent ? (own ?? pool.connections.of(endpoint)).take(isFresh) : undefined;
    if (connection === undefined) {
      noteTry(this.#attempts, this.#run, endpoint, isCurrent ? "saturated" : "removed", nowMs, nowMs);
      return false;
    }
    if (this.#try?.needsBody === true) this.#unsent = [...this.#unsent, this.#try];
    const booking = book(this.#run, this.#request, endpoint, nowMs, this.#draft.role, this.#tries?.profile);
    const reader = this.#tries?.readerFor?.(endpoint, connection) ?? new Relay(endpoint, connection, this.#run);
    this.#try = new Try(pool, parts.services.clock, this.#run, booking, reader, this, this.#tries);
    this.#send(endpoint, connection, this.#try.front);
    return true;
  }

  #send(endpoint: Endpoint, connection: ReplicaConnection, reader: ResponseReader): void {
    const { ticket, config, parts, buffer } = this.#run;
    const { method, body } = this.#draft;
    // The room is for one head: while a later try begins, an earlier one may still be sent.
    const frontBytes = ticket.attempts.length === 0 && body[0] === this.#request.body ? (buffer?.frontBytes ?? 0) : 0;
    const traced = ticket.trace && traceLine(ticket.trace, (this.#tries?.firstSpan ?? FIRST_TRY) + this.#attempts.length);
    const head = requestHead(this.#draft, endpoint, config.settings.credentials, traced);
    if (Number.isNaN(ticket.times.dispatchedAtMs)) ticket.times.dispatchedAtMs = parts.services.clock.now();
    connection.send(method, head, body, reader, frontBytes);
  }

  /** Where this leg's tries are noted. */
  get #attempts(): Attempt[] {
    return this.#tries?.attempts ?? this.#run.ticket.attempts;
  }
}
