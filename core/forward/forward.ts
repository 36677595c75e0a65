import type { Leg } from "../contract/decision.ts";
import type { Endpoint } from "../contract/endpoint.ts";
import type { RouterError } from "../contract/errors.ts";
import type { AttemptFailure } from "../contract/outcome.ts";
import type { InferenceRequest } from "../contract/request.ts";
import { allSaturated, upstreamError } from "../errors/upstream-errors.ts";
import type { Booking } from "../pool/booking.ts";
import type { ReadConnection, ReplicaConnection } from "../pool/pool.ts";
import { type Draft, requestHead } from "../request/rewrite.ts";
import type { Head } from "../wire/head.ts";
import type { UpstreamFailure } from "../wire/response-reader.ts";
import { traceLine } from "../wire/trace-lines.ts";
import type { ForwardOwner, ForwardRun, Sending } from "./forward-run.ts";
import { Relay, type RelayOwner } from "./relay.ts";
import { isOverload, type NextStep, nextStep, type TryEvent } from "./retry-policy.ts";
import { book, doubtModels, noteTry, pauseOverloaded } from "./try-start.ts";
import { type UnlistedOwner, UnlistedTry } from "./unlisted-try.ts";

const NONE: readonly ReadConnection[] = [];

/** Sends one request to the endpoints of its leg in order, until one of them responds or the retry policy ends it. */
export class Forward implements Sending, RelayOwner, UnlistedOwner {
  readonly #run: ForwardRun;
  readonly #owner: ForwardOwner;
  #request: InferenceRequest;
  #draft: Draft;
  #order: readonly Endpoint[];
  #next = 0;
  /** The try under way, or the last one. */
  #booking: Booking | undefined;
  #relay: Relay | undefined;
  #unlisted: UnlistedTry | undefined;
  #isTrying = false;
  /** Connections of tries that are over which may still have to write the body; most requests have none. */
  #unsent = NONE;
  #retriesLeft = 0;
  #mayTryFresh = false;
  /** Whose kept connection ended before a byte of the response. */
  #staleAt: Endpoint | undefined;
  #retries = 0;
  #wasDelivered = false;
  /** The first try's error: what the client gets when no other try can be made. */
  #firstFailure: RouterError | undefined;
  /** Ends the pause before a retry. */
  #cancelPause: (() => void) | undefined;

  /** Call `begin` when it is stored: the first try may fail at once. */
  constructor(run: ForwardRun, request: InferenceRequest, leg: Leg, draft: Draft, owner: ForwardOwner) {
    this.#run = run;
    this.#owner = owner;
    this.#request = request;
    this.#draft = draft;
    this.#order = leg.order;
  }

  begin(nowMs: number): void {
    this.#run.parts.pool.retryBudget.request(nowMs);
    this.#start(nowMs);
  }

  /** Goes on with another choice, after `missedTarget`. */
  beginAgain(request: InferenceRequest, leg: Leg, draft: Draft, nowMs: number): void {
    this.#request = request;
    this.#draft = draft;
    this.#order = leg.order;
    this.#firstFailure = undefined;
    this.#start(nowMs);
  }

  /** Whether an error event can follow what was passed on. */
  get takesErrorEvent(): boolean {
    return this.#relay?.takesErrorEvent === true;
  }

  /** The client can take more bytes. */
  drained(): void {
    if (!this.#isTrying) return;
    this.#booking?.released(this.#run.parts.services.clock.now());
    this.#relay?.resume();
  }

  /** Ends what is under way. Returns whether it is certain that no connection needs the request's body any more. */
  close(): boolean {
    this.#cancelPause?.();
    if (this.#isTrying) {
      this.#relay?.connection.destroy();
      this.#tryOver("aborted", false);
    }
    return this.#isBodyFree();
  }

  // Reports from the relay.

  responded(head: Head): boolean {
    const { status } = head;
    const { endpoint } = this.#booking!;
    if (isOverload(status)) {
      pauseOverloaded(this.#run, endpoint, head);
      const step = this.#stepAfter({ type: "status", status });
      if (step !== "relay") return this.#dropOverloaded(status, step);
    }
    this.#booking!.responded(status);
    doubtModels(this.#run, this.#request, endpoint, status);
    return true;
  }

  missedTarget(): boolean {
    const { pool, services } = this.#run.parts;
    const isConfigured = this.#request.onDemand === "configured";
    if (this.#stepAfter({ type: "missing", isConfigured }) === "relay") return true;
    this.#drop(404);
    if (!isConfigured) pool.retryBudget.retry(services.clock.now());
    this.#owner.missedTarget();
    return false;
  }

  promptProcessed(nowMs: number): void {
    this.#booking?.firstToken(nowMs);
  }

  held(): void {
    this.#booking?.held();
  }

  delivered(): boolean {
    if (!this.#isBodyFree()) return false;
    this.#owner.bodyDelivered();
    return true;
  }

  completed(isVerbatimEnd: boolean): void {
    const lack = this.#relay!.lack();
    if (lack === "") this.#tryOver(this.#run.ticket.status, true);
    else this.#tryOver("malformed", false, lack);
    this.#relay?.endResponse(isVerbatimEnd);
    this.#owner.completed();
  }

  failed(failure: UpstreamFailure, isDelivered: boolean): void {
    const { parts, response } = this.#run;
    const { endpoint, beganAtMs } = this.#booking!;
    this.#tryOver(failure, false);
    if (failure === "stale") this.#staleAt ??= endpoint;
    const tookMs = parts.services.clock.now() - beganAtMs;
    const step = this.#stepAfter({ type: "failed", failure, isDelivered, tookMs });
    if (isDelivered) this.#wasDelivered ||= failure !== "stale" || step !== "next";
    else parts.pool.control.connectFailed(endpoint);
    this.#firstFailure ??= upstreamError(failure);
    if (step === "next") this.#retryNext(isDelivered);
    else if (step === "fresh") this.#tryFresh();
    else this.#owner.failed(response.hasStarted ? upstreamError(failure) : this.#firstFailure);
  }

  #dropOverloaded(status: number, step: NextStep): false {
    this.#drop(status);
    if (step === "fresh") this.#tryFresh();
    else this.#retryNext(true);
    return false;
  }

  /** The replica says that it has not worked on the request: the response is not passed on. */
  #drop(status: number): void {
    this.#booking!.responded(status);
    if (this.#unlisted?.hasWhole !== true) this.#relay!.connection.destroy();
    this.#tryOver(status, false);
  }

  #start(nowMs: number): void {
    const { config, ticket } = this.#run;
    const { limits, retries } = config.settings;
    this.#next = 0;
    this.#retriesLeft = limits.retries - (this.#request.onDemand === "asked" ? ticket.attempts.length : 0);
    this.#mayTryFresh = retries.stale;
    this.#staleAt = undefined;
    this.#retries = 0;
    this.#tryNext(nowMs);
  }

  /** After a pause, so that a crowd of requests whose replica fails does not fall on the next one at one moment. */
  #retryNext(wasDelivered: boolean): void {
    const { config, parts } = this.#run;
    const { clock, random } = parts.services;
    if (wasDelivered) parts.pool.retryBudget.retry(clock.now());
    this.#retriesLeft -= 1;
    const backoffMs = random() * config.settings.retries.backoffMs * 2 ** this.#retries;
    this.#retries += 1;
    if (backoffMs < 1) return this.#tryNext(clock.now());
    this.#cancelPause = clock.after(backoffMs, () => this.#tryNext(clock.now()));
  }

  /** Sends to the next endpoint that is still in the pool and has a connection to spare. */
  #tryNext(nowMs: number): void {
    let step: NextStep = "next";
    while (step === "next") {
      const endpoint = this.#order[this.#next];
      this.#next += 1;
      // A replica may be closing a kept connection. Where another delivery is one too many, the request gets a fresh one.
      const isFresh = !this.#request.isRepeatable || this.#staleAt !== undefined;
      if (endpoint !== undefined && this.#sendTo(endpoint, isFresh, nowMs)) return;
      step = this.#stepAfter({ type: "not-sent" });
    }
    if (step === "fresh") this.#tryFresh();
    else this.#owner.failed(this.#firstFailure ?? allSaturated());
  }

  /** Goes back to the replica whose kept connection ended, on a fresh one: there the same end is a real failure. */
  #tryFresh(): void {
    this.#mayTryFresh = false;
    if (!this.#sendTo(this.#staleAt!, true, this.#run.parts.services.clock.now()))
      this.#owner.failed(this.#firstFailure ?? allSaturated());
  }

  /** Makes a try; returns false if nothing was sent. */
  #sendTo(endpoint: Endpoint, isFresh: boolean, nowMs: number): boolean {
    const { pool } = this.#run.parts;
    // The endpoint may have left the pool since the decision, for example while another try waited for its connect timeout.
    const isCurrent = pool.load.isCurrent(endpoint);
    const connection = isCurrent ? pool.connections(endpoint).take(isFresh) : undefined;
    if (connection === undefined) {
      noteTry(this.#run.ticket, endpoint, isCurrent ? "saturated" : "removed", nowMs, nowMs);
      return false;
    }
    this.#booking = book(this.#run, this.#request, endpoint, nowMs);
    this.#isTrying = true;
    this.#relay = new Relay(endpoint, connection, this.#run, this);
    this.#unlisted = UnlistedTry.of(this.#request, endpoint, this.#run.parts, this.#relay, this);
    this.#send(endpoint, connection, this.#unlisted ?? this.#relay);
    return true;
  }

  #send(endpoint: Endpoint, connection: ReplicaConnection, reader: Relay | UnlistedTry): void {
    const { ticket, config, parts, buffer } = this.#run;
    const { method, body } = this.#draft;
    // The room is for one head: while a later try begins, an earlier one may still be sent.
    const frontBytes = ticket.attempts.length === 0 && body[0] === this.#request.body ? buffer.frontBytes : 0;
    const traced = ticket.trace && traceLine(ticket.trace, ticket.attempts.length);
    const head = requestHead(this.#draft, endpoint, config.settings.credentials, traced);
    if (Number.isNaN(ticket.times.dispatchedAtMs)) ticket.times.dispatchedAtMs = parts.services.clock.now();
    connection.send(method, head, body, reader, frontBytes);
  }

  /** The try under way is over: its booking gives back what it took. `lack`: what a response that is malformed lacks. */
  #tryOver(result: number | AttemptFailure, isSound: boolean, lack = ""): void {
    const { ticket, parts } = this.#run;
    const nowMs = parts.services.clock.now();
    const booking = this.#booking!;
    const relay = this.#relay!;
    this.#isTrying = false;
    // Now, because a kept connection may carry another request in a moment.
    if (!relay.connection.hasSentAll) this.#unsent = [...this.#unsent, relay.connection];
    this.#unlisted?.close();
    relay.close(isSound);
    booking.settled(result, isSound ? ticket.usage : undefined, nowMs, lack);
    noteTry(ticket, booking.endpoint, result, booking.beganAtMs, nowMs);
  }

  #isBodyFree(): boolean {
    if (this.#isTrying && this.#relay?.connection.hasSentAll === false) return false;
    return this.#unsent.every(({ hasSentAll }) => hasSentAll);
  }

  #stepAfter(event: TryEvent): NextStep {
    const { config, parts, response } = this.#run;
    return nextStep(event, {
      hasStarted: response.hasStarted,
      wasDelivered: this.#wasDelivered,
      hasSpare: this.#next < this.#order.length,
      retriesLeft: this.#retriesLeft,
      hasBudget: parts.pool.retryBudget.hasRoom(parts.services.clock.now()),
      mayTryFresh: this.#mayTryFresh,
      wasStale: this.#staleAt !== undefined,
      mayLeaveWedged: config.settings.retries.wedged && this.#request.isRepeatable,
    });
  }
}
