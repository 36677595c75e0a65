import type { Leg } from "../contract/decision.ts";
import type { Endpoint } from "../contract/endpoint.ts";
import type { RouterError } from "../contract/errors.ts";
import type { Attempt, AttemptFailure } from "../contract/outcome.ts";
import { allSaturated, upstreamError } from "../errors/upstream-errors.ts";
import type { ResponseWriter } from "../intake/response-writer.ts";
import type { CutEvent } from "../stream/open-event.ts";
import { type Generated, NOTHING_GENERATED } from "../stream/usage-tap.ts";
import type { UpstreamFailure } from "../wire/upstream-connection.ts";
import { type ExpectedLatency, NOTHING_EXPECTED } from "./expected-latency.ts";
import { Exchange, type ExchangeOwner } from "./replica-exchange.ts";
import { isOverload, type NextStep, nextStep, type TryEvent } from "./retry-policy.ts";
import type { Sending } from "./sending.ts";

/** The result of a leg: plain data, made once when it ends. */
export interface Delivery {
  readonly attempts: readonly Attempt[];
  /** Status of the response that was passed on; 0 without one. */
  readonly status: number;
  readonly responseBytes: number;
  /** When its first body byte came, in milliseconds on the router's clock; NaN without one. */
  readonly firstByteAtMs: number;
  /** When the request was first handed to a connection, on the same clock; NaN if it was not. */
  readonly dispatchedAtMs: number;
  /** At the last endpoint, when the request was sent there. */
  readonly expected: ExpectedLatency;
  readonly generated: Generated;
  readonly predictedTokens: number | undefined;
  /** Where the event stream that was passed on stands; undefined if none was. */
  readonly cut: CutEvent | undefined;
  /** True if it is certain that no connection needs the request's body any more. */
  readonly isBodyFree: boolean;
}

/** The delivery of a request that was not sent to any replica. */
export const NOT_DELIVERED: Delivery = {
  attempts: [],
  status: 0,
  responseBytes: 0,
  firstByteAtMs: Number.NaN,
  dispatchedAtMs: Number.NaN,
  expected: NOTHING_EXPECTED,
  generated: NOTHING_GENERATED,
  predictedTokens: undefined,
  cut: undefined,
  isBodyFree: true,
};

const NONE: readonly Exchange[] = [];

/** Tries of the same request at endpoints that do not have the target. */
export interface Earlier {
  readonly attempts: readonly Attempt[];
  readonly dispatchedAtMs: number;
  /** Whether it is certain that none of their connections needs the request's body any more. */
  readonly isBodyFree: boolean;
}

/** The maker of a Forwarding: it ends the request. */
export interface ForwardOwner {
  /** No connection needs the request's body any more, and it is not sent again. Called at most once. */
  bodyDelivered(): void;
  /** The whole response was passed on. */
  completed(): void;
  /** There is no response, or it broke off after it began. */
  failed(error: RouterError): void;
  /** The last endpoint does not have the target, and did not process the request: another one may be chosen. */
  missedTarget(earlier: Earlier): void;
}

/** Sends one leg to its endpoints in order, until one of them responds or the retry policy ends it. */
export class Forwarding implements ExchangeOwner {
  readonly #order: readonly Endpoint[];
  readonly #sending: Sending;
  readonly #response: ResponseWriter;
  readonly #owner: ForwardOwner;
  readonly #attempts: Attempt[];
  readonly #before: Earlier | undefined;
  #exchange: Exchange | undefined;
  /** Exchanges before that one; most requests have none. */
  #earlier: readonly Exchange[] = NONE;
  #next = 0;
  #retriesLeft: number;
  #mayTryFresh: boolean;
  #retries = 0;
  /** Ends the pause before a retry. */
  #cancelPause: (() => void) | undefined;
  #wasDelivered = false;
  /** The first try's error: what the client gets when no other try can be made. */
  #firstFailure: RouterError | undefined;

  constructor(leg: Leg, sending: Sending, response: ResponseWriter, owner: ForwardOwner, before?: Earlier) {
    const { limits, retries } = sending.config.settings;
    const { attempts = [] } = before ?? {};
    this.#before = before;
    this.#attempts = [...attempts];
    this.#order = leg.order;
    this.#sending = sending;
    this.#response = response;
    this.#owner = owner;
    this.#retriesLeft = limits.retries - (sending.request.onDemand === "asked" ? attempts.length : 0);
    this.#mayTryFresh = retries.stale;
  }

  /** Starts the first try. It may end synchronously, so store the object first. */
  begin(nowMs: number): void {
    if (this.#before === undefined) this.#sending.plane.retryBudget.request(nowMs);
    this.#tryNext(nowMs);
  }

  drained(): void {
    this.#exchange?.resume();
  }

  /** Ends the exchange under way and returns what was delivered. */
  close(): Delivery {
    this.#cancelPause?.();
    const exchange = this.#exchange;
    const dispatchedAtMs = this.#dispatchedAtMs();
    if (exchange === undefined)
      return { ...NOT_DELIVERED, attempts: this.#attempts, dispatchedAtMs, isBodyFree: this.#isBodyFree() };
    if (!exchange.isOver) {
      exchange.close();
      this.#noteTry("aborted");
    }
    const { status, responseBytes, firstByteAtMs, expected, generated, predictedTokens, cut } = exchange;
    return {
      attempts: this.#attempts,
      status,
      responseBytes,
      firstByteAtMs,
      dispatchedAtMs,
      expected,
      generated,
      predictedTokens,
      cut,
      isBodyFree: this.#isBodyFree(),
    };
  }

  // Reports from the exchange.

  responded(status: number): boolean {
    if (!isOverload(status) || this.#stepAfter({ type: "status", status }) === "relay") return true;
    const exchange = this.#exchange;
    exchange?.drop(status);
    this.#noteTry(status);
    this.#retryNext(true);
    return false;
  }

  missedTarget(): boolean {
    const { request, plane } = this.#sending;
    const isConfigured = request.onDemand === "configured";
    if (this.#stepAfter({ type: "missing", isConfigured }) === "relay") return true;
    const exchange = this.#exchange;
    exchange?.drop(404);
    this.#noteTry(404);
    if (!isConfigured) plane.retryBudget.retry(plane.clock.now());
    this.#owner.missedTarget({
      attempts: this.#attempts,
      dispatchedAtMs: this.#dispatchedAtMs(),
      isBodyFree: this.#isBodyFree(),
    });
    return false;
  }

  delivered(): boolean {
    if (!this.#isBodyFree()) return false;
    this.#owner.bodyDelivered();
    return true;
  }

  completed(): void {
    this.#noteTry(this.#exchange?.status ?? 0);
    this.#owner.completed();
  }

  failed(failure: UpstreamFailure, isDelivered: boolean): void {
    const endpoint = this.#exchange?.endpoint;
    this.#noteTry(failure);
    const step = this.#stepAfter({ type: "failed", failure, isDelivered });
    if (isDelivered) this.#wasDelivered = true;
    else if (endpoint !== undefined) this.#sending.plane.connectFailed(endpoint);
    this.#firstFailure ??= upstreamError(failure);
    if (step === "next") this.#retryNext(isDelivered);
    else if (step === "fresh" && endpoint !== undefined) this.#tryFresh(endpoint);
    else this.#owner.failed(this.#response.hasStarted ? upstreamError(failure) : this.#firstFailure);
  }

  /** After a pause, so that a crowd of requests whose replica fails does not fall on the next one at one moment. */
  #retryNext(wasDelivered: boolean): void {
    const { plane, config } = this.#sending;
    const { clock, random, retryBudget } = plane;
    if (wasDelivered) retryBudget.retry(clock.now());
    this.#retriesLeft -= 1;
    const pauseMs = random() * config.settings.retries.backoffMs * 2 ** this.#retries;
    this.#retries += 1;
    if (pauseMs < 1) return this.#tryNext(clock.now());
    this.#cancelPause = clock.after(pauseMs, () => this.#tryNext(clock.now()));
  }

  /** Sends to the next endpoint that is still in the pool and has a connection to spare. */
  #tryNext(nowMs: number): void {
    do {
      const endpoint = this.#order[this.#next];
      if (endpoint === undefined) break;
      this.#next += 1;
      // A request that must not be delivered twice gets a fresh connection: the replica may be closing a kept-alive one.
      if (this.#sendTo(endpoint, !this.#sending.request.isRepeatable, nowMs)) return;
    } while (this.#stepAfter({ type: "not-sent" }) === "next");
    this.#owner.failed(this.#firstFailure ?? allSaturated());
  }

  /**
   * A kept-alive connection ended before a byte of the response. Almost always the replica closed it before it read the request.
   * So the request is sent to the same replica once more, on a fresh connection, where the same end is a real failure.
   */
  #tryFresh(endpoint: Endpoint): void {
    this.#mayTryFresh = false;
    const nowMs = this.#sending.plane.clock.now();
    if (!this.#sendTo(endpoint, true, nowMs)) this.#owner.failed(this.#firstFailure ?? allSaturated());
  }

  /** Starts a try; returns false if nothing was sent. */
  #sendTo(endpoint: Endpoint, isFresh: boolean, nowMs: number): boolean {
    const { plane } = this.#sending;
    // The endpoint may have left the pool since the decision, for example while another try waited for its connect timeout.
    const isCurrent = plane.load.isCurrent(endpoint);
    const connection = isCurrent ? plane.poolOf(endpoint).take(isFresh) : undefined;
    if (connection === undefined) {
      this.#note(endpoint, isCurrent ? "saturated" : "removed", nowMs, nowMs);
      return false;
    }
    if (this.#exchange !== undefined) this.#earlier = [...this.#earlier, this.#exchange];
    this.#exchange = new Exchange(endpoint, connection, this.#sending, this.#response, this, nowMs);
    this.#exchange.begin(this.#attempts.length);
    return true;
  }

  /** A try that failed or was dropped may hold the body until its socket has closed. */
  #isBodyFree(): boolean {
    if (this.#before?.isBodyFree === false) return false;
    return this.#exchange?.hasSentAll !== false && this.#earlier.every(({ hasSentAll }) => hasSentAll);
  }

  #stepAfter(event: TryEvent): NextStep {
    const { config, plane, request } = this.#sending;
    return nextStep(event, {
      hasStarted: this.#response.hasStarted,
      wasDelivered: this.#wasDelivered,
      hasSpare: this.#next < this.#order.length,
      retriesLeft: this.#retriesLeft,
      hasBudget: plane.retryBudget.hasRoom(plane.clock.now()),
      mayTryFresh: this.#mayTryFresh,
      mayLeaveWedged: config.settings.retries.wedged && request.isRepeatable,
    });
  }

  #dispatchedAtMs(): number {
    return this.#before?.dispatchedAtMs ?? (this.#earlier[0] ?? this.#exchange)?.dispatchedAtMs ?? Number.NaN;
  }

  /** Records the try under way, which is over. */
  #noteTry(result: number | AttemptFailure): void {
    const exchange = this.#exchange;
    if (exchange === undefined) return;
    this.#note(exchange.endpoint, result, exchange.beganAtMs, exchange.endedAtMs);
  }

  #note({ name }: Endpoint, result: number | AttemptFailure, beganAtMs: number, endedAtMs: number): void {
    const { headAtMs } = this.#sending;
    this.#attempts.push({ endpoint: name, result, startedMs: beganAtMs - headAtMs, endedMs: endedAtMs - headAtMs });
  }
}
