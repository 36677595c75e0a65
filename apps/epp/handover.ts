import type { Leg, LegRole } from "../../core/contract/decision.ts";
import type { Draft } from "../../core/contract/draft.ts";
import type { Endpoint } from "../../core/contract/endpoint.ts";
import { RouterError } from "../../core/contract/errors.ts";
import type { InferenceRequest } from "../../core/contract/request.ts";
import type { ForwardOwner, Sending } from "../../core/contract/slots/send.ts";
import { FIRST_TRY } from "../../core/contract/trace.ts";
import { unfinished, upstreamError } from "../../core/errors/upstream-errors.ts";
import { book } from "../../core/forward/book.ts";
import { Relay } from "../../core/forward/relay.ts";
import { usableSpares } from "../../core/forward/spares.ts";
import { tellFreed } from "../../core/forward/tell-lost.ts";
import { type LegTries, Try, type TryOwner } from "../../core/forward/try.ts";
import { addressOf, type Gateway, type Picked } from "../../core/pool/gateway.ts";
import { requestHead } from "../../core/request/draft.ts";
import type { Run } from "../../core/run.ts";
import { bearerFor } from "../../core/wire/bearer.ts";
import type { ResponseReader, UpstreamFailure } from "../../core/wire/response-reader.ts";
import { traceLine } from "../../core/wire/trace-lines.ts";

/**
 * Has a gateway send one request to the endpoints of its leg, and reads the response that passes through it. The gateway makes the tries:
 * it goes down the list until it reaches one, and says in the end which. Nothing is sent from here, so nothing is sent again.
 */
export class Handover implements Sending, TryOwner, Picked {
  readonly order: readonly Endpoint[];
  readonly head: string;
  readonly body: readonly Uint8Array[];
  readonly #run: Run;
  readonly #gateway: Gateway;
  readonly #owner: ForwardOwner;
  readonly #request: InferenceRequest;
  readonly #role: LegRole | undefined;
  readonly #tries: LegTries | undefined;
  #try: Try;

  /** Call `begin` when it is stored. The endpoint is booked already. */
  constructor(run: Run, gateway: Gateway, leg: Leg, draft: Draft, owner: ForwardOwner) {
    const { config, ticket, parts } = run;
    const { limits, credentials } = config.settings;
    const first = leg.order[0]!;
    const bearer = bearerFor(first.name, credentials);
    this.#run = run;
    this.#gateway = gateway;
    this.#owner = owner;
    this.#request = ticket.request!;
    this.#role = draft.role;
    this.#tries = owner.promptProcessed && {
      profile: config.profile,
      attempts: ticket.attempts,
      firstSpan: 0,
      promptProcessed: (nowMs) => owner.promptProcessed!(nowMs),
    };
    // The head goes to whichever of them is reached, so each must be one that its key is for.
    const spares =
      leg.order.length > limits.gatewayFallbacks ? [] : usableSpares(leg, this.#request, run.pool, parts.services.clock.now());
    const order = spares.length === 0 ? leg.order : [...leg.order, ...spares];
    this.order = order.filter(({ name }) => bearerFor(name, credentials) === bearer).slice(0, 1 + limits.gatewayFallbacks);
    this.head = requestHead(draft, first, credentials, ticket.trace && traceLine(ticket.trace, FIRST_TRY));
    this.body = draft.body;
    this.#try = this.#tryAt(first);
  }

  get endpoint(): Endpoint {
    return this.#try.endpoint;
  }

  get reader(): ResponseReader {
    return this.#try.front;
  }

  begin(nowMs: number): void {
    this.#run.ticket.times.dispatchedAtMs = nowMs;
    this.#gateway.pass(this);
  }

  /** A gateway is told of one choice only, so `missedTarget` is never asked for. */
  beginAgain(): void {}

  get takesErrorEvent(): boolean {
    return this.#try.reader.takesErrorEvent;
  }

  drained(): void {
    this.#try.drained();
  }

  close(): boolean {
    this.#try.drop();
    return this.#gateway.hasSentAll;
  }

  served(address: string): void {
    if (this.#try.isOver || address === addressOf(this.endpoint)) return;
    const served = this.#run.pool.facts.endpoints.find((each) => addressOf(each) === address);
    if (served === undefined) return;
    this.#try.over("passed-over", false);
    this.#doubt(address);
    this.#try = this.#tryAt(served);
  }

  unserved(): void {
    this.#try.over("passed-over", false);
    this.#doubt("");
    this.#owner.failed(unservedByGateway());
  }

  unread(): void {
    this.#try.over(this.#run.ticket.status, false);
    this.#try.reader.endResponse(false);
    this.#owner.completed();
  }

  // Reports from the try.

  responded(): boolean {
    return true;
  }

  /** The client gets the replica's own answer. From the next decision on it is known. */
  missedTarget(): boolean {
    return true;
  }

  delivered(): boolean {
    tellFreed(this.#run, this.#try.reader);
    this.#owner.bodyDelivered();
    return true;
  }

  completed(isCut: boolean): void {
    if (isCut) this.#owner.failed(unfinished());
    else this.#owner.completed();
  }

  failed(failure: UpstreamFailure, isDelivered: boolean): void {
    if (!isDelivered) this.#doubt("");
    this.#owner.failed(upstreamError(failure));
  }

  #tryAt(endpoint: Endpoint): Try {
    const { pool, parts } = this.#run;
    const { clock } = parts.services;
    const booking = book(this.#run, this.#request, endpoint, clock.now(), this.#role);
    return new Try(pool, clock, this.#run, booking, new Relay(endpoint, this.#gateway, this.#run), this, this.#tries);
  }

  /** The gateway did without the endpoints in front of this address, or without all of them. Why, only the gateway knows: probes find out. */
  #doubt(address: string): void {
    for (const endpoint of this.order) {
      if (addressOf(endpoint) === address) return;
      this.#run.pool.control.doubted(endpoint);
    }
  }
}

function unservedByGateway(): RouterError {
  const message = "The gateway sent the request to no replica; look for the cause in the gateway's log.";
  return new RouterError("upstream_unreachable", message, { retryAfterS: 1 });
}
