import type { EndpointUrl } from "../contract/endpoint.ts";
import type { Framing } from "./framing.ts";
import type { Head } from "./head.ts";
import { GetError, type GetResult } from "./http-get-result.ts";
import { openSocket } from "./open-socket.ts";
import { ResponseDecoder } from "./response-decoder.ts";

export interface SendOptions extends GetOptions {
  /** In upper case. */
  readonly method: string;
  /** JSON text; undefined for no body. */
  readonly body: string | undefined;
}

export interface GetOptions {
  /** Limit for the whole exchange, connecting included. */
  readonly timeoutMs: number;
  /** Longest body that is accepted. */
  readonly maxBytes: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Aborting it rejects with a GetError at once. */
  readonly signal?: AbortSignal;
}

/** Sends one GET on a connection of its own, for probes and sources. Follows no redirect. Rejects with a GetError. */
export function httpGet(url: EndpointUrl, path: string, options: GetOptions): Promise<GetResult> {
  return httpSend(url, path, { ...options, method: "GET", body: undefined });
}

/** Like httpGet, with any method but HEAD and CONNECT, and perhaps a JSON body. */
export function httpSend(url: EndpointUrl, path: string, options: SendOptions): Promise<GetResult> {
  return new Promise((resolve, reject) => {
    const request = requestText(url, path, options);
    const { signal } = options;
    if (signal?.aborted) throw stopped();
    const reader = new BodyReader(options.method, options.maxBytes);
    let isConnected = false;
    const socket = openSocket(
      url,
      () => {
        isConnected = true;
        socket.write(request, "latin1");
        if (options.body !== undefined) socket.write(options.body, "utf8");
      },
      (chunk) => attempt(() => reader.push(chunk)),
    );
    const timer = setTimeout(() => fail(new GetError("timeout", "The response took too long")), options.timeoutMs);
    const abort = () => fail(stopped());

    const settle = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
      socket.destroy();
    };
    const fail = (error: GetError) => {
      settle();
      reject(error);
    };
    const finish = () => {
      settle();
      resolve(reader.result());
    };
    const attempt = (read: () => boolean) => {
      try {
        if (read()) finish();
      } catch (thrown) {
        fail(thrown instanceof GetError ? thrown : new GetError("invalid", "The response is not valid HTTP/1.1", thrown));
      }
    };

    signal?.addEventListener("abort", abort);
    socket.once("end", () => attempt(() => reader.ended()));
    socket.on("error", (error) => fail(socketError(error, isConnected)));
    socket.once("close", () => fail(new GetError("reset", "The connection was closed before the response was complete")));
  });
}

const stopped = () => new GetError("reset", "The exchange was broken off");

/** Gathers one response; `push` and `ended` return whether it is complete and throw a GetError or a WireError if it can't be. */
class BodyReader {
  readonly #maxBytes: number;
  readonly #parts: Buffer[] = [];
  readonly #decoder = new ResponseDecoder({
    head: (head, framing) => this.#head(head, framing),
    body: (chunk, spans, spanCount) => {
      for (let i = 0; i < spanCount; i++) this.#keep(chunk.subarray(spans[2 * i], spans[2 * i + 1]));
    },
  });
  #bytes = 0;
  #status = 0;

  constructor(method: string, maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#decoder.begin(method);
  }

  result(): GetResult {
    return { status: this.#status, body: Buffer.concat(this.#parts).toString("utf8") };
  }

  push(chunk: Buffer): boolean {
    this.#decoder.push(chunk);
    return this.#decoder.isDone;
  }

  /** The replica sends nothing more. */
  ended(): boolean {
    if (this.#decoder.isEndedByClose) return true;
    throw new GetError("reset", "The connection ended before the response was complete");
  }

  #head({ status }: Head, { kind, length }: Framing): void {
    this.#status = status;
    if (kind === "length" && length > this.#maxBytes) throw this.#tooLarge();
  }

  #keep(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#bytes > this.#maxBytes) throw this.#tooLarge();
    this.#parts.push(Buffer.from(part));
  }

  #tooLarge(): GetError {
    return new GetError("too-large", `The response is longer than ${this.#maxBytes} bytes`);
  }
}

/** The bytes of a request; its body, if there is one, follows them. Throws GetError for a path or a header that can't be sent. */
export function requestText(
  url: EndpointUrl,
  path: string,
  { method, body, headers = {} }: Pick<SendOptions, "method" | "body" | "headers">,
): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const all = [
    `${method} ${url.basePath}${path} HTTP/1.1`,
    `host: ${url.hostHeader}`,
    "accept: */*",
    "accept-encoding: identity",
    "connection: close",
    ...(body === undefined ? [] : ["content-type: application/json", `content-length: ${Buffer.byteLength(body)}`]),
    ...lines,
  ];
  // Paths and headers come from the config; a line break in one would begin another request.
  if (/\s/.test(path) || all.some((line) => /[\r\n]/.test(line)))
    throw new GetError("invalid", "A probe's path or header holds a space or a line break: remove it");
  return `${all.join("\r\n")}\r\n\r\n`;
}

/** Why a connection failed. */
export function socketError(error: Error & { readonly code?: string }, isConnected: boolean): GetError {
  const code = error.code ?? "";
  if (isConnected || code === "ECONNRESET") return new GetError("reset", "The connection broke", error);
  if (code === "ECONNREFUSED") return new GetError("refused", "Nobody listens at this address", error);
  if (code === "ETIMEDOUT") return new GetError("timeout", "The connection could not be opened in time", error);
  if (UNREACHABLE.has(code)) return new GetError("unreachable", "The host can't be found or reached", error);
  return new GetError("invalid", "The connection could not be opened", error);
}

const UNREACHABLE: ReadonlySet<string> = new Set([
  "ENOTFOUND",
  "EAI_AGAIN",
  "EAI_FAIL",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EHOSTDOWN",
]);
