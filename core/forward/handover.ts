import type { Leg } from "../contract/decision.ts";
import type { Endpoint } from "../contract/endpoint.ts";
import type { AttemptFailure } from "../contract/outcome.ts";
import type { InferenceRequest } from "../contract/request.ts";
import { upstreamError } from "../errors/upstream-errors.ts";
import type { Booking } from "../pool/booking.ts";
import { addressOf, type Gateway, type Picked } from "../pool/gateway.ts";
import { type Draft, requestHead } from "../request/rewrite.ts";
import { bearerFor } from "../wire/bearer.ts";
import type { Head } from "../wire/head.ts";
import type { ResponseReader, UpstreamFailure } from "../wire/response-reader.ts";
import { traceLine } from "../wire/trace-lines.ts";
import type { ForwardOwner, ForwardRun, Sending } from "./forward-run.ts";
import { Relay, type RelayOwner } from "./relay.ts";
import { book, doubtModels, noteTry, pauseOverloaded } from "./try-start.ts";
import { UnlistedTry } from "./unlisted-try.ts";

/**
 * Has a gateway send one request to the endpoints of its leg, and reads the response that passes through it. The gateway makes the tries:
 * it goes down the list until it reaches one, and says in the end which. Nothing is sent from here, so nothing is sent again.
 */
export class Handover implements Sending, RelayOwner, Picked {
  readonly order: readonly Endpoint[];
  readonly head: string;
  readonly body: readonly Uint8Array[];
  reader: ResponseReader;
  readonly #run: ForwardRun;
  readonly #gateway: Gateway;
  readonly #owner: ForwardOwner;
  readonly #request: InferenceRequest;
  #booking: Booking;
  #relay: Relay;
  #unlisted: UnlistedTry | undefined;
  #isOver = false;

  /** Call `begin` when it is stored. The endpoint is booked already. */
  constructor(run: ForwardRun, gateway: Gateway, request: InferenceRequest, leg: Leg, draft: Draft, owner: ForwardOwner) {
    const { config, ticket, parts } = run;
    const { limits, credentials } = config.settings;
    const first = leg.order[0]!;
    const bearer = bearerFor(first.name, credentials);
    this.#run = run;
    this.#gateway = gateway;
    this.#owner = owner;
    this.#request = request;
    // The head goes to whichever of them is reached, so each must be one that its key is for.
    this.order = leg.order.filter(({ name }) => bearerFor(name, credentials) === bearer).slice(0, 1 + limits.retries);
    this.head = requestHead(draft, first, credentials, ticket.trace && traceLine(ticket.trace, 0));
    this.body = draft.body;
    this.#booking = book(run, request, first, parts.services.clock.now());
    this.#relay = new Relay(first, gateway, run, this);
    this.#unlisted = UnlistedTry.of(request, first, parts, this.#relay, this);
    this.reader = this.#unlisted ?? this.#relay;
  }

  get endpoint(): Endpoint {
    return this.#booking.endpoint;
  }

  begin(nowMs: number): void {
    this.#run.ticket.times.dispatchedAtMs = nowMs;
    this.#gateway.pass(this);
  }

  /** A gateway is told of one choice only, so `missedTarget` is never asked for. */
  beginAgain(): void {}

  get takesErrorEvent(): boolean {
    return this.#relay.takesErrorEvent;
  }

  drained(): void {
    if (this.#isOver) return;
    this.#booking.released(this.#nowMs);
    this.#relay.resume();
  }

  close(): boolean {
    if (!this.#isOver) {
      this.#gateway.destroy();
      this.#end("aborted", false);
    }
    return this.#gateway.hasSentAll;
  }

  served(address: string): void {
    const { parts } = this.#run;
    const { endpoint } = this.#booking;
    if (this.#isOver || address === addressOf(endpoint)) return;
    const served = parts.pool.facts.endpoints.find((each) => addressOf(each) === address);
    if (served === undefined) return;
    this.#end("connect-failed", false);
    parts.pool.control.connectFailed(endpoint);
    this.#isOver = false;
    this.#booking = book(this.#run, this.#request, served, this.#nowMs);
    this.#relay = new Relay(served, this.#gateway, this.#run, this);
    this.#unlisted = UnlistedTry.of(this.#request, served, parts, this.#relay, this);
    this.reader = this.#unlisted ?? this.#relay;
  }

  unread(): void {
    this.#end(this.#run.ticket.status, false);
    this.#relay.endResponse(false);
    this.#owner.completed();
  }

  // Reports from the relay.

  responded(head: Head): boolean {
    const { endpoint } = this.#booking;
    pauseOverloaded(this.#run, endpoint, head);
    this.#booking.responded(head.status);
    doubtModels(this.#run, this.#request, endpoint, head.status);
    return true;
  }

  /** The client gets the replica's own answer. From the next decision on it is known. */
  missedTarget(): boolean {
    return true;
  }

  promptProcessed(nowMs: number): void {
    this.#booking.firstToken(nowMs);
  }

  held(): void {
    this.#booking.held();
  }

  delivered(): boolean {
    this.#owner.bodyDelivered();
    return true;
  }

  completed(isVerbatimEnd: boolean): void {
    const lack = this.#relay.lack();
    if (lack === "") this.#end(this.#run.ticket.status, true);
    else this.#end("malformed", false, lack);
    this.#relay.endResponse(isVerbatimEnd);
    this.#owner.completed();
  }

  failed(failure: UpstreamFailure, isDelivered: boolean): void {
    this.#end(failure, false);
    if (!isDelivered) this.#run.parts.pool.control.connectFailed(this.#booking.endpoint);
    this.#owner.failed(upstreamError(failure));
  }

  #end(result: number | AttemptFailure, isSound: boolean, lack = ""): void {
    const { ticket } = this.#run;
    const booking = this.#booking;
    this.#isOver = true;
    this.#unlisted?.close();
    this.#relay.close(isSound);
    booking.settled(result, isSound ? ticket.usage : undefined, this.#nowMs, lack);
    noteTry(ticket, booking.endpoint, result, booking.beganAtMs, this.#nowMs);
  }

  get #nowMs(): number {
    return this.#run.parts.services.clock.now();
  }
}
