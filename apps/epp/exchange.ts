import { RouterError } from "../../core/contract/errors.ts";
import type { RequestReceiver } from "../../core/contract/slots/decode.ts";
import { respondWithError } from "../../core/errors/error-response.ts";
import { bodyTimeout, errorOf } from "../../core/errors/wire-errors.ts";
import type { Timed } from "../../core/wire/deadlines.ts";
import { HeadParser } from "../../core/wire/head-parser.ts";
import type { EppShared } from "./epp-shared.ts";
import type { HttpBody, HttpHeaders, ProcessingRequest } from "./ext-proc.ts";
import { clientAddress, subsetOf } from "./gateway-facts.ts";
import { GatewayResponse } from "./gateway-response.ts";
import { type Call, type CallReader, GRPC } from "./grpc/call.ts";
import { requestHeadText } from "./head-text.ts";
import { readRequest } from "./messages.ts";
import { MODE } from "./modes.ts";
import { PassedRequest } from "./passed-request.ts";

/** One request that a gateway tells of, from its head to the end of its response: a call of the external processing service. */
export class Exchange implements CallReader, Timed {
  readonly #call: Call;
  readonly #shared: EppShared;
  readonly #response: GatewayResponse;
  #receiver: RequestReceiver | undefined;
  #passed: PassedRequest | undefined;
  /** When the request's body must be complete; infinite once it is. */
  #deadlineMs: number;
  #isOver = false;

  constructor(call: Call, shared: EppShared) {
    this.#call = call;
    this.#shared = shared;
    this.#response = new GatewayResponse(call, this);
    this.#deadlineMs = shared.deadlines.nowMs + shared.limits.bodyTimeoutMs;
    shared.open.add(this);
    shared.deadlines.add(this);
  }

  // From the gateway.

  message(bytes: Buffer): void {
    let request: ProcessingRequest;
    try {
      request = readRequest(bytes);
    } catch {
      return this.#leave(GRPC.invalidArgument, "This is no message of the external processing service");
    }
    try {
      this.#take(request);
    } catch (thrown) {
      this.#refuse(errorOf(thrown));
    }
  }

  failed(error: RouterError): void {
    this.#refuse(error);
  }

  ended(): void {
    this.#leave(GRPC.ok);
  }

  gone(): void {
    this.#response.detach();
    this.#leave(GRPC.ok);
  }

  drained(): void {
    this.#response.drained();
    this.#receiver?.drained();
  }

  // From the response.

  holdBody(isHeld: boolean): void {
    this.#call.hold(isHeld);
  }

  over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#shared.open.delete(this);
    this.#shared.deadlines.delete(this);
    this.#passed?.over();
  }

  sweep(nowMs: number): void {
    if (nowMs >= this.#deadlineMs) this.#refuse(bodyTimeout());
    else this.#passed?.sweep(nowMs);
  }

  /** The router stops. */
  stop(): void {
    this.#receiver?.stop();
    this.#leave(GRPC.unavailable, "The router is stopping");
  }

  #take(request: ProcessingRequest): void {
    if (this.#isOver) return;
    const { request_headers, request_body, response_headers, response_body } = request;
    if (request_headers !== undefined) this.#requestHead(request, request_headers);
    else if (this.#receiver === undefined || this.#passed === undefined)
      this.#leave(GRPC.invalidArgument, "The request's headers must come first: set request_header_mode to SEND");
    else if (request_body !== undefined) this.#requestBody(this.#receiver, request_body);
    else if (request.request === "request_trailers") this.#requestTrailers(this.#receiver, this.#passed);
    else if (response_headers !== undefined) this.#passed.responseHead(request, response_headers);
    else if (response_body !== undefined) this.#passed.responseBody(response_body);
    else if (request.request === "response_trailers") this.#passed.responseTrailers();
  }

  #requestHead(request: ProcessingRequest, { headers = {}, end_of_stream = false }: HttpHeaders): void {
    if (this.#receiver !== undefined) return this.#leave(GRPC.invalidArgument, "The request's headers came twice");
    const { limits, start } = this.#shared;
    const { request_body_mode = MODE.duplex, response_body_mode = MODE.duplex } = request.protocol_config ?? {};
    const parser = new HeadParser("request", limits);
    parser.push(Buffer.from(requestHeadText(headers), "latin1"), 0);
    const { head } = parser;
    this.#response.mode = response_body_mode;
    const mode = end_of_stream ? MODE.duplex : request_body_mode;
    const passed = new PassedRequest({
      call: this.#call,
      shared: this.#shared,
      response: this.#response,
      head,
      mode,
      subset: subsetOf(request),
    });
    this.#passed = passed;
    passed.hasBody = !end_of_stream;
    const declared = head.get("content-length") ?? "";
    const length = /^\d{1,15}$/.test(declared) ? Number(declared) : -1;
    this.#response.gateway = passed;
    const receiver = start(head, end_of_stream ? 0 : length, this.#response, clientAddress(head.get("x-forwarded-for")));
    this.#receiver = receiver;
    if (this.#isOver) return;
    if (end_of_stream) this.#bodyEnd(receiver);
    else if (mode === MODE.buffered) passed.awaitBody();
    else if (mode !== MODE.duplex) receiver.refuse(unusableMode());
  }

  #requestBody(receiver: RequestReceiver, { body, end_of_stream = false }: HttpBody): void {
    if (body !== undefined && body.length > 0) receiver.body(body, 0, body.length);
    if (end_of_stream && !this.#isOver) this.#bodyEnd(receiver);
  }

  #requestTrailers(receiver: RequestReceiver, passed: PassedRequest): void {
    passed.hasTrailers = true;
    this.#bodyEnd(receiver);
  }

  #bodyEnd(receiver: RequestReceiver): void {
    if (this.#deadlineMs === Number.POSITIVE_INFINITY) return;
    this.#deadlineMs = Number.POSITIVE_INFINITY;
    receiver.bodyEnd();
  }

  /** Ends a request that can't be read to its end; without a receiver there is no request yet. */
  #refuse(error: RouterError): void {
    if (this.#isOver) return;
    if (this.#receiver !== undefined) this.#receiver.refuse(error);
    else respondWithError(this.#response, error, "openai", this.#shared.nextRequestId());
  }

  /** Nobody waits for an answer any more. */
  #leave(status: number, message = ""): void {
    if (this.#isOver) return;
    this.#response.detach();
    this.over();
    this.#receiver?.clientGone();
    this.#call.end(status, message);
  }
}

function unusableMode(): RouterError {
  const message =
    "The gateway does not send whole request bodies to the router; set processing_mode.request_body_mode of its ext_proc filter to FULL_DUPLEX_STREAMED or BUFFERED.";
  return new RouterError("internal_error", message);
}
