import type { Socket } from "node:net";
import type { ResponseWriter } from "../host/response-writer.ts";
import { putHead, takeScratch, writeScratch } from "../wire/gathered-write.ts";
import type { Head } from "../wire/head.ts";

/** How the client learns where the body ends (RFC 9112 6.3). */
type BodyMode = "none" | "length" | "chunked" | "close" | "switched";

/** What a response asks of its connection, and tells it. */
export interface ResponseOwner {
  /** Whether the connection closes after a response that starts now, whatever the client asked for. */
  readonly isLast: boolean;
  /** The response is complete and handed to the socket; `isKept` is what its head said of the connection. */
  responded(isKept: boolean): void;
  /** The response was broken off; `endSocket` follows, perhaps through `later`. */
  broken(): void;
  /** Ends the connection once everything written has been sent. */
  endSocket(): void;
  takeConnection(): void;
  /** Reads no more from the client (true), or goes on. */
  holdBody(isHeld: boolean): void;
  /** Calls `run` after LAST_WORDS_MS, so that the client has time to read what was written. */
  later(run: () => void): void;
}

/** Writes one response to a client connection. */
export class ServerResponse implements ResponseWriter {
  hasStarted = false;
  readonly #socket: Socket;
  readonly #owner: ResponseOwner;
  readonly #method: string;
  readonly #minor: number;
  #isKept: boolean;
  #mode: BodyMode = "none";
  #isOpen = true;
  /** The head, held back to go out in one write with the first bytes of the body. */
  #pending = "";

  constructor(socket: Socket, head: Head | undefined, isKept: boolean, owner: ResponseOwner) {
    this.#socket = socket;
    this.#owner = owner;
    this.#method = head?.method ?? "";
    this.#minor = head?.minor ?? 1;
    this.#isKept = isKept;
  }

  takeConnection(): void {
    this.#owner.takeConnection();
  }

  holdBody(isHeld: boolean): void {
    if (this.#isOpen) this.#owner.holdBody(isHeld);
  }

  start(status: number, reason: string, lines: string, length: number): void {
    if (!this.#isOpen || this.hasStarted) return;
    this.hasStarted = true;
    this.#mode = this.#modeFor(status, length);
    if (this.#owner.isLast) this.#isKept = false;
    let head = `HTTP/1.1 ${status} ${reason}\r\n${lines}`;
    if (this.#mode === "chunked") head += "Transfer-Encoding: chunked\r\n";
    else if (length >= 0 && status !== 204 && status !== 304) head += `Content-Length: ${length}\r\n`;
    const isOpen = this.#mode === "switched" || (this.#isKept && this.#mode !== "close");
    this.#pending = isOpen ? `${head}\r\n` : `${head}Connection: close\r\n\r\n`;
  }

  write(chunk: Uint8Array, spans: ArrayLike<number>, spanCount: number, isVerbatim: boolean): boolean {
    if (!this.#isOpen || this.#mode === "none") return true;
    const isChunked = this.#mode === "chunked";
    if (isChunked && isVerbatim) return this.#send("", chunk, WHOLE, 1, "");
    const bytes = spanBytes(spans, spanCount);
    if (bytes === 0) return true;
    if (!isChunked) return this.#send("", chunk, spans, spanCount, "");
    return this.#send(`${bytes.toString(16)}\r\n`, chunk, spans, spanCount, "\r\n");
  }

  flush(): void {
    if (this.#pending === "" || !this.#isOpen) return;
    this.#socket.write(this.#pending, "latin1");
    this.#pending = "";
  }

  end(isVerbatimEnd = false): void {
    if (!this.#isOpen) return;
    if (this.#mode === "chunked" && !isVerbatimEnd) this.#pending += "0\r\n\r\n";
    this.flush();
    this.#isOpen = false;
    this.#owner.responded(this.#isKept && this.#mode !== "close");
  }

  abort(lastWords: string | Uint8Array): void {
    if (!this.#isOpen) return;
    if (lastWords.length > 0 && (this.#mode === "chunked" || this.#mode === "close")) {
      const words = typeof lastWords === "string" ? Buffer.from(lastWords) : lastWords;
      this.write(words, [0, words.length], 1, false);
    }
    this.flush();
    this.#isOpen = false;
    this.#owner.broken();
    if (lastWords.length === 0) this.#breakOff();
    else this.#owner.later(() => this.#breakOff());
  }

  /** The socket is gone. */
  detach(): void {
    this.#isOpen = false;
  }

  /**
   * Without its last chunk or its full length, a response is visibly incomplete. A body that ends with the connection would look
   * complete, so that connection is reset.
   */
  #breakOff(): void {
    if (this.#mode !== "close") this.#owner.endSocket();
    else this.#socket.write("", () => this.#socket.resetAndDestroy());
  }

  #modeFor(status: number, length: number): BodyMode {
    if (this.#method === "HEAD" || status === 204 || status === 304) return "none";
    if (length >= 0) return "length";
    if (status === 101) return "switched";
    return this.#minor === 1 ? "chunked" : "close";
  }

  /**
   * Writes prefix, spans and suffix in one piece. It copies the spans, because `chunk` is overwritten with the next read.
   */
  #send(prefix: string, chunk: Uint8Array, spans: ArrayLike<number>, spanCount: number, suffix: string): boolean {
    const isWhole = spans === WHOLE;
    const before = this.#pending + prefix;
    this.#pending = "";
    const bytes = isWhole ? chunk.length : spanBytes(spans, spanCount);
    const gathered = takeScratch(before.length + bytes + suffix.length);
    let at = before === "" ? 0 : putHead(gathered, before);
    for (let i = 0; i < spanCount; i++) {
      const start = isWhole ? 0 : spans[2 * i]!;
      const end = isWhole ? bytes : spans[2 * i + 1]!;
      gathered.set(slice(chunk, start, end), at);
      at += end - start;
    }
    if (suffix !== "") at += gathered.write(suffix, at, "latin1");
    return writeScratch(this.#socket, gathered, at);
  }
}

/** Passed as the spans of a whole chunk, so that no array is made for it. */
const WHOLE: readonly number[] = [];

function spanBytes(spans: ArrayLike<number>, spanCount: number): number {
  let bytes = 0;
  for (let i = 0; i < spanCount; i++) bytes += spans[2 * i + 1]! - spans[2 * i]!;
  return bytes;
}

function slice(chunk: Uint8Array, start: number, end: number): Uint8Array {
  return start === 0 && end === chunk.length ? chunk : chunk.subarray(start, end);
}
