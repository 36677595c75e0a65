import type { Socket } from "node:net";
import { nextTurn } from "../runtime/next-turn.ts";
import type { ConnectionOwner } from "./connection-owner.ts";
import type { Timed } from "./deadlines.ts";
import { writeRequest } from "./gathered-write.ts";
import { ResponseDecoder } from "./response-decoder.ts";
import type { ResponseReader, UpstreamFailure } from "./response-reader.ts";
import type { WatchedTry } from "./watched-try.ts";
import { WireError } from "./wire-error.ts";

type State = "connecting" | "idle" | "waiting" | "body" | "closed";

/** Silence that ends a response once the replica is known to be gone. */
export const GONE_SILENCE_MS = 5_000;
/** A server may say so on an idle connection before it closes it (RFC 9110 15.5.9). */
const REQUEST_TIMEOUT = /^HTTP\/1\.[01] 408/;
const ERROR = /^HTTP\/1\.[01] [45]/;
/** How long to read on after a failed write. What the replica sent before is in the kernel already and takes one turn. */
const READ_ON_MS = 1_000;

/** One connection to a replica: requests out, responses in, one at a time. */
export class UpstreamConnection implements Timed, WatchedTry {
  longestGapMs = 0;
  readonly #owner: ConnectionOwner<UpstreamConnection>;
  readonly #socket: Socket;
  readonly #decoder = new ResponseDecoder({
    head: (head, framing) => {
      if (this.#isEarly && head.status < 400) throw new WireError("bad_head", "A success came before its request was sent");
      this.#state = "body";
      this.#deadlineMs = Number.POSITIVE_INFINITY;
      if (!this.#isReused) this.#owner.idleHabit.said(head.get("keep-alive"));
      this.#reader?.head(head, framing);
    },
    body: (chunk, spans, spanCount, isVerbatim) => this.#reader?.body(chunk, spans, spanCount, isVerbatim),
  });
  #state: State = "connecting";
  #deadlineMs: number;
  #lastReadMs: number;
  /** When the request was written, or the last bytes came, counted as deadlines.awakeMs. */
  #silentSinceMs: number;
  #reader: ResponseReader | undefined;
  #isReused = false;
  /** Since when it has been idle, and how long it was before its last request, on the deadlines' clock. */
  #idleSinceMs = Number.NaN;
  #idleMs = 0;
  #hasResponseBytes = false;
  /** What came before the request was sent whole, until the next turn. */
  #early: Buffer | undefined;
  /** What is decoded came before the request was sent whole. */
  #isEarly = false;
  /** A write failed: the rest of the request can't be sent. */
  #isUnwritable = false;
  /** The socket is closed and writes nothing any more. */
  #isGone = false;
  /** Written when the connection opens. */
  #unsent: { readonly head: string; readonly body: readonly Uint8Array[]; readonly frontBytes: number } | undefined;

  constructor(owner: ConnectionOwner<UpstreamConnection>) {
    this.#owner = owner;
    this.#deadlineMs = owner.deadlines.nowMs + owner.limits.connectTimeoutMs;
    this.#lastReadMs = owner.deadlines.nowMs;
    this.#silentSinceMs = owner.deadlines.awakeMs;
    owner.deadlines.add(this);
    this.#socket = owner.open(
      () => this.#connected(),
      (chunk) => this.#read(chunk),
      () => this.#unwritable(),
    );
    this.#socket.on("end", () => this.#ended());
    this.#socket.on("error", (error) => {
      owner.broken(error);
      this.#broken();
    });
    this.#socket.on("close", () => {
      this.#isGone = true;
      this.#broken();
    });
  }

  /** Sends a head (latin1) and a body, which must not change before the reader's end or failure. `frontBytes`: see writeRequest. */
  send(method: string, head: string, body: readonly Uint8Array[], reader: ResponseReader, frontBytes = 0): void {
    this.#reader = reader;
    this.#hasResponseBytes = false;
    this.#early = undefined;
    this.longestGapMs = 0;
    this.#decoder.begin(method);
    if (this.#state === "connecting") {
      this.#unsent = { head, body, frontBytes };
      return;
    }
    this.#isReused = true;
    this.#idleMs = this.#owner.deadlines.clockMs - this.#idleSinceMs;
    this.#write(head, body, frontBytes);
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#lastReadMs = this.#owner.deadlines.nowMs;
    this.#silentSinceMs = this.#owner.deadlines.awakeMs;
    this.#socket.resume();
  }

  /** False while the socket still reads bytes of the request: the kernel has not taken all of them, and it may take more. */
  get hasSentAll(): boolean {
    return this.#socket.writableLength === 0 || this.#isGone;
  }

  /** Ends the connection and its response without calling the reader. */
  destroy(): void {
    this.#reader = undefined;
    this.#close();
  }

  /** A response without a token waits, though its head is there: vLLM sends the head of a stream before it works on it. */
  get watchState(): WatchedTry["watchState"] {
    if ((this.#state !== "waiting" && this.#state !== "body") || this.#socket.isPaused()) return "idle";
    return this.#reader?.hasTokens === true ? "streaming" : "waiting";
  }

  get isStream(): boolean {
    return this.#reader?.isStream === true;
  }

  get silenceMs(): number {
    return this.#owner.deadlines.awakeMs - this.#silentSinceMs;
  }

  cut(): void {
    if (this.#state === "waiting" || this.#state === "body") this.#fail("wedged");
  }

  /** The replica has sent bytes that belong to no request: what comes first on a connection that was kept may be such bytes. */
  doubt(): void {
    if (this.#state === "idle") this.#close();
    else if (this.#state === "waiting" && this.#isReused && !this.#hasResponseBytes) this.#fail("stale");
  }

  sweep(nowMs: number): void {
    if (nowMs >= this.#deadlineMs) return this.#expired();
    if (this.#state !== "waiting" && this.#state !== "body") return;
    if (this.#socket.isPaused()) {
      this.#lastReadMs = nowMs;
      return;
    }
    const silenceMs = nowMs - this.#lastReadMs;
    if (this.#isUnwritable && silenceMs >= READ_ON_MS) return this.#broken();
    if (nowMs - Math.max(this.#lastReadMs, this.#owner.goneSinceMs) >= GONE_SILENCE_MS) return this.#fail("gone");
    if (this.#state === "body" && silenceMs >= this.#owner.limits.streamIdleTimeoutMs) this.#fail("timeout");
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
    if (unsent !== undefined) this.#write(unsent.head, unsent.body, unsent.frontBytes);
  }

  #write(head: string, body: readonly Uint8Array[], frontBytes: number): void {
    const { deadlines, limits } = this.#owner;
    this.#state = "waiting";
    this.#lastReadMs = deadlines.nowMs;
    this.#silentSinceMs = deadlines.awakeMs;
    this.#deadlineMs = deadlines.nowMs + limits.responseTimeoutMs;
    writeRequest(this.#socket, head, body, frontBytes);
  }

  /** The replica takes no more bytes, but may have sent a response before it closed: read that first. */
  #unwritable(): void {
    this.#isUnwritable = true;
    this.#lastReadMs = this.#owner.deadlines.nowMs;
  }

  #read(chunk: Buffer): void {
    const { deadlines } = this.#owner;
    const gapMs = this.silenceMs;
    if (gapMs > this.longestGapMs && this.#reader?.hasTokens === true) this.longestGapMs = gapMs;
    this.#lastReadMs = deadlines.nowMs;
    this.#silentSinceMs = deadlines.awakeMs;
    if (this.#state === "idle" || this.#state === "connecting") return this.#readUnasked(chunk);
    if (this.#state === "closed") return;
    if (this.#early !== undefined) this.#early = Buffer.concat([this.#early, chunk]);
    else if (this.#state === "waiting" && !this.hasSentAll && !ERROR.test(chunk.toString("latin1", 0, 10)))
      this.#readEarly(chunk);
    else this.#decode(chunk);
  }

  #readUnasked(chunk: Buffer): void {
    const wasOpen = this.#state !== "connecting";
    this.#fail("invalid");
    if (wasOpen && !REQUEST_TIMEOUT.test(chunk.toString("latin1", 0, 12))) this.#owner.unasked();
  }

  /** A success before the whole request is sent belongs to another request. But a runtime may report a complete write late. */
  #readEarly(chunk: Buffer): void {
    this.#early = Buffer.from(chunk);
    this.#socket.pause();
    nextTurn(() => {
      const bytes = this.#early;
      this.#early = undefined;
      if (bytes === undefined || this.#state !== "waiting") return;
      this.#socket.resume();
      this.#isEarly = !this.hasSentAll;
      this.#decode(bytes);
      this.#isEarly = false;
    });
  }

  #decode(chunk: Buffer): void {
    const reader = this.#reader;
    this.#hasResponseBytes = true;
    try {
      const end = this.#decoder.push(chunk);
      // Before it has tokens, only the replica's HTTP server has spoken, which lives on while its engine hangs.
      if (reader?.hasTokens === true) this.#owner.heard(this.#owner.deadlines.clockMs);
      if (this.#decoder.isDone) this.#complete(end === chunk.length);
    } catch (thrown) {
      this.#fail("invalid");
      if (!(thrown instanceof WireError)) throw thrown;
      // On a fresh connection it can't be the late answer to an earlier request.
      if (this.#isEarly && this.#isReused) this.#owner.unasked();
    }
    reader?.readDone();
  }

  /** `isLast`: no bytes came behind the response. Such bytes belong to no request, so the connection can't be trusted with another. */
  #complete(isLast: boolean): void {
    // The reader may have destroyed the connection inside its last call.
    if (this.#state !== "body") return;
    const reader = this.#reader;
    this.#reader = undefined;
    // The rest of a request that is still being written must not be read as the beginning of the next one.
    if (!isLast || !this.#decoder.isKeptAlive || !this.hasSentAll) this.#close();
    else {
      this.#state = "idle";
      this.#deadlineMs = this.#owner.deadlines.nowMs + this.#owner.limits.upstreamIdleTimeoutMs;
      this.#idleSinceMs = this.#owner.deadlines.clockMs;
      if (this.#socket.isPaused()) this.#socket.resume();
    }
    reader?.end(this.#decoder.isVerbatimEnd);
    if (!isLast && !this.#decoder.isEndedByClose) this.#owner.unasked();
    if (this.#state === "idle") this.#owner.idle(this);
  }

  #ended(): void {
    // A connection that was reset can end like one that was closed: after a failed write, and on Node 20 when the reset
    // follows the last bytes at once. In the second case the socket has lost its remote address.
    const wasReset = this.#isUnwritable || this.#socket.remoteAddress === undefined;
    if (!wasReset && this.#decoder.isEndedByClose) this.#complete(false);
    this.#broken();
  }

  #broken(): void {
    if (this.#state === "closed") return;
    if (this.#state === "connecting") return this.#fail("connect-failed");
    if (this.#state === "waiting" && this.#isReused && !this.#hasResponseBytes)
      return this.#fail("stale", !this.#owner.idleHabit.hasClosed(this.#idleMs));
    const { clockMs } = this.#owner.deadlines;
    if (this.#state === "idle") this.#owner.idleHabit.ended(clockMs - this.#idleSinceMs, clockMs);
    this.#fail("reset");
  }

  #fail(failure: UpstreamFailure, isDelivered = this.#state !== "connecting"): void {
    const reader = this.#reader;
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
