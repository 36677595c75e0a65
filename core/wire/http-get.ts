import type { EndpointUrl } from "../contract/endpoint.ts";
import { ChunkedDecoder } from "./chunked.ts";
import { type Framing, responseFraming } from "./framing.ts";
import { type Head, HeadParser } from "./head.ts";
import { GetError, type GetResult } from "./http-get-result.ts";
import { openSocket } from "./open-socket.ts";

export interface GetOptions {
  /** For the whole exchange, connecting included. */
  readonly timeoutMs: number;
  /** Largest body. */
  readonly maxBytes: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Ends the exchange at once. */
  readonly signal?: AbortSignal;
}

/** One GET on its own connection, for probes and sources. Rejects with a GetError; follows no redirect. */
export function httpGet(url: EndpointUrl, path: string, options: GetOptions): Promise<GetResult> {
  return new Promise((resolve, reject) => {
    const request = requestText(url, path, options.headers ?? {});
    const { signal } = options;
    if (signal?.aborted) throw stopped();
    const reader = new PageReader(options.maxBytes);
    let isConnected = false;
    const socket = openSocket(
      url,
      () => {
        isConnected = true;
        socket.write(request, "latin1");
      },
      (chunk) => attempt(() => reader.push(chunk)),
    );
    const timer = setTimeout(() => fail(new GetError("timeout", "The answer took too long")), options.timeoutMs);
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
        fail(thrown instanceof GetError ? thrown : new GetError("invalid", "The answer is not valid HTTP/1.1", thrown));
      }
    };

    signal?.addEventListener("abort", abort);
    socket.once("end", () => attempt(() => reader.ended()));
    socket.on("error", (error) => fail(socketError(error, isConnected)));
    socket.once("close", () => fail(new GetError("reset", "The connection was closed before the answer was complete")));
  });
}

const stopped = () => new GetError("reset", "The exchange was broken off");

const HEAD_LIMITS = { headBytes: 64 * 1024, headerCount: 256 };
const MAX_INTERIM = 16;

/** Puts one response together; each method returns whether it is complete. */
class PageReader {
  readonly #maxBytes: number;
  readonly #parser = new HeadParser("response", HEAD_LIMITS);
  readonly #parts: Buffer[] = [];
  #bytes = 0;
  #interim = 0;
  #head: Head | undefined;
  #framing: Framing = { kind: "none", length: 0 };
  #decoder: ChunkedDecoder | undefined;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  result(): GetResult {
    return { status: this.#head?.status ?? 0, body: Buffer.concat(this.#parts).toString("utf8") };
  }

  push(chunk: Buffer): boolean {
    let at = 0;
    while (this.#head === undefined) {
      if (at === chunk.length) return false;
      at = this.#parser.push(chunk, at);
      if (at < 0) return false;
      this.#headComplete(this.#parser.head);
    }
    return this.#pushBody(chunk, at);
  }

  /** The replica sends nothing more. */
  ended(): boolean {
    if (this.#head !== undefined && this.#framing.kind === "close") return true;
    throw new GetError("reset", "The connection ended before the answer was complete");
  }

  #headComplete(head: Head): void {
    this.#parser.reset();
    if (head.status < 200) {
      this.#interim += 1;
      if (head.status === 101 || this.#interim > MAX_INTERIM) throw new GetError("invalid", "Only interim answers came");
      return;
    }
    this.#head = head;
    this.#framing = responseFraming(head, "GET");
    if (this.#framing.kind === "chunked") this.#decoder = new ChunkedDecoder();
    if (this.#framing.kind === "length" && this.#framing.length > this.#maxBytes) throw this.#tooLarge();
  }

  #pushBody(chunk: Buffer, start: number): boolean {
    if (this.#decoder !== undefined) return this.#pushChunked(this.#decoder, chunk, start);
    const { kind, length } = this.#framing;
    if (kind === "none") return true;
    const end = kind === "length" ? Math.min(chunk.length, start + length - this.#bytes) : chunk.length;
    this.#keep(chunk.subarray(start, end));
    return kind === "length" && this.#bytes === length;
  }

  #pushChunked(decoder: ChunkedDecoder, chunk: Buffer, start: number): boolean {
    decoder.push(chunk, start);
    for (let i = 0; i < decoder.spanCount; i++) this.#keep(chunk.subarray(decoder.spans[2 * i], decoder.spans[2 * i + 1]));
    return decoder.isDone;
  }

  #keep(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#bytes > this.#maxBytes) throw this.#tooLarge();
    if (part.length > 0) this.#parts.push(Buffer.from(part));
  }

  #tooLarge(): GetError {
    return new GetError("too-large", `The answer is longer than ${this.#maxBytes} bytes`);
  }
}

function requestText(url: EndpointUrl, path: string, headers: Readonly<Record<string, string>>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const all = [
    `GET ${url.basePath}${path} HTTP/1.1`,
    `host: ${url.hostHeader}`,
    "accept: */*",
    "accept-encoding: identity",
    "connection: close",
    ...lines,
  ];
  // Paths and headers come from the config; a line break in one would begin another request.
  if (/\s/.test(path) || all.some((line) => /[\r\n]/.test(line)))
    throw new GetError("invalid", "A probe's path or header holds a space or a line break: remove it");
  return `${all.join("\r\n")}\r\n\r\n`;
}

function socketError(error: Error & { readonly code?: string }, isConnected: boolean): GetError {
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
