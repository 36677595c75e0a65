import { type IncomingMessage, request as requestPlain } from "node:http";
import { request as requestTls } from "node:https";
import { isMapping } from "../../config/read/problems.ts";
import type { Clock } from "../../core/contract/clock.ts";
import type { Log } from "../../core/contract/log.ts";
import { printable } from "../../core/contract/printable.ts";
import type { Random } from "../../core/contract/profile-plugin.ts";
import { afterAwake } from "../../core/contract/standstill.ts";
import { thrownMessage } from "../../core/contract/thrown-text.ts";
import type { Credentials, Identity } from "./identity.ts";
import { type FailureFacts, KubernetesError } from "./kubernetes-error.ts";
import { Outage } from "./outage.ts";

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface RequestOptions {
  /** A document that is sent as JSON. */
  readonly body?: unknown;
  /** Its type; patches have types of their own. */
  readonly contentType?: string;
  /** Aborting it rejects at once. */
  readonly signal?: AbortSignal;
}

export interface StreamOptions {
  readonly signal: AbortSignal;
  /** The response has begun, and is a good one. */
  begun(): void;
  /** Called with bytes of the body as they come. What it throws ends the exchange. */
  bytes(chunk: Uint8Array): void;
}

/** For a whole response; for a stream, until it begins. */
const LONGEST_MS = 30_000;
/** For a connection: a machine that is gone answers nothing, and the system itself would try for minutes. */
const CONNECT_MS = 3_000;
const MOST_BYTES = 32 * 1024 * 1024;
/** Of a response that is an error. */
const MOST_ERROR_BYTES = 64 * 1024;
const MOST_SHOWN = 300;

interface Exchange {
  readonly method: Method;
  readonly path: string;
  readonly body: string | undefined;
  readonly contentType: string;
  readonly signal: AbortSignal | undefined;
  readonly isStream: boolean;
  begun(): void;
  bytes(chunk: Uint8Array): void;
}

/** An API server, as those that read and write its objects use it. */
export interface KubernetesApi {
  /** Resolves to the document of the response. Rejects with a KubernetesError. */
  request(method: Method, path: string, options?: RequestOptions): Promise<unknown>;
  /** Sends a GET and hands on its response as it comes, however long that takes. Rejects with a KubernetesError. */
  stream(path: string, options: StreamOptions): Promise<void>;
}

/** What it takes to keep up with a cluster: its server, when to ask again, and where to say that it does not answer. */
export interface ClusterAccess {
  readonly client: KubernetesApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** Speaks to one API server. Each request has a connection of its own: there are few of them, and none is lost to one that went stale. */
export class KubernetesClient implements KubernetesApi {
  readonly credentials: Credentials;
  readonly #clock: Clock;
  readonly #outage: Outage;

  constructor(credentials: Credentials, clock: Clock, random: Random) {
    this.credentials = credentials;
    this.#clock = clock;
    const asked = { method: "GET", path: "/readyz", body: undefined, contentType: "", isStream: false } as const;
    this.#outage = new Outage((signal) => this.#try({ ...asked, signal, begun() {}, bytes() {} }), clock, random);
  }

  async request(method: Method, path: string, options: RequestOptions = {}): Promise<unknown> {
    const { body, contentType = "application/json", signal } = options;
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    await this.#exchange({
      method,
      path,
      body: body === undefined ? undefined : JSON.stringify(body),
      contentType,
      signal,
      isStream: false,
      begun() {
        chunks.length = 0;
        bytes = 0;
      },
      bytes(chunk) {
        bytes += chunk.length;
        if (bytes > MOST_BYTES)
          throw new KubernetesError(0, "", `The response to ${method} ${path} has more than ${MOST_BYTES} bytes.`);
        chunks.push(chunk);
      },
    });
    return parsed(Buffer.concat(chunks).toString("utf8"), `${method} ${path}`);
  }

  stream(path: string, { signal, begun, bytes }: StreamOptions): Promise<void> {
    return this.#exchange({ method: "GET", path, body: undefined, contentType: "", signal, isStream: true, begun, bytes });
  }

  /** Once more with other credentials where the first ones are refused: they may have been renewed in the meantime. */
  async #exchange(exchange: Exchange): Promise<void> {
    await this.#outage.over(exchange.signal);
    try {
      await this.#try(exchange);
    } catch (thrown) {
      const isRefused = thrown instanceof KubernetesError && thrown.status === 401;
      if (!isRefused || !this.credentials.forget()) throw thrown;
      await this.#try(exchange);
    }
  }

  async #try(exchange: Exchange): Promise<void> {
    let identity: Identity;
    try {
      identity = await this.credentials.identity();
    } catch (thrown) {
      throw new KubernetesError(0, "", thrownMessage(thrown), { cause: thrown });
    }
    await new Promise<void>((resolve, reject) => this.#send(exchange, identity, resolve, reject));
  }

  #send(exchange: Exchange, identity: Identity, resolve: () => void, reject: (error: KubernetesError) => void): void {
    const { method, path, body, signal, isStream } = exchange;
    if (signal?.aborted) return reject(stopped());
    const { server } = this.credentials;
    const open = server.protocol === "https:" ? requestTls : requestPlain;
    const request = open({
      method,
      host: server.hostname.replace(/^\[|\]$/g, ""),
      port: server.port || (server.protocol === "https:" ? 443 : 80),
      path: `${server.pathname.replace(/\/+$/, "")}${path}`,
      headers: headersOf(exchange, identity),
      agent: false,
      ...this.#tls(identity),
    });
    let isConnected = false;
    let stopTimer = () => {};
    let isOver = false;
    const end = (error?: KubernetesError) => {
      if (isOver) return;
      isOver = true;
      stopTimer();
      if (error?.isSilence) this.#outage.begin();
      signal?.removeEventListener("abort", abort);
      request.destroy();
      if (error === undefined) resolve();
      else reject(error);
    };
    const giveUpAfter = (ms: number, what: string) => {
      stopTimer();
      const why = `${what} for ${ms / 1000} s`;
      stopTimer = afterAwake(this.#clock, ms, () => end(failed(server, why, { isUnconnected: !isConnected })));
    };
    const abort = () => end(stopped());
    giveUpAfter(CONNECT_MS, "no connection");
    signal?.addEventListener("abort", abort);
    request.on("socket", (socket) => {
      socket.once("connect", () => {
        if (isOver) return;
        isConnected = true;
        giveUpAfter(LONGEST_MS, "nothing");
      });
    });
    request.on("error", (error) => end(failed(server, thrownMessage(error), { cause: error, isUnconnected: !isConnected })));
    request.on("response", (response: IncomingMessage) => {
      const status = response.statusCode ?? 0;
      const isGood = status >= 200 && status < 300;
      const complaint: Uint8Array[] = [];
      if (isGood && isStream) stopTimer();
      const take = (chunk: Uint8Array) => {
        if (isGood) exchange.bytes(chunk);
        else if (lengthOf(complaint) < MOST_ERROR_BYTES) complaint.push(chunk);
      };
      const caught = (run: () => void) => {
        try {
          run();
        } catch (thrown) {
          end(thrown instanceof KubernetesError ? thrown : new KubernetesError(0, "", thrownMessage(thrown), { cause: thrown }));
        }
      };
      if (isGood) caught(() => exchange.begun());
      response.on("data", (chunk: Uint8Array) => caught(() => take(chunk)));
      response.on("error", (cause) => end(failed(server, thrownMessage(cause), { cause })));
      const asked = response.headers["retry-after"];
      response.on("end", () => end(isGood ? undefined : refused(`${method} ${path}`, status, complaint, asked)));
      response.on("close", () => end(failed(server, "the connection ended early")));
    });
    request.end(body);
  }

  #tls({ ca, certificate }: Identity): Readonly<Record<string, unknown>> {
    const { server, serverName, isVerified } = this.credentials;
    if (server.protocol !== "https:") return {};
    return {
      rejectUnauthorized: isVerified,
      ...(ca !== undefined && { ca }),
      ...(serverName !== "" && { servername: serverName }),
      ...(certificate !== undefined && { cert: certificate.chain, key: certificate.key.reveal() }),
    };
  }
}

function headersOf({ body, contentType }: Exchange, { token }: Identity): Readonly<Record<string, string>> {
  return {
    accept: "application/json",
    "user-agent": "signalbox",
    ...(token !== undefined && { authorization: `Bearer ${token.reveal()}` }),
    ...(body !== undefined && { "content-type": contentType, "content-length": String(Buffer.byteLength(body)) }),
  };
}

const stopped = () => new KubernetesError(0, "", "The exchange was broken off.");
const lengthOf = (chunks: readonly Uint8Array[]) => chunks.reduce((sum, { length }) => sum + length, 0);

function failed({ host }: URL, why: string, facts: FailureFacts = {}): KubernetesError {
  const isTrust = /certificate|self.signed|issuer|altname/i.test(why);
  const hint = isTrust ? " Give the authority that has signed its certificate: certificate-authority in the kubeconfig." : "";
  return new KubernetesError(0, "", `The Kubernetes API at ${host} gives no response: ${printable(why)}.${hint}`, {
    isSilence: !isTrust,
    ...facts,
  });
}

/** What an error's response says: a Status document, or what a proxy in between wrote. */
function refused(
  asked: string,
  status: number,
  complaint: readonly Uint8Array[],
  retryAfter: string | undefined,
): KubernetesError {
  const text = Buffer.concat(complaint).toString("utf8");
  const { reason, message } = statusOf(text);
  const said = printable(message.slice(0, MOST_SHOWN));
  const hint = status === 401 ? " Its credentials are not accepted." : status === 403 ? " Its role has to allow that." : "";
  return new KubernetesError(
    status,
    reason,
    `The Kubernetes API refuses ${asked} with status ${status}${said && `: ${said}`}.${hint}`,
    { retryAfterMs: secondsIn(retryAfter) },
  );
}

/** Retry-After in milliseconds; a date counts as none. */
function secondsIn(text = ""): number | undefined {
  return /^\d{1,9}$/.test(text) ? Number(text) * 1000 : undefined;
}

function statusOf(text: string): { readonly reason: string; readonly message: string } {
  try {
    const document: unknown = JSON.parse(text);
    if (isMapping(document)) return { reason: String(document["reason"] ?? ""), message: String(document["message"] ?? "") };
  } catch {
    // A proxy's page, or an error in plain text.
  }
  return { reason: "", message: text.trim() };
}

function parsed(text: string, asked: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new KubernetesError(0, "", `The response to ${asked} is not JSON.`);
  }
}
