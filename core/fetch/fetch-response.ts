import type { ResponseWriter } from "../host/response-writer.ts";

/** With so many bytes waiting for its reader, a response asks for a pause. */
const HIGH_WATER_BYTES = 64 * 1024;

/** Statuses whose Response must not have a body (fetch standard: null body status). */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);

const UTF8 = new TextEncoder();

/** What the response tells its exchange. */
export interface FetchResponseOwner {
  /** The reader takes bytes again after `write` returned false. */
  drained(): void;
  /** The reader has cancelled the body. */
  left(): void;
  /** Nothing more will be written. */
  over(): void;
  /** Reads no more of the request's body (true), or goes on. */
  holdBody(isHeld: boolean): void;
  /** Calls `run` after LAST_WORDS_MS, so that the host has time to send what it has taken. */
  later(run: () => void): void;
}

/** Makes a Response. Its body is plain bytes if they come in one piece, else a stream. */
export class FetchResponse implements ResponseWriter {
  hasStarted = false;
  readonly #method: string;
  readonly #owner: FetchResponseOwner;
  readonly #resolve: (response: Response) => void;
  /** The head, held back until it is known whether the body comes in one piece. */
  #pending: ResponseInit | undefined;
  #length = -1;
  #hasBody = false;
  #body: ReadableStreamDefaultController<Uint8Array> | undefined;
  #isOpen = true;
  #isFull = false;
  /** The error with which the body ends once its reader has taken everything before. */
  #failure: Error | undefined;

  constructor(method: string, owner: FetchResponseOwner, resolve: (response: Response) => void) {
    this.#method = method;
    this.#owner = owner;
    this.#resolve = resolve;
  }

  /** Bytes that wait for the reader while writing is paused; 0 while it is not. */
  get waitingBytes(): number {
    return this.#isFull ? HIGH_WATER_BYTES - (this.#body?.desiredSize ?? HIGH_WATER_BYTES) : 0;
  }

  holdBody(isHeld: boolean): void {
    this.#owner.holdBody(isHeld);
  }

  start(status: number, reason: string, lines: string, length: number): void {
    if (!this.#isOpen || this.hasStarted) return;
    this.hasStarted = true;
    this.#length = length;
    this.#hasBody = this.#method !== "HEAD" && length !== 0 && !BODILESS.has(status);
    const headers = new Headers(headerPairs(lines));
    if (length >= 0 && !BODILESS.has(status)) headers.set("content-length", String(length));
    this.#pending = { status, statusText: /^[\x20-\x7e]*$/.test(reason) ? reason : "", headers };
  }

  write(chunk: Uint8Array, spans: ArrayLike<number>, spanCount: number): boolean {
    if (!this.#isOpen || !this.#hasBody) return true;
    const bytes = bytesOf(chunk, spans, spanCount);
    if (bytes.length === 0) return !this.#isFull;
    if (this.#pending !== undefined && bytes.length === this.#length) {
      this.#respond(bytes);
      return true;
    }
    this.flush();
    const body = this.#body;
    if (body === undefined) return true;
    body.enqueue(bytes);
    if (this.#isFull || (body.desiredSize ?? 1) > 0) return !this.#isFull;
    this.#isFull = true;
    return false;
  }

  flush(): void {
    if (this.#pending !== undefined) this.#respond(this.#hasBody ? this.#openBody() : null);
  }

  end(): void {
    if (!this.#isOpen) return;
    this.flush();
    this.#isOpen = false;
    this.#body?.close();
    this.#owner.over();
  }

  abort(lastWords: string | Uint8Array): void {
    if (!this.#isOpen) return;
    this.flush();
    this.#isOpen = false;
    if (lastWords.length > 0) this.#body?.enqueue(typeof lastWords === "string" ? UTF8.encode(lastWords) : lastWords.slice());
    this.#failure = new Error("The response broke off before its end");
    this.#failWhenTaken();
    this.#owner.over();
  }

  /** Ends at once: the client has left, or does not read. */
  fail(reason: unknown): void {
    if (!this.#isOpen) return;
    this.flush();
    this.#isOpen = false;
    if (this.hasStarted) this.#body?.error(reason);
    else this.#resolve(new Response(null, { status: 499, statusText: "Client Closed Request" }));
  }

  #respond(body: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null): void {
    const head = this.#pending;
    this.#pending = undefined;
    this.#resolve(new Response(body as BodyInit | null, head));
  }

  #openBody(): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#body = controller;
        },
        pull: () => this.#pulled(),
        cancel: () => {
          if (!this.#isOpen) return;
          this.#isOpen = false;
          this.#owner.left();
        },
      },
      { highWaterMark: HIGH_WATER_BYTES, size: (chunk) => chunk.byteLength },
    );
  }

  #pulled(): void {
    this.#failWhenTaken();
    if (!this.#isFull || !this.#isOpen) return;
    this.#isFull = false;
    this.#owner.drained();
  }

  /**
   * An error discards what is queued, so it comes only when everything is taken. Hosts then cut their connection with what they have
   * not sent yet, so it comes a moment later.
   */
  #failWhenTaken(): void {
    const failure = this.#failure;
    if (failure === undefined || (this.#body?.desiredSize ?? 0) < HIGH_WATER_BYTES) return;
    this.#failure = undefined;
    this.#owner.later(() => this.#body?.error(failure));
  }
}

/** The spans in one piece, copied: the chunk is overwritten with the next read. */
function bytesOf(chunk: Uint8Array, spans: ArrayLike<number>, spanCount: number): Uint8Array<ArrayBuffer> {
  // Not a Buffer: some of its methods differ from those of the Uint8Array that readers expect.
  let length = 0;
  for (let i = 0; i < spanCount; i++) length += spans[2 * i + 1]! - spans[2 * i]!;
  const bytes = new Uint8Array(length);
  let at = 0;
  for (let i = 0; i < spanCount; i++) {
    bytes.set(chunk.subarray(spans[2 * i]!, spans[2 * i + 1]!), at);
    at += spans[2 * i + 1]! - spans[2 * i]!;
  }
  return bytes;
}

function headerPairs(lines: string): [string, string][] {
  return lines
    .split("\r\n")
    .filter((line) => line !== "")
    .map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]);
}
