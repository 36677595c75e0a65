import type { Named, Snapshot } from "../active-config.ts";
import { JsonBody, type KeySpans } from "../body/json-body.ts";
import { BodyBuffer } from "../body/receive.ts";
import { BodyScanner } from "../body/scan.ts";
import type { Decision, RequestRecord } from "../contract/decision.ts";
import { asRouterError, type Dialect, RouterError } from "../contract/errors.ts";
import type { Parser } from "../contract/plugin.ts";
import { forgetBody } from "../contract/request.ts";
import type { DataPlane } from "../data-plane.ts";
import { respondWithError } from "../errors/error-response.ts";
import { stopping } from "../errors/upstream-errors.ts";
import { refusalOf } from "../errors/wire-errors.ts";
import { type Routed, route } from "../pipeline.ts";
import type { Ending } from "../stages/forward.ts";
import type { Head } from "../wire/head.ts";
import { HEADER } from "../wire/header-names.ts";
import { splitTarget } from "../wire/target.ts";
import { WireError } from "../wire/wire-error.ts";
import { answerLocally, LOCAL_PATHS } from "./local-routes.ts";
import type { RequestReceiver, RequestStarter } from "./request-receiver.ts";
import type { ResponseWriter } from "./response-writer.ts";

/** Takes requests in for a data plane: whatever happens to one, it ends in exactly one record. */
export function intake(plane: DataPlane): RequestStarter {
  return (head, bodyLength, response, peer) => {
    const taken = new RequestIntake(plane, head, response, peer);
    taken.begin(bodyLength);
    return taken;
  };
}

/** A request id from outside is used only if it can't hurt a log or a header. */
const SAFE_ID = /^[A-Za-z0-9._-]{1,64}$/;
const NO_KEYS: KeySpans = { spanOf: () => undefined };

/** One request from its head to its record: checks the head, gathers and scans the body, then hands it to the pipeline. */
class RequestIntake implements RequestReceiver {
  readonly #plane: DataPlane;
  readonly #snapshot: Snapshot;
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
  #bodyEndedAtMs = Number.NaN;
  #routed: Routed | undefined;
  #isOver = false;

  constructor(plane: DataPlane, head: Head, response: ResponseWriter, peer: string) {
    this.#plane = plane;
    this.#snapshot = plane.snapshot;
    this.#head = head;
    this.#response = response;
    this.#peer = peer;
    const asked = head.get("x-request-id");
    this.#id = asked !== undefined && SAFE_ID.test(asked) ? asked : plane.nextRequestId();
    this.#startedAtMs = plane.clock.now();
  }

  begin(bodyLength: number): void {
    this.#guard(() => this.#checkHead(bodyLength));
  }

  body(chunk: Uint8Array, start: number, end: number): void {
    if (this.#isOver) return;
    try {
      this.#take(chunk, start, end);
    } catch (thrown) {
      this.#failed(thrown);
    }
  }

  bodyEnd(): void {
    if (this.#isOver) return;
    this.#bodyEndedAtMs = this.#plane.clock.now();
    this.#guard(() => this.#route());
  }

  refuse(error: RouterError): void {
    this.#refuse(error);
  }

  clientGone(): void {
    if (this.#isOver) return;
    if (this.#routed?.forwarding !== undefined) this.#routed.forwarding.clientGone();
    else this.#finish("client-left", 0, "");
  }

  drained(): void {
    this.#routed?.forwarding?.drained();
  }

  stop(): void {
    if (this.#isOver) return;
    if (this.#routed?.forwarding !== undefined) this.#routed.forwarding.stop();
    else this.#refuse(stopping());
  }

  #checkHead(bodyLength: number): void {
    const { method, target } = this.#head;
    const { path, query } = splitTarget(target);
    this.#path = path;
    this.#query = query;
    this.#parser = this.#snapshot.routes.get(path)?.get(method);
    if (this.#parser === undefined) return this.#answerWithoutParser();
    this.#dialect = this.#parser.plugin.dialect;
    const { limits } = this.#snapshot.settings;
    this.#body = new BodyBuffer(bodyLength, limits.bodyBytes);
    if (this.#parser.plugin.keys.length > 0) {
      checkContentType(this.#head);
      this.#scanner = new BodyScanner(this.#parser.plugin.keys, limits.bodyDepth);
    }
  }

  #answerWithoutParser(): void {
    const { method } = this.#head;
    if (this.#path.startsWith("/v1/messages")) this.#dialect = "anthropic";
    const status = answerLocally(method, this.#path, this.#snapshot, this.#response, this.#id);
    if (status > 0) return this.#finish("complete", status, "");
    const allowed = allowedMethods(this.#path, this.#snapshot);
    if (allowed === "")
      throw new RouterError("unknown_path", `This router does not serve that path; it serves ${servedPaths(this.#snapshot)}.`);
    throw new RouterError("method_not_allowed", `Use ${allowed} for this path.`, { allow: allowed });
  }

  #take(chunk: Uint8Array, start: number, end: number): void {
    const body = this.#body;
    if (body === undefined) return;
    body.append(chunk, start, end);
    this.#bodyBytes = body.length;
    this.#scanner?.push(body.storage, body.length);
  }

  #route(): void {
    const parser = this.#parser;
    const body = this.#body;
    if (parser === undefined || body === undefined) return;
    this.#scanner?.finish(body.storage, body.length);
    const incoming = {
      id: this.#id,
      head: this.#head,
      method: this.#head.method,
      path: this.#path,
      query: this.#query,
      peer: this.#peer,
      parser,
      body: new JsonBody(body.storage, body.length, this.#scanner ?? NO_KEYS),
    };
    this.#routed = route(incoming, this.#snapshot, this.#plane, this.#response, (ending) => this.#forwardEnded(ending));
    const { decision, forwarding } = this.#routed;
    this.#logFaults(decision);
    if (decision.refusal !== undefined) this.#refuse(decision.refusal);
    else forwarding?.begin();
  }

  #forwardEnded(ending: Ending): void {
    const status = this.#routed?.forwarding?.status ?? 0;
    if (typeof ending === "string") this.#finish(ending, status, ending === "broken" ? "upstream_reset" : "");
    else this.#refuse(ending);
  }

  #logFaults({ faults }: Decision): void {
    for (const { plugin, message } of faults) this.#plane.log.warn("A plugin broke its contract", { plugin, fault: message });
  }

  #guard(step: () => void): void {
    try {
      step();
    } catch (thrown) {
      this.#failed(thrown);
    }
  }

  #failed(thrown: unknown): void {
    const error = thrown instanceof WireError ? refusalOf(thrown) : asRouterError(thrown);
    if (error.cause !== undefined)
      this.#plane.log.error("A request failed inside the router", { id: this.#id, cause: String(error.cause) });
    this.#refuse(error);
  }

  #refuse(error: RouterError): void {
    if (this.#isOver) return;
    respondWithError(this.#response, error, this.#dialect, this.#id);
    this.#finish("complete", error.status, error.code);
  }

  #finish(ending: RequestRecord["ending"], status: number, errorCode: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#releaseBody();
    const { observers } = this.#snapshot;
    if (observers.length === 0) return;
    const record = this.#record(ending, status, errorCode);
    for (const { name, plugin } of observers) {
      try {
        plugin.finished(record);
      } catch (thrown) {
        this.#plane.log.warn("An observer failed", { plugin: name, fault: String(thrown) });
      }
    }
  }

  /** Records outlive requests; bodies must not, and their memory serves the next one. */
  #releaseBody(): void {
    const request = this.#routed?.request;
    if (request !== undefined) forgetBody(request);
    const forwarding = this.#routed?.forwarding;
    if (forwarding === undefined || forwarding.isBodyFree) this.#body?.release();
  }

  #record(ending: RequestRecord["ending"], status: number, errorCode: string): RequestRecord {
    const { clock } = this.#plane;
    const forwarding = this.#routed?.forwarding;
    return {
      request: this.#routed?.request,
      decision: this.#routed?.decision,
      attempts: forwarding?.attempts ?? [],
      id: this.#id,
      api: this.#parser?.type ?? "",
      method: this.#head.method,
      path: this.#path,
      status,
      errorCode,
      ending,
      wallMs: clock.wall(),
      durationMs: clock.now() - this.#startedAtMs,
      firstByteMs: (forwarding?.firstByteAtMs ?? Number.NaN) - this.#bodyEndedAtMs,
      requestBytes: this.#bodyBytes,
      responseBytes: forwarding?.responseBytes ?? 0,
      usage: forwarding?.usage,
      predictedTokens: forwarding?.predictedTokens,
    };
  }
}

function checkContentType(head: Head): void {
  const isJson =
    head.has(HEADER["content-type"], "application/json") || /^application\/json\s*(;|$)/i.test(head.get("content-type") ?? "");
  if (!isJson) {
    throw new RouterError("unsupported_media_type", "Send the body as JSON with the header Content-Type: application/json.");
  }
  const encoding = head.get("content-encoding")?.toLowerCase() ?? "identity";
  if (encoding !== "identity") {
    throw new RouterError(
      "unsupported_media_type",
      "Send the body without Content-Encoding: compressed requests are not supported.",
    );
  }
}

function allowedMethods(path: string, snapshot: Snapshot): string {
  const local = LOCAL_PATHS.includes(path) ? ["GET", "HEAD"] : [];
  return [...local, ...(snapshot.routes.get(path)?.keys() ?? [])].join(", ");
}

function servedPaths(snapshot: Snapshot): string {
  const parsed = [...snapshot.routes].flatMap(([path, methods]) => [...methods.keys()].map((method) => `${method} ${path}`));
  return [...parsed, ...LOCAL_PATHS.map((path) => `GET ${path}`)].join(", ");
}
