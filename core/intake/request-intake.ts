import type { ActiveConfig, Named } from "../active-config.ts";
import { JsonBody, type KeySpans } from "../body/json-body.ts";
import { BodyBuffer } from "../body/receive.ts";
import { BodyScanner } from "../body/scan.ts";
import { DIRECT_BYTES, SlicedScan, type SlicedScanOwner } from "../body/sliced-scan.ts";
import { asRouterError, type Dialect, type RouterError } from "../contract/errors.ts";
import type { Outcome } from "../contract/outcome.ts";
import type { Parser } from "../contract/parser.ts";
import { NO_PARTS } from "../contract/prompt-part.ts";
import type { InferenceRequest } from "../contract/request.ts";
import { thrownText } from "../contract/thrown-text.ts";
import type { Trace } from "../contract/trace.ts";
import type { DataPlane } from "../data-plane.ts";
import { lastWords } from "../errors/dialects.ts";
import { respondWithError } from "../errors/error-response.ts";
import { stopping, tooManyOfClient } from "../errors/upstream-errors.ts";
import { refusalOf } from "../errors/wire-errors.ts";
import { PipelineRun, type RunOwner } from "../pipeline.ts";
import { type Delivery, NOT_DELIVERED } from "../stages/forward.ts";
import { corsLines } from "../wire/cors.ts";
import type { Head } from "../wire/head.ts";
import { splitTarget } from "../wire/request-target.ts";
import { WireError } from "../wire/wire-error.ts";
import { checkContentType, requestId } from "./check-head.ts";
import { isProbePath, respondLocally } from "./local-routes.ts";
import { type End, outcomeOf } from "./outcome-of.ts";
import { isPreflight } from "./preflight.ts";
import type { RequestReceiver, RequestStarter } from "./request-receiver.ts";
import type { ResponseWriter } from "./response-writer.ts";
import { noSuchRoute } from "./served-routes.ts";
import { tellObservers } from "./tell-observers.ts";
import { traceRequest } from "./trace-request.ts";

/** Starts requests on a data plane. Each request ends exactly once, with one Outcome. */
export function intake(plane: DataPlane): RequestStarter {
  return (head, bodyLength, response, peer) => {
    const taken = new RequestIntake(plane, head, response, peer);
    taken.begin(bodyLength);
    return taken;
  };
}

const NO_KEYS: KeySpans = { parts: NO_PARTS, spanOf: () => undefined };
/** Smaller bodies stay until their request ends: what must be known of a body afterwards costs more than its memory. */
const LEAST_FREED_BYTES = 16 * 1024;
const NO_BODY = new Uint8Array(0);

/**
 * One request from its head to its Outcome: checks the head, gathers and scans the body, starts the pipeline, and ends the
 * request. Nothing else ends a request: the host and the pipeline only report what happened.
 */
class RequestIntake implements RequestReceiver, RunOwner, SlicedScanOwner {
  readonly #plane: DataPlane;
  readonly #config: ActiveConfig;
  readonly #head: Head;
  readonly #response: ResponseWriter;
  readonly #peer: string;
  readonly #id: string;
  readonly #startedAtMs: number;
  #path = "";
  #query = "";
  #parser: Named<Parser> | undefined;
  #dialect: Dialect = "openai";
  #body: BodyBuffer | undefined;
  #bodyBytes = 0;
  #scanner: BodyScanner | undefined;
  /** Set once the body is too large to be scanned while it is read. */
  #slices: SlicedScan | undefined;
  #bodyEndedAtMs = Number.NaN;
  #run: PipelineRun | undefined;
  #trace: Trace | undefined;
  /** Set while it counts among its client's requests. */
  #clients: DataPlane["clients"] | undefined;
  #isOver = false;

  constructor(plane: DataPlane, head: Head, response: ResponseWriter, peer: string) {
    this.#plane = plane;
    this.#config = plane.takeConfig();
    this.#head = head;
    this.#response = response;
    this.#peer = peer;
    this.#id = requestId(head) ?? plane.nextRequestId();
    this.#startedAtMs = plane.clock.now();
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
    if (this.#isOver || this.#body === undefined) return;
    try {
      this.#body.append(chunk, start, end);
      const scannedBytes = this.#bodyBytes;
      this.#bodyBytes = this.#body.length;
      if (this.#scanner === undefined) return;
      if (this.#slices === undefined && this.#bodyBytes > DIRECT_BYTES)
        this.#scanInSlices(this.#body, this.#scanner, scannedBytes);
      if (this.#slices !== undefined) this.#slices.came();
      else this.#scanner.push(this.#body.storage, this.#bodyBytes);
    } catch (thrown) {
      this.failed(thrown);
    }
  }

  bodyEnd(): void {
    if (this.#isOver) return;
    this.#bodyEndedAtMs = this.#plane.clock.now();
    this.#body?.complete();
    if (this.#slices === undefined) this.scanned();
    else this.#slices.complete();
  }

  refuse(error: RouterError): void {
    this.failed(error);
  }

  clientGone(): void {
    if (this.#isOver) return;
    this.#run?.clientLeft();
    const delivery = this.#close();
    this.#report(delivery, { ending: "client-left", status: delivery.status }, undefined);
  }

  drained(): void {
    this.#run?.drained();
  }

  stop(): void {
    this.failed(stopping());
  }

  // Reports from the scan.

  scanned(): void {
    if (this.#isOver) return;
    try {
      this.#runPipeline();
    } catch (thrown) {
      this.failed(thrown);
    }
  }

  holdBody(isHeld: boolean): void {
    this.#response.holdBody(isHeld);
  }

  // Reports from the pipeline.

  bodyDelivered(): void {
    const request = this.#run?.request;
    if (request === undefined || request.body.length < LEAST_FREED_BYTES) return;
    this.#plane.traffic.freesBody(request);
    forgetBody(request);
    this.#body?.release();
  }

  completed(): void {
    if (this.#isOver) return;
    const delivery = this.#close();
    this.#report(delivery, { ending: "complete", status: delivery.status }, undefined);
  }

  failed(thrown: unknown): void {
    if (this.#isOver) return;
    const error = thrown instanceof WireError ? refusalOf(thrown) : asRouterError(thrown);
    const delivery = this.#close();
    this.#report(delivery, this.#respondWithError(error, delivery), error);
  }

  #readHead(bodyLength: number): void {
    const { method, target } = this.#head;
    const { path, query } = splitTarget(target);
    this.#path = path;
    this.#query = query;
    this.#parser = isPreflight(this.#head, this.#config.settings.cors) ? undefined : this.#config.routes.get(path)?.get(method);
    if (this.#parser === undefined) return this.#respondWithoutParser();
    const { dialect, keys, partKeys } = this.#parser.plugin;
    this.#dialect = dialect;
    this.#trace = traceRequest(this.#config, this.#head, this.#plane.pluginFaults);
    const { clients } = this.#plane;
    if (!clients.enter(this.#peer)) throw tooManyOfClient();
    this.#clients = clients;
    const { limits } = this.#config.settings;
    this.#body = new BodyBuffer(bodyLength, limits.bodyBytes, this.#plane.memory, this);
    if (keys.length === 0) return;
    checkContentType(this.#head);
    this.#scanner = new BodyScanner(keys, limits.bodyDepth, partKeys);
    if (bodyLength > DIRECT_BYTES) this.#scanInSlices(this.#body, this.#scanner, 0);
  }

  #scanInSlices(body: BodyBuffer, scanner: BodyScanner, at: number): void {
    this.#slices = new SlicedScan(body, scanner, at, this.#plane.scanTurns, this);
  }

  #respondWithoutParser(): void {
    if (this.#path.startsWith("/v1/messages")) this.#dialect = "anthropic";
    const status = respondLocally(this.#head, this.#path, this.#config, this.#plane, this.#response, this.#id);
    if (status === 0) throw noSuchRoute(this.#path, this.#config);
    this.#report(this.#close(), { ending: "complete", status }, undefined);
  }

  #runPipeline(): void {
    const parser = this.#parser;
    const body = this.#body;
    if (parser === undefined || body === undefined) return;
    this.#scanner?.finish(body.storage, body.length);
    const incoming = {
      id: this.#id,
      headAtMs: this.#startedAtMs,
      head: this.#head,
      method: this.#head.method,
      path: this.#path,
      query: this.#query,
      peer: this.#peer,
      parser,
      buffer: body,
      body: new JsonBody(body.storage, body.length, this.#scanner ?? NO_KEYS),
      trace: this.#trace,
    };
    this.#run = new PipelineRun(incoming, this.#config, this.#plane, this.#response, this);
    this.#run.begin();
  }

  /** Ends the pipeline's work. Releases the body's memory if it is certain that nothing reads it any more. */
  #close(): Delivery {
    this.#isOver = true;
    this.#slices?.close();
    this.#clients?.leave(this.#peer);
    const delivery = this.#run?.close() ?? NOT_DELIVERED;
    if (this.#run !== undefined) forgetBody(this.#run.request);
    if (delivery.isBodyFree) this.#body?.release();
    else this.#body?.abandon();
    return delivery;
  }

  /** Sends an error response. If a response has begun, aborts it so that no client can take it for complete. */
  #respondWithError(error: RouterError, delivery: Delivery): End {
    if (!this.#response.hasStarted) {
      respondWithError(this.#response, error, this.#dialect, this.#id, corsLines(this.#head, this.#config.settings.cors));
      return { ending: "complete", status: error.status };
    }
    const { cut } = delivery;
    this.#response.abort(cut === undefined ? "" : lastWords(error, this.#dialect, this.#id, cut));
    return { ending: "broken", status: delivery.status };
  }

  #report(delivery: Delivery, end: End, error: RouterError | undefined): void {
    const { log, pluginFaults, figures } = this.#plane;
    for (const { plugin, message } of this.#run?.decision?.faults ?? []) pluginFaults.report(plugin, message);
    if (error?.fault !== undefined) pluginFaults.report(error.fault.plugin, error.fault.text);
    else if (error?.cause !== undefined)
      log.error("A request failed inside the router", { id: this.#id, cause: thrownText(error.cause) });
    const nowMs = this.#plane.clock.now();
    const outcome = this.#outcome(delivery, end, error, nowMs);
    figures.ended(outcome, nowMs);
    const isProbe = this.#run === undefined && error === undefined && isProbePath(this.#path);
    if (!isProbe) tellObservers(this.#config.observers, outcome, log);
    this.#plane.giveBack(this.#config);
  }

  #outcome(delivery: Delivery, end: End, error: RouterError | undefined, nowMs: number): Outcome {
    const known = {
      id: this.#id,
      api: this.#parser?.type ?? "",
      method: this.#head.method,
      path: this.#path,
      headAtMs: this.#startedAtMs,
      bodyEndedAtMs: this.#bodyEndedAtMs,
      requestBytes: this.#bodyBytes,
      run: this.#run,
      trace: this.#trace,
    };
    return outcomeOf(known, delivery, end, error, nowMs, this.#plane.clock.wall());
  }
}

/** Outcomes outlive requests, but bodies must not: their memory is used again. */
function forgetBody(request: InferenceRequest): void {
  (request as { body: Uint8Array }).body = NO_BODY;
}
