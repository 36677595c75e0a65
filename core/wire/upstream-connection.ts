import type { Socket } from "node:net";
import type { Limits } from "../settings.ts";
import { ChunkedDecoder } from "./chunked.ts";
import type { Deadlines, Timed } from "./deadlines.ts";
import { type Framing, isKeptAlive, responseFraming } from "./framing.ts";
import { type Head, HeadParser } from "./head.ts";
import { isGathered, putHead, takeScratch, writeScratch } from "./scratch.ts";
import { WireError } from "./wire-error.ts";

/** Why a response will not come, or not to its end. */
export type UpstreamFailure =
  | "connect-failed" // refused, unreachable, name unknown: nothing was sent
  | "connect-timeout" // nothing was sent
  | "stale" // a kept-alive connection had been closed by the replica: no byte of an answer
  | "reset" // the replica closed before its answer was complete
  | "timeout" // no head, or silence inside the body, for too long
  | "wedged" // cut from this side: the replica makes no progress
  | "gone" // silence on a replica that is known to be gone
  | "invalid"; // not HTTP/1.1 as RFC 9112 has it

/** What a response calls on its reader. After `end` or `failed` nothing more comes. */
export interface ResponseReader {
  head(head: Head, framing: Framing): void;
  /**
   * Body bytes as [start, end) pairs into `chunk`, which is overwritten once this returns: copy what must stay.
   * See ChunkedDecoder for `isVerbatim`.
   */
  body(chunk: Buffer, spans: ArrayLike<number>, spanCount: number, isVerbatim: boolean): void;
  /** `isVerbatimEnd`: the last `body` call carried the end of the chunked framing. */
  end(isVerbatimEnd: boolean): void;
  failed(failure: UpstreamFailure, isDelivered: boolean): void;
  /** Everything of one read has been handed over. */
  readDone(): void;
}

/** What a connection asks of the pool it belongs to. */
export interface ConnectionOwner {
  readonly limits: Limits;
  readonly deadlines: Deadlines;
  /** When the replica was declared gone; Infinity while it is not. */
  readonly goneSinceMs: number;
  /** Starts a connection to the replica; see openSocket. */
  open(opened: () => void, read: (chunk: Buffer) => void): Socket;
  /** Bytes came. */
  heard(atMs: number): void;
  /** The connection may carry another request. */
  idle(connection: UpstreamConnection): void;
  closed(connection: UpstreamConnection): void;
}

type State = "connecting" | "idle" | "waiting" | "body" | "closed";

const RESPONSE_HEAD_LIMIT = { headBytes: 64 * 1024, headerCount: 256 };
/** Interim answers (1xx) passed over before the real one. */
const MAX_INTERIM = 16;
/** Silence that is enough once the replica is known to be gone. */
export const GONE_SILENCE_MS = 5_000;

/** One connection to a replica: requests out, responses in, one at a time. */
export class UpstreamConnection implements Timed {
  readonly #owner: ConnectionOwner;
  readonly #socket: Socket;
  readonly #parser = new HeadParser("response", RESPONSE_HEAD_LIMIT);
  readonly #spans = new Int32Array(2);
  #decoder: ChunkedDecoder | undefined;
  #state: State = "connecting";
  #deadlineMs: number;
  #lastReadMs: number;
  #reader: ResponseReader | undefined;
  #method = "";
  #framing: Framing["kind"] = "none";
  #bodyLeft = 0;
  #isReusable = false;
  #isReused = false;
  #hasAnswerBytes = false;
  #interim = 0;
  /** Written as soon as the connection is open. */
  #unsent: { readonly head: string; readonly body: readonly Uint8Array[] } | undefined;

  constructor(owner: ConnectionOwner) {
    this.#owner = owner;
    this.#deadlineMs = owner.deadlines.nowMs + owner.limits.connectTimeoutMs;
    this.#lastReadMs = owner.deadlines.nowMs;
    owner.deadlines.add(this);
    this.#socket = owner.open(
      () => this.#connected(),
      (chunk) => this.#read(chunk),
    );
    this.#socket.on("end", () => this.#ended());
    this.#socket.on("error", () => this.#broken());
    this.#socket.on("close", () => this.#broken());
  }

  /** Sends one request: its head (latin1) and the parts of its body, which must not change before it is answered. */
  send(method: string, head: string, body: readonly Uint8Array[], reader: ResponseReader): void {
    this.#reader = reader;
    this.#method = method;
    this.#hasAnswerBytes = false;
    this.#interim = 0;
    if (this.#state === "connecting") {
      this.#unsent = { head, body };
      return;
    }
    this.#isReused = true;
    this.#write(head, body);
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#lastReadMs = this.#owner.deadlines.nowMs;
    this.#socket.resume();
  }

  /** False while bytes of the request still wait to be taken by the kernel. */
  get hasSentAll(): boolean {
    return this.#socket.writableLength === 0;
  }

  /** Ends the connection and whatever it carries, without a word to the reader. */
  destroy(): void {
    this.#reader = undefined;
    this.#close();
  }

  /** Gives up a request that has no byte of a response yet. */
  cutWaiting(): void {
    if (this.#state === "waiting" && !this.#hasAnswerBytes) this.#fail("wedged");
  }

  sweep(nowMs: number): void {
    if (nowMs >= this.#deadlineMs) return this.#expired();
    if (this.#state !== "waiting" && this.#state !== "body") return;
    if (this.#socket.isPaused()) {
      this.#lastReadMs = nowMs;
      return;
    }
    if (nowMs - Math.max(this.#lastReadMs, this.#owner.goneSinceMs) >= GONE_SILENCE_MS) return this.#fail("gone");
    if (this.#state === "body" && nowMs - this.#lastReadMs >= this.#owner.limits.streamIdleTimeoutMs) this.#fail("timeout");
  }

  #expired(): void {
    if (this.#state === "connecting") return this.#fail("connect-timeout");
    if (this.#state === "idle") return this.#close();
    this.#fail("timeout");
  }

  #connected(): void {
    if (this.#state !== "connecting") return;
    this.#state = "idle";
    this.#deadlineMs = Number.POSITIVE_INFINITY;
    const unsent = this.#unsent;
    this.#unsent = undefined;
    if (unsent !== undefined) this.#write(unsent.head, unsent.body);
  }

  #write(head: string, body: readonly Uint8Array[]): void {
    const { deadlines, limits } = this.#owner;
    this.#state = "waiting";
    this.#lastReadMs = deadlines.nowMs;
    this.#deadlineMs = deadlines.nowMs + limits.responseTimeoutMs;
    let bytes = head.length;
    for (const part of body) bytes += part.length;
    if (isGathered(bytes)) this.#writeGathered(head, body, bytes);
    else this.#writeParts(head, body);
  }

  #writeGathered(head: string, body: readonly Uint8Array[], bytes: number): void {
    const gathered = takeScratch(bytes);
    let at = putHead(gathered, head);
    for (const part of body) {
      gathered.set(part, at);
      at += part.length;
    }
    writeScratch(this.#socket, gathered, at);
  }

  #writeParts(head: string, body: readonly Uint8Array[]): void {
    this.#socket.cork();
    this.#socket.write(head, "latin1");
    for (const part of body) if (part.length > 0) this.#socket.write(part);
    this.#socket.uncork();
  }

  #read(chunk: Buffer): void {
    this.#lastReadMs = this.#owner.deadlines.nowMs;
    this.#owner.heard(this.#lastReadMs);
    if (this.#state === "idle" || this.#state === "connecting") return this.#fail("invalid");
    if (this.#state === "closed") return;
    const reader = this.#reader;
    this.#hasAnswerBytes = true;
    try {
      this.#consume(chunk);
    } catch (thrown) {
      this.#fail("invalid");
      if (!(thrown instanceof WireError)) throw thrown;
    }
    reader?.readDone();
  }

  #consume(chunk: Buffer): void {
    let at = 0;
    while (this.#state === "waiting") {
      if (at >= chunk.length) return;
      at = this.#parser.push(chunk, at);
      if (at < 0) return;
      this.#headComplete(this.#parser.head);
    }
    if (this.#state === "body") at = this.#readBody(chunk, at);
    // Bytes after the answer belong to nobody: the connection can't be trusted with another request.
    if (this.#state === "idle" && at < chunk.length) this.#close();
  }

  #headComplete(head: Head): void {
    this.#parser.reset();
    if (head.status < 200) {
      this.#interim += 1;
      if (head.status === 101 || this.#interim > MAX_INTERIM) throw new WireError("bad_head", "Too many interim answers");
      return;
    }
    const framing = responseFraming(head, this.#method);
    this.#framing = framing.kind;
    this.#bodyLeft = framing.length;
    this.#isReusable = framing.kind !== "close" && isKeptAlive(head);
    if (framing.kind === "chunked") {
      this.#decoder ??= new ChunkedDecoder();
      this.#decoder.reset();
    }
    this.#state = "body";
    this.#deadlineMs = Number.POSITIVE_INFINITY;
    this.#reader?.head(head, framing);
    if (this.#state === "body" && (framing.kind === "none" || (framing.kind === "length" && framing.length === 0)))
      this.#complete(false);
  }

  #readBody(chunk: Buffer, start: number): number {
    if (this.#framing === "chunked") return this.#readChunked(chunk, start);
    const end = this.#framing === "close" ? chunk.length : Math.min(chunk.length, start + this.#bodyLeft);
    if (end > start) {
      this.#spans[0] = start;
      this.#spans[1] = end;
      this.#reader?.body(chunk, this.#spans, 1, false);
    }
    if (this.#framing === "length" && this.#state === "body") {
      this.#bodyLeft -= end - start;
      if (this.#bodyLeft === 0) this.#complete(false);
    }
    return end;
  }

  #readChunked(chunk: Buffer, start: number): number {
    if (start >= chunk.length) return start;
    const decoder = this.#decoder;
    if (decoder === undefined) throw new TypeError("A chunked body without a decoder");
    decoder.push(chunk, start);
    const isWholeRead = decoder.isVerbatim && start === 0 && (!decoder.isDone || decoder.end === chunk.length);
    if (decoder.spanCount > 0 || (isWholeRead && decoder.isDone)) {
      this.#reader?.body(chunk, decoder.spans, decoder.spanCount, isWholeRead);
    }
    const end = decoder.isDone ? decoder.end : chunk.length;
    if (decoder.isDone && this.#state === "body") this.#complete(isWholeRead);
    return end;
  }

  #complete(isVerbatimEnd: boolean): void {
    const reader = this.#reader;
    this.#reader = undefined;
    // A request that is still being written when its answer is complete can't be followed by another one.
    if (!this.#isReusable || this.#socket.writableLength > 0) this.#close();
    else {
      this.#state = "idle";
      this.#deadlineMs = this.#owner.deadlines.nowMs + this.#owner.limits.upstreamIdleTimeoutMs;
      this.#socket.resume();
    }
    reader?.end(isVerbatimEnd);
    if (this.#state === "idle") this.#owner.idle(this);
  }

  #ended(): void {
    // A reset right behind the last bytes looks like an end on Node 20, but a connection that was reset has lost its address.
    const isEnd = this.#socket.remoteAddress !== undefined;
    if (isEnd && this.#state === "body" && this.#framing === "close") return this.#complete(false);
    this.#broken();
  }

  #broken(): void {
    if (this.#state === "closed") return;
    if (this.#state === "connecting") return this.#fail("connect-failed");
    if (this.#state === "waiting" && this.#isReused && !this.#hasAnswerBytes) return this.#fail("stale");
    this.#fail("reset");
  }

  #fail(failure: UpstreamFailure): void {
    const reader = this.#reader;
    const isDelivered = this.#state !== "connecting";
    this.#reader = undefined;
    this.#close();
    reader?.failed(failure, isDelivered);
  }

  #close(): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    this.#owner.deadlines.delete(this);
    this.#socket.destroy();
    this.#owner.closed(this);
  }
}
