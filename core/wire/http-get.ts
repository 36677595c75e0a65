import { systemClock } from "../contract/clock.ts";
import type { EndpointUrl } from "../contract/endpoint.ts";
import { afterAwake } from "../contract/standstill.ts";
import { GetError } from "./get-error.ts";
import type { Exchange, GetOptions, GetResult, SendOptions, SentRequest } from "./http-get-result.ts";
import { openSocket } from "./open-socket.ts";
import { ResponseDecoder, type ResponseSink } from "./response-decoder.ts";
import { tlsFailure } from "./tls-failures.ts";

/** Sends one GET on a connection of its own, for probes and sources. Follows no redirect. Rejects with a GetError. */
export function httpGet(url: EndpointUrl, path: string, options: GetOptions): Promise<GetResult> {
  return httpSend(url, path, { ...options, method: "GET", body: undefined });
}

/** Like httpGet, with any method but HEAD and CONNECT, and perhaps a JSON body. */
export async function httpSend(url: EndpointUrl, path: string, options: SendOptions): Promise<GetResult> {
  const { maxBytes, timeoutMs: limitMs } = options;
  const tooLarge = () => new GetError("too-large", `The response is longer than ${maxBytes} bytes`);
  const parts: Buffer[] = [];
  let bytes = 0;
  let status = 0;
  const sink: ResponseSink = {
    head(head, { kind, length }) {
      status = head.status;
      if (kind === "length" && length > maxBytes) throw tooLarge();
    },
    body(chunk, spans, spanCount) {
      for (let i = 0; i < spanCount; i++) {
        const part = chunk.subarray(spans[2 * i], spans[2 * i + 1]);
        bytes += part.length;
        if (bytes > maxBytes) throw tooLarge();
        parts.push(Buffer.from(part));
      }
    },
  };
  await exchange(url, path, { ...options, limitMs, isStream: false }, sink);
  return { status, body: Buffer.concat(parts).toString("utf8") };
}

/** One request on a connection of its own; `sink` gets the response. */
export function exchange(url: EndpointUrl, path: string, options: Exchange, sink: ResponseSink): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = requestText(url, path, options);
    const { method, body, signal, limitMs, isStream } = options;
    if (signal?.aborted) throw stopped();
    const decoder = new ResponseDecoder(sink);
    decoder.begin(method);
    let isConnected = false;
    const socket = openSocket(
      url,
      () => {
        isConnected = true;
        socket.write(request, "latin1");
        if (body !== undefined) socket.write(body, "utf8");
      },
      (chunk) => {
        if (isStream) awaitBytes();
        try {
          decoder.push(chunk);
        } catch (thrown) {
          const message = isStream ? "The response can't be read" : "The response is not valid HTTP/1.1";
          return fail(thrown instanceof GetError ? thrown : new GetError("invalid", message, thrown));
        }
        if (decoder.isDone) finish();
      },
      { tls: options.tls },
    );
    let cancelLimit = () => {};
    const awaitBytes = () => {
      cancelLimit();
      const message = isStream ? "Nothing came for too long" : "The response took too long";
      cancelLimit = afterAwake(systemClock, limitMs, () => fail(new GetError("timeout", message)));
    };
    const abort = () => fail(stopped());
    const settle = () => {
      cancelLimit();
      signal?.removeEventListener("abort", abort);
      socket.destroy();
    };
    const finish = () => {
      settle();
      resolve();
    };
    const fail = (error: GetError) => {
      settle();
      reject(error);
    };

    awaitBytes();
    signal?.addEventListener("abort", abort);
    socket.once("end", () => (decoder.isEndedByClose ? finish() : fail(early())));
    socket.on("error", (error) => fail(socketError(error, isConnected)));
    socket.once("close", () => fail(early()));
  });
}

const stopped = () => new GetError("reset", "The exchange was broken off");
const early = () => new GetError("reset", "The connection ended before the response was complete");

/** The bytes of a request; its body, if there is one, follows them. Throws GetError for a path or a header that can't be sent. */
function requestText(url: EndpointUrl, path: string, { method, body, headers = {} }: SentRequest): string {
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
function socketError(error: Error & { readonly code?: string; readonly syscall?: string }, isConnected: boolean): GetError {
  const code = error.code ?? "";
  const failure = tlsFailure(error);
  if (failure !== undefined) return new GetError(failure, `The connection could not be made safe: ${failure}`, error);
  if (isConnected || code === "ECONNRESET") return new GetError("reset", "The connection broke", error);
  if (code === "ECONNREFUSED") return new GetError("refused", "Nobody listens at this address", error);
  if (code === "ETIMEDOUT") return new GetError("timeout", "The connection could not be opened in time", error);
  if (code === "EAI_AGAIN") return new GetError("name lookup failed", "The host's name can't be looked up", error);
  if (error.syscall === "getaddrinfo") return new GetError("no such host", "There is no host of this name", error);
  if (UNREACHABLE.has(code)) return new GetError("unreachable", "The host can't be reached", error);
  return new GetError("invalid", "The connection could not be opened", error);
}

const UNREACHABLE: ReadonlySet<string> = new Set(["EHOSTUNREACH", "ENETUNREACH", "EHOSTDOWN"]);
