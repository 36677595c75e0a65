import { type IncomingMessage, request as requestPlain } from "node:http";
import { request as requestTls } from "node:https";
import { isMapping } from "../../config/read/problems.ts";
import type { Clock } from "../contract/clock.ts";
import { printable } from "../contract/printable.ts";
import { thrownMessage } from "../contract/thrown-text.ts";
import type { Credentials, Identity } from "./identity.ts";
import { KubernetesError } from "./kubernetes-error.ts";

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

/** Speaks to one API server. Each request has a connection of its own: there are few of them, and none is lost to one that went stale. */
export class KubernetesClient {
  readonly credentials: Credentials;
  readonly #clock: Pick<Clock, "after">;

  constructor(credentials: Credentials, clock: Pick<Clock, "after">) {
    this.credentials = credentials;
    this.#clock = clock;
  }

  /** Resolves to the document of the response. Rejects with a KubernetesError. */
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

  /** Sends a GET and hands on its response as it comes, however long that takes. Rejects with a KubernetesError. */
  stream(path: string, { signal, begun, bytes }: StreamOptions): Promise<void> {
    return this.#exchange({ method: "GET", path, body: undefined, contentType: "", signal, isStream: true, begun, bytes });
  }

  /** Once more with other credentials where the first ones are refused: they may have been renewed in the meantime. */
  async #exchange(exchange: Exchange): Promise<void> {
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
      throw new KubernetesError(0, "", thrownMessage(thrown), thrown);
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
    const end = (error?: KubernetesError) => {
      stopTimer();
      signal?.removeEventListener("abort", abort);
      request.destroy();
      if (error === undefined) resolve();
      else reject(error);
    };
    const abort = () => end(stopped());
    const stopTimer = this.#clock.after(LONGEST_MS, () => end(failed(server, `nothing for ${LONGEST_MS / 1000} s`)));
    signal?.addEventListener("abort", abort);
    request.on("error", (error) => end(failed(server, thrownMessage(error), error)));
    request.on("response", (response: IncomingMessage) => {
      const status = response.statusCode ?? 0;
      const isGood = status >= 200 && status < 300;
      const complaint: Uint8Array[] = [];
      if (isGood && isStream) stopTimer();
      const take = (chunk: Uint8Array) => {
        if (isGood) exchange.bytes(chunk);
        else if (lengthOf(complaint) < MOST_ERROR_BYTES) complaint.push(chunk);
      };
      const guarded = (run: () => void) => {
        try {
          run();
        } catch (thrown) {
          end(thrown instanceof KubernetesError ? thrown : new KubernetesError(0, "", thrownMessage(thrown), thrown));
        }
      };
      if (isGood) guarded(() => exchange.begun());
      response.on("data", (chunk: Uint8Array) => guarded(() => take(chunk)));
      response.on("error", (error) => end(failed(server, thrownMessage(error), error)));
      response.on("end", () => end(isGood ? undefined : refused(`${method} ${path}`, status, complaint)));
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

function failed({ host }: URL, why: string, cause?: unknown): KubernetesError {
  const isTrust = /certificate|self.signed|issuer|altname/i.test(why);
  const hint = isTrust ? " Give the authority that has signed its certificate: certificate-authority in the kubeconfig." : "";
  return new KubernetesError(0, "", `The Kubernetes API at ${host} gives no response: ${printable(why)}.${hint}`, cause);
}

/** What an error's response says: a Status document, or what a proxy in between wrote. */
function refused(asked: string, status: number, complaint: readonly Uint8Array[]): KubernetesError {
  const text = Buffer.concat(complaint).toString("utf8");
  const { reason, message } = statusOf(text);
  const said = printable(message.slice(0, MOST_SHOWN));
  const hint = status === 401 ? " Its credentials are not accepted." : status === 403 ? " Its role has to allow that." : "";
  return new KubernetesError(
    status,
    reason,
    `The Kubernetes API refuses ${asked} with status ${status}${said && `: ${said}`}.${hint}`,
  );
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
