import { JsonBody } from "../body/json-body.ts";
import { NO_KEYS } from "../body/noted-keys.ts";
import { BodyBuffer, type BodyOwner } from "../body/receive.ts";
import { DIRECT_BYTES, SlicedScan, type SlicedScanOwner } from "../body/sliced-scan.ts";
import type { RouterError } from "../contract/errors.ts";
import type { Outcome } from "../contract/outcome.ts";
import type { BodyReader } from "../contract/parser.ts";
import type { WaitOwner } from "../contract/slots/admit.ts";
import type { Answer, OwnRoute } from "../contract/slots/answer.ts";
import type { RequestReceiver } from "../contract/slots/decode.ts";
import type { ForwardOwner, Sending } from "../contract/slots/send.ts";
import type { UpgradedRequest } from "../contract/slots/upgrade.ts";
import { respondWithAnswer } from "../errors/error-response.ts";
import { stopping, tooManyOfClient } from "../errors/upstream-errors.ts";
import { errorOf } from "../errors/wire-errors.ts";
import type { ResponseWriter } from "../host/response-writer.ts";
import { isProbePath } from "../own-routes.ts";
import { admit, admitAgain, answer, copy, decideAgain, decode, enter, route, routeAgain, upgrade } from "../pipeline.ts";
import type { Gate, RouterParts } from "../router-parts.ts";
import { Run } from "../run.ts";
import { Ticket } from "../ticket.ts";
import type { Head } from "../wire/head.ts";
import { isCoded } from "../wire/media-type.ts";
import { splitTarget } from "../wire/request-target.ts";
import { bodyReader } from "./body-reader.ts";
import { endWithError } from "./end-with-error.ts";
import { Entrance } from "./entrance.ts";
import { fallsBack } from "./falls-back.ts";
import { freeBody, leaveBody } from "./free-body.ts";
import { respondLocally } from "./local-routes.ts";
import { ownLines } from "./own-lines.ts";
import { isPreflight } from "./preflight.ts";
import { requestId } from "./request-id.ts";
import { noSuchRoute, parsersAt } from "./served-routes.ts";
import { settle } from "./settle.ts";
import { traceRequest } from "./trace-request.ts";

/**
 * One request from its head to its end: checks the head, gathers and scans the body, sends the whole request down the pipeline, and ends
 * it. Nothing else ends a request: hosts and forwarding only report what happened.
 */
export class Intake implements UpgradedRequest, ForwardOwner, SlicedScanOwner, BodyOwner, WaitOwner {
  readonly #run: Run;
  #scanner: BodyReader | undefined;
  /** Set once the body is too large to be scanned while it is read. */
  #slices: SlicedScan | undefined;
  /** Set for a path that a feature answers. */
  #ownRoute: OwnRoute | undefined;
  /** Set while it counts among its client's requests. */
  #clients: Gate["clients"] | undefined;
  #forward: Sending | undefined;
  /** Set where it takes time to learn who asks. */
  #entrance: Entrance | undefined;
  #isOver = false;

  constructor(parts: RouterParts, head: Head, response: ResponseWriter, peer: string) {
    const id = requestId(head) ?? parts.identity.nextRequestId();
    const ticket = new Ticket(id, head.method, parts.services.clock.now());
    this.#run = new Run(ticket, head, peer, parts.configs.take(), parts, response);
  }

  /** Returns what gets the body. */
  begin(bodyLength: number): RequestReceiver {
    try {
      this.#readHead(bodyLength);
    } catch (thrown) {
      this.failed(thrown);
    }
    return this.#run.decoder ?? this;
  }

  // Reports from the host.

  body(chunk: Uint8Array, start: number, end: number): void {
    const { ticket, buffer } = this.#run;
    if (this.#isOver || buffer === undefined) return;
    try {
      const scannedBytes = buffer.length;
      buffer.append(chunk, start, end);
      ticket.requestBytes = buffer.length;
      if (this.#scanner !== undefined) this.#scan(buffer, this.#scanner, scannedBytes);
    } catch (thrown) {
      this.failed(thrown);
    }
  }

  bodyEnd(): void {
    if (this.#isOver) return;
    const { ticket, buffer, parts } = this.#run;
    ticket.times.bodyEndedAtMs = parts.services.clock.now();
    buffer?.complete();
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
    if (this.#isOver || this.#entrance?.delays(() => this.scanned())) return;
    try {
      this.#route();
    } catch (thrown) {
      this.failed(thrown);
    }
  }

  holdBody(isHeld: boolean): void {
    this.#run.response.holdBody(isHeld);
  }

  admitted(): void {
    if (this.#isOver) return;
    const forward = this.#forward;
    this.#orFail(() => (forward === undefined ? this.#admit() : decideAgain(this.#run, forward)));
  }

  // Reports from the forwarding.

  bodyDelivered(): void {
    freeBody(this.#run);
  }

  completed(): void {
    if (this.#isOver) return;
    this.#close();
    this.#end("complete", undefined);
  }

  unreached(error: RouterError): void {
    this.#orFail(() => admitAgain(this.#run, this, error));
  }

  missedTarget(): void {
    this.#orFail(() => routeAgain(this.#run, this.#forward!));
  }

  leaves(why: RouterError | number): boolean {
    if (!fallsBack(this.#run, why, this.#forward)) return false;
    this.#forward = undefined;
    this.#orFail(() => this.#admit());
    return true;
  }

  /** There is no response, or it broke off. `thrown` is no RouterError for a fault of the router. */
  failed(thrown: unknown): void {
    if (this.#isOver) return;
    const error = errorOf(thrown);
    if (this.leaves(error)) return;
    this.#close();
    this.#end(endWithError(error, this.#run, this.#forward?.takesErrorEvent ?? false), error);
  }

  #orFail(step: () => void): void {
    try {
      step();
    } catch (thrown) {
      this.failed(thrown);
    }
  }

  #readHead(bodyLength: number): void {
    const run = this.#run;
    const { ticket, head, config, parts } = run;
    const { path, query } = splitTarget(head.target);
    const { settings, slots } = config;
    ticket.path = path;
    run.query = query;
    const isAsking = isPreflight(head, settings.cors);
    const ofPath = isAsking ? undefined : parsersAt(path, config)?.get(head.method);
    run.parser = run.response.door === undefined ? ofPath : run.response.door.parserFor(ofPath);
    run.dialect = run.parser?.plugin.dialect ?? (path.startsWith("/v1/messages") ? "anthropic" : "openai");
    if (head.method === "GET" && head.get("upgrade") !== undefined) run.decoder = upgrade(run, this);
    const { parser } = run;
    if (parser !== undefined) {
      ticket.api = parser.type;
      ticket.trace = traceRequest(config.tracer, head, parts.plugins.faults);
    }
    const isOpen = isAsking || (parser === undefined && isProbePath(path));
    if (slots.enter.length > 0 && !isOpen) this.#enter();
    if (parser === undefined && run.decoder !== undefined) return; // A feature answers it, and says when it is over.
    if (parser === undefined) {
      this.#ownRoute = isAsking ? undefined : config.ownRoutes.find(head.method, path);
      const bodyBytes = this.#ownRoute?.bodyBytes ?? 0;
      if (bodyBytes === 0) return this.#respondWithoutParser();
      return void this.#takeBody(bodyLength, Math.min(bodyBytes, settings.limits.bodyBytes));
    }
    const isEncoded = isCoded(head);
    const body = this.#takeBody(isEncoded || run.decoder !== undefined ? -1 : bodyLength, settings.limits.bodyBytes);
    this.#scanner = bodyReader(parser, head, path, settings.limits.bodyDepth);
    if (isEncoded && this.#scanner !== undefined) run.decoder = decode(run, this);
    else if (this.#scanner !== undefined && bodyLength > DIRECT_BYTES) this.#scanInSlices(body, this.#scanner, 0);
  }

  /** Learns who asks, or throws. */
  #enter(): void {
    const entering = enter(this.#run);
    if (entering !== undefined) this.#entrance = new Entrance(entering, this);
  }

  #takeBody(bodyLength: number, maxBytes: number): BodyBuffer {
    const run = this.#run;
    const { clients, memory } = run.parts.gate;
    if (!clients.enter(run.peer)) throw tooManyOfClient();
    this.#clients = clients;
    run.buffer = new BodyBuffer(bodyLength, maxBytes, memory, this);
    return run.buffer;
  }

  #scan(body: BodyBuffer, scanner: BodyReader, scannedBytes: number): void {
    if (this.#slices === undefined && body.length > DIRECT_BYTES) this.#scanInSlices(body, scanner, scannedBytes);
    if (this.#slices !== undefined) this.#slices.came();
    else scanner.push(body.storage, body.length);
  }

  #scanInSlices(body: BodyBuffer, scanner: BodyReader, at: number): void {
    this.#slices = new SlicedScan(body, scanner, at, this.#run.parts.gate.scanTurns, this);
  }

  #respondWithoutParser(): void {
    if (this.#isOver || this.#entrance?.delays(() => this.#respondWithoutParser())) return;
    const run = this.#run;
    if (this.#ownRoute !== undefined) return this.#answerWith(this.#ownRoute.answer(run));
    const status = respondLocally(run, ownLines(run));
    if (status === 0) throw noSuchRoute(run.ticket.path, run.config);
    run.ticket.status = status;
    this.completed();
  }

  /** The whole request is here. */
  #route(): void {
    const { buffer } = this.#run;
    if (buffer === undefined) return;
    this.#scanner?.finish(buffer.storage, buffer.length);
    this.#run.body = new JsonBody(buffer.storage, buffer.length, this.#scanner ?? NO_KEYS);
    if (this.#ownRoute === undefined) this.#admit();
    else this.#answerWith(this.#ownRoute.answer(this.#run));
  }

  #admit(): void {
    this.#run.place = admit(this.#run, this);
    if (this.#run.place !== undefined) return;
    this.#answerWith(answer(this.#run));
  }

  /** A feature's answer; undefined: the request goes to a replica. */
  #answerWith(found: Answer | Promise<Answer | undefined> | undefined): void {
    if (found === undefined) return this.#send();
    if (found instanceof Promise) {
      const answered = found.then((late) => (this.#isOver ? undefined : this.#answerWith(late)));
      return void answered.catch((thrown: unknown) => this.failed(thrown));
    }
    const { ticket, response } = this.#run;
    ticket.status = found.status;
    respondWithAnswer(response, found, ownLines(this.#run));
    this.completed();
  }

  /** Sends it to a replica. */
  #send(): void {
    const forward = route(this.#run, this);
    this.#forward = forward;
    forward.begin(this.#run.ticket.times.decidedAtMs);
    if (!this.#isOver && this.#forward === forward) copy(this.#run);
  }

  /** Ends the work under way. Releases the body's memory if it is certain that nothing reads it any more. */
  #close(): void {
    this.#isOver = true;
    this.#slices?.close();
    this.#entrance?.close();
    const { peer, place } = this.#run;
    place?.leave();
    this.#clients?.leave(peer);
    leaveBody(this.#run, this.#forward?.close() ?? true);
  }

  #end(ending: Outcome["ending"], error: RouterError | undefined): void {
    this.#run.ticket.ending = ending;
    settle(this.#run, error);
  }
}
