import type { ActiveConfig, Named } from "../active-config.ts";
import { JsonBody } from "../body/json-body.ts";
import { NO_KEYS } from "../body/noted-keys.ts";
import { BodyBuffer, type BodyOwner } from "../body/receive.ts";
import { BodyScanner } from "../body/scan.ts";
import { DIRECT_BYTES, SlicedScan, type SlicedScanOwner } from "../body/sliced-scan.ts";
import type { Dialect, RouterError } from "../contract/errors.ts";
import type { Outcome } from "../contract/outcome.ts";
import type { Parser } from "../contract/parser.ts";
import { stopping, tooManyOfClient } from "../errors/upstream-errors.ts";
import { errorOf } from "../errors/wire-errors.ts";
import type { WaitingPlace, WaitOwner } from "../features/feature.ts";
import type { ForwardOwner, Sending } from "../forward/forward-run.ts";
import type { RequestReceiver } from "../host/request-receiver.ts";
import type { ResponseWriter } from "../host/response-writer.ts";
import { admit, copy, route, routeAgain } from "../pipeline.ts";
import { forgetBody } from "../request/parse.ts";
import { Ticket } from "../request/ticket.ts";
import type { Gate, RouterParts } from "../router-parts.ts";
import type { Run } from "../run.ts";
import type { Head } from "../wire/head.ts";
import { splitTarget } from "../wire/request-target.ts";
import { ADAPTER_BODY_BYTES, type AdapterCall, type AdapterRoutes } from "./adapter-routes.ts";
import { checkContentType, requestId } from "./check-head.ts";
import { endWithError } from "./end-with-error.ts";
import { Entrance } from "./entrance.ts";
import { isProbePath, respondLocally } from "./local-routes.ts";
import { type OwnAnswer, ownLines } from "./own-lines.ts";
import { isPreflight } from "./preflight.ts";
import { noSuchRoute } from "./served-routes.ts";
import { settle } from "./settle.ts";
import { traceRequest } from "./trace-request.ts";

/** Smaller bodies stay until their request ends: what must be known of a body afterwards costs more than its memory. */
const LEAST_FREED_BYTES = 16 * 1024;

/**
 * One request from its head to its end: checks the head, gathers and scans the body, sends the whole request down the pipeline, and ends
 * it. Nothing else ends a request: hosts and forwarding only report what happened.
 */
export class Intake implements RequestReceiver, ForwardOwner, SlicedScanOwner, BodyOwner, WaitOwner {
  readonly #parts: RouterParts;
  readonly #adapterRoutes: AdapterRoutes | undefined;
  readonly #config: ActiveConfig;
  readonly #ticket: Ticket;
  readonly #head: Head;
  readonly #response: ResponseWriter;
  readonly #peer: string;
  #query = "";
  #parser: Named<Parser> | undefined;
  #dialect: Dialect = "openai";
  #body: BodyBuffer | undefined;
  #scanner: BodyScanner | undefined;
  /** Set once the body is too large to be scanned while it is read. */
  #slices: SlicedScan | undefined;
  #adapterCall: AdapterCall | undefined;
  /** Set while it counts among its client's requests. */
  #clients: Gate["clients"] | undefined;
  /** Set once the request goes down the pipeline. */
  #run: Run | undefined;
  #place: WaitingPlace | undefined;
  #forward: Sending | undefined;
  /** Set where it takes time to learn who asks. */
  #entrance: Entrance | undefined;
  #isOver = false;

  constructor(parts: RouterParts, adapterRoutes: AdapterRoutes | undefined, head: Head, response: ResponseWriter, peer: string) {
    this.#parts = parts;
    this.#adapterRoutes = adapterRoutes;
    this.#config = parts.configs.take();
    this.#head = head;
    this.#response = response;
    this.#peer = peer;
    const id = requestId(head) ?? parts.identity.nextRequestId();
    this.#ticket = new Ticket(id, head.method, parts.services.clock.now());
  }

  begin(bodyLength: number): void {
    try {
      this.#readHead(bodyLength);
    } catch (thrown) {
      this.failed(thrown);
    }
  }

  // Reports from the host.

  body(chunk: Uint8Array, start: number, end: number): void {
    const body = this.#body;
    if (this.#isOver || body === undefined) return;
    try {
      const scannedBytes = body.length;
      body.append(chunk, start, end);
      this.#ticket.requestBytes = body.length;
      if (this.#scanner !== undefined) this.#scan(body, this.#scanner, scannedBytes);
    } catch (thrown) {
      this.failed(thrown);
    }
  }

  bodyEnd(): void {
    if (this.#isOver) return;
    this.#ticket.times.bodyEndedAtMs = this.#parts.services.clock.now();
    this.#body?.complete();
    if (this.#slices === undefined) this.scanned();
    else this.#slices.complete();
  }

  refuse(error: RouterError): void {
    this.failed(error);
  }

  clientGone(): void {
    if (this.#isOver) return;
    this.#close();
    this.#end("client-left", undefined);
  }

  drained(): void {
    this.#forward?.drained();
  }

  stop(): void {
    this.failed(stopping());
  }

  // Reports from the scan, and from the admission.

  scanned(): void {
    if (this.#isOver) return;
    if (this.#entrance?.delays(() => this.scanned())) return;
    try {
      this.#route();
    } catch (thrown) {
      this.failed(thrown);
    }
  }

  holdBody(isHeld: boolean): void {
    this.#response.holdBody(isHeld);
  }

  admitted(): void {
    try {
      this.#forward = route(this.#run!, this);
      this.#forward.begin(this.#ticket.times.decidedAtMs);
      if (!this.#isOver) copy(this.#run!);
    } catch (thrown) {
      this.failed(thrown);
    }
  }

  // Reports from the forwarding.

  bodyDelivered(): void {
    const { request } = this.#ticket;
    if (request === undefined || request.body.length < LEAST_FREED_BYTES) return;
    this.#parts.pool.control.traffic.freesBody(request);
    forgetBody(request);
    this.#body?.release();
  }

  completed(): void {
    if (this.#isOver) return;
    this.#close();
    this.#end("complete", undefined);
  }

  missedTarget(): void {
    try {
      routeAgain(this.#run!, this.#forward!);
    } catch (thrown) {
      this.failed(thrown);
    }
  }

  /** There is no response, or it broke off. `thrown` is no RouterError for a fault of the router. */
  failed(thrown: unknown): void {
    if (this.#isOver) return;
    const error = errorOf(thrown);
    this.#close();
    this.#end(endWithError(error, this.#dialect, this.#answer(), this.#forward), error);
  }

  #readHead(bodyLength: number): void {
    const { path, query } = splitTarget(this.#head.target);
    const { settings, routes } = this.#config;
    this.#ticket.path = path;
    this.#query = query;
    const isAsking = isPreflight(this.#head, settings.cors);
    const parser = isAsking ? undefined : routes.get(path)?.get(this.#head.method);
    this.#dialect = parser?.plugin.dialect ?? (path.startsWith("/v1/messages") ? "anthropic" : "openai");
    if (parser !== undefined) {
      this.#ticket.api = parser.type;
      this.#ticket.trace = traceRequest(this.#config, this.#head, this.#parts.plugins.faults);
    }
    const isOpen = isAsking || (parser === undefined && isProbePath(path));
    if (this.#config.authenticators !== undefined && !isOpen) this.#enter();
    if (parser === undefined) {
      this.#adapterCall = this.#adapterRoutes?.callOf(this.#head, path, settings);
      if (this.#adapterCall === undefined) return this.#respondWithoutParser();
      return void this.#takeBody(bodyLength, Math.min(ADAPTER_BODY_BYTES, settings.limits.bodyBytes));
    }
    const { keys, partKeys } = parser.plugin;
    this.#parser = parser;
    const body = this.#takeBody(bodyLength, settings.limits.bodyBytes);
    if (keys.length === 0) return;
    checkContentType(this.#head);
    this.#scanner = new BodyScanner(keys, settings.limits.bodyDepth, partKeys);
    if (bodyLength > DIRECT_BYTES) this.#scanInSlices(body, this.#scanner, 0);
  }

  /** Learns who asks, or throws. */
  #enter(): void {
    const entering = this.#parts.features.access!.enter(this.#ticket, this.#head, this.#config);
    if (entering !== undefined) this.#entrance = new Entrance(entering, this);
  }

  #takeBody(bodyLength: number, maxBytes: number): BodyBuffer {
    const { clients, memory } = this.#parts.gate;
    if (!clients.enter(this.#peer)) throw tooManyOfClient();
    this.#clients = clients;
    this.#body = new BodyBuffer(bodyLength, maxBytes, memory, this);
    return this.#body;
  }

  #scan(body: BodyBuffer, scanner: BodyScanner, scannedBytes: number): void {
    if (this.#slices === undefined && body.length > DIRECT_BYTES) this.#scanInSlices(body, scanner, scannedBytes);
    if (this.#slices !== undefined) this.#slices.came();
    else scanner.push(body.storage, body.length);
  }

  #scanInSlices(body: BodyBuffer, scanner: BodyScanner, at: number): void {
    this.#slices = new SlicedScan(body, scanner, at, this.#parts.gate.scanTurns, this);
  }

  #respondWithoutParser(): void {
    if (this.#isOver || this.#entrance?.delays(() => this.#respondWithoutParser())) return;
    const { path, principal } = this.#ticket;
    const lines = ownLines(this.#answer(), this.#dialect);
    const status = respondLocally(this.#head, path, this.#config, this.#parts, this.#response, lines, principal?.models);
    if (status === 0) throw noSuchRoute(path, this.#config);
    this.#ticket.status = status;
    this.completed();
  }

  /** The whole request is here. */
  #route(): void {
    if (this.#adapterCall !== undefined) return this.#changeAdapters(this.#adapterCall);
    this.#run = this.#begun();
    if (this.#run === undefined) return;
    this.#place = admit(this.#run, this);
    if (this.#place === undefined) this.admitted();
  }

  #changeAdapters(call: AdapterCall): void {
    const { id, principal } = this.#ticket;
    const responded = call(this.#body!.bytes, { client: this.#peer, id, principal }).then((respond) => {
      if (this.#isOver) return;
      this.#ticket.status = respond(this.#response, ownLines(this.#answer(), this.#dialect));
      this.completed();
    });
    responded.catch((thrown: unknown) => this.failed(thrown));
  }

  #answer(): OwnAnswer {
    return { head: this.#head, config: this.#config, ticket: this.#ticket, response: this.#response, parts: this.#parts };
  }

  #begun(): Run | undefined {
    const [parser, buffer] = [this.#parser, this.#body];
    if (parser === undefined || buffer === undefined) return undefined;
    this.#scanner?.finish(buffer.storage, buffer.length);
    const ticket = this.#ticket;
    const body = new JsonBody(buffer.storage, buffer.length, this.#scanner ?? NO_KEYS);
    const { id, path } = ticket;
    const incoming = { id, head: this.#head, path, query: this.#query, peer: this.#peer, parser, body };
    const [config, parts, response] = [this.#config, this.#parts, this.#response];
    return { ticket, incoming, parsed: undefined, buffer, config, parts, response };
  }

  /** Ends the work under way. Releases the body's memory if it is certain that nothing reads it any more. */
  #close(): void {
    this.#isOver = true;
    this.#slices?.close();
    this.#entrance?.close();
    this.#place?.leave();
    this.#clients?.leave(this.#peer);
    const isBodyFree = this.#forward?.close() ?? true;
    forgetBody(this.#ticket.request);
    if (isBodyFree) this.#body?.release();
    else this.#body?.abandon();
  }

  #end(ending: Outcome["ending"], error: RouterError | undefined): void {
    this.#ticket.ending = ending;
    settle(this.#ticket, error, this.#config, this.#parts);
  }
}
