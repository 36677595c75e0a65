import { ChunkedDecoder } from "./chunked.ts";
import { type Framing, isKeptAlive, NO_BODY, responseFraming } from "./framing.ts";
import type { Head } from "./head.ts";
import { HeadParser } from "./head-parser.ts";
import { WireError } from "./wire-error.ts";

const HEAD_LIMITS = { headBytes: 64 * 1024, headerCount: 256 };
/** Interim responses (1xx) skipped before the final one. */
const MAX_INTERIM = 16;

/** Receives one response in order: its head once, then its body in pieces. */
export interface ResponseSink {
  /** The head of the final response, after any interim ones. */
  head(head: Head, framing: Framing): void;
  /**
   * Body bytes as `spanCount` pairs of [start, end) in `chunk`, which is overwritten after this returns: copy what must
   * stay. `isVerbatim`: the whole chunk is well-formed chunked framing (see ChunkedDecoder).
   */
  body(chunk: Buffer, spans: ArrayLike<number>, spanCount: number, isVerbatim: boolean): void;
}

/** Decodes the bytes of one connection to a replica, one response after another. */
export class ResponseDecoder {
  readonly #sink: ResponseSink;
  readonly #parser = new HeadParser("response", HEAD_LIMITS);
  readonly #spans = new Int32Array(2);
  #chunked: ChunkedDecoder | undefined;
  #method = "";
  #interim = 0;
  #framing: Framing["kind"] = "none";
  #bodyLeft = 0;
  #hasHead = false;
  #isDone = false;
  #isVerbatimEnd = false;
  #isKeptAlive = false;
  /** The last head of which the framing was read, the method that it answered, and what it says. */
  #read: Head | undefined;
  #readFor = "";
  #readFraming: Framing = NO_BODY;

  constructor(sink: ResponseSink) {
    this.#sink = sink;
  }

  /** Expects the response to a request with this method. Call it after a response is done, never inside one. */
  begin(method: string): void {
    this.#method = method;
    this.#interim = 0;
    this.#hasHead = false;
    this.#isDone = false;
    this.#isVerbatimEnd = false;
  }

  /** The final head was handed to the sink. */
  get hasHead(): boolean {
    return this.#hasHead;
  }

  get isDone(): boolean {
    return this.#isDone;
  }

  /** The last `body` call of a finished response carried the end of the chunked framing. */
  get isVerbatimEnd(): boolean {
    return this.#isVerbatimEnd;
  }

  /** Another request may follow on this connection (RFC 9112 9.3). Known once there is a head. */
  get isKeptAlive(): boolean {
    return this.#isKeptAlive;
  }

  /** Only the end of the connection ends this response (RFC 9112 6.3). */
  get isEndedByClose(): boolean {
    return this.#hasHead && this.#framing === "close";
  }

  /**
   * Decodes one read. Returns the offset after the response's last byte, or the chunk's length while the response is not done.
   * Throws a WireError for bytes that are not HTTP/1.1 and for more than 16 interim responses.
   */
  push(chunk: Buffer): number {
    let at = 0;
    while (!this.#hasHead) {
      if (at >= chunk.length) return at;
      at = this.#parser.push(chunk, at);
      if (at < 0) return chunk.length;
      this.#headComplete(this.#parser.head);
    }
    if (this.#isDone) return at;
    return this.#framing === "chunked" ? this.#pushChunked(chunk, at) : this.#pushPlain(chunk, at);
  }

  #headComplete(head: Head): void {
    this.#parser.reset();
    if (head.status < 200) {
      this.#interim += 1;
      if (head.status === 101 || this.#interim > MAX_INTERIM) throw new WireError("bad_head", "Too many interim responses");
      return;
    }
    const framing = this.#framingOf(head);
    this.#hasHead = true;
    this.#framing = framing.kind;
    this.#bodyLeft = framing.length;
    this.#isDone = framing.kind === "none" || (framing.kind === "length" && framing.length === 0);
    if (framing.kind === "chunked") {
      this.#chunked ??= new ChunkedDecoder("response");
      this.#chunked.reset();
    }
    this.#sink.head(head, framing);
  }

  /** The parser gives the same head again where a replica sends the same bytes. */
  #framingOf(head: Head): Framing {
    if (head !== this.#read || this.#method !== this.#readFor) {
      this.#readFraming = responseFraming(head, this.#method);
      this.#isKeptAlive = this.#readFraming.kind !== "close" && isKeptAlive(head);
      this.#read = head;
      this.#readFor = this.#method;
    }
    return this.#readFraming;
  }

  #pushPlain(chunk: Buffer, start: number): number {
    const isEndless = this.#framing === "close";
    const end = isEndless ? chunk.length : Math.min(chunk.length, start + this.#bodyLeft);
    if (end === start) return end;
    this.#bodyLeft -= end - start;
    this.#isDone = !isEndless && this.#bodyLeft === 0;
    this.#spans[0] = start;
    this.#spans[1] = end;
    this.#sink.body(chunk, this.#spans, 1, false);
    return end;
  }

  #pushChunked(chunk: Buffer, start: number): number {
    if (start >= chunk.length) return start;
    const chunked = this.#chunked;
    if (chunked === undefined) throw new TypeError("A chunked body without a decoder");
    chunked.push(chunk, start);
    const { isDone, spanCount } = chunked;
    const isWholeRead = chunked.isVerbatim && start === 0 && (!isDone || chunked.end === chunk.length);
    this.#isDone = isDone;
    this.#isVerbatimEnd = isDone && isWholeRead;
    if (spanCount > 0 || this.#isVerbatimEnd) this.#sink.body(chunk, chunked.spans, spanCount, isWholeRead);
    return isDone ? chunked.end : chunk.length;
  }
}
