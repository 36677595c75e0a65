import type { ReplicaConnection } from "../../../core/pool/connections.ts";
import type { Timed } from "../../../core/wire/deadlines.ts";
import type { Framing } from "../../../core/wire/framing.ts";
import { takeScratch, writeScratch } from "../../../core/wire/gathered-write.ts";
import type { Head } from "../../../core/wire/head.ts";
import { HeadParser } from "../../../core/wire/head-parser.ts";
import { ResponseDecoder } from "../../../core/wire/response-decoder.ts";
import type { ResponseReader, UpstreamFailure } from "../../../core/wire/response-reader.ts";
import { GONE_SILENCE_MS } from "../../../core/wire/upstream-connection.ts";
import type { UpstreamPool } from "../../../core/wire/upstream-pool.ts";
import { maskedText } from "../../../core/wire/websocket/frames.ts";
import { WireError } from "../../../core/wire/wire-error.ts";
import { type UnreadCounter, WriteProgress } from "../../../core/wire/write-progress.ts";
import type { Tunnels } from "./tunnels.ts";

const HEAD_LIMITS = { headBytes: 64 * 1024, headerCount: 256 };
const MOST_INTERIM = 16;
const UNTIL_CLOSE: Framing = { kind: "close", length: 0 };
type Socket = ReturnType<UpstreamPool["open"]>;

/** How long to read on after a failed write: what the replica sent before is in the kernel already. */
const READ_ON_MS = 1_000;

/** What the replica's end asks of the tunnel, and tells it. */
export interface ReplicaSideOwner {
  /** Whether this head is the answer to the handshake. */
  accepts(head: Head): boolean;
  /** Either side has said that it closes, so that an end is no failure. */
  readonly isClosing: boolean;
  /** The request's head as this replica gets it. */
  openingHead(head: string): string;
  /** The replica has answered: bytes may pass. */
  opened(): void;
  /** Bytes have passed to the client. */
  passed(): void;
  /** The replica can take more bytes. */
  replicaDrained(): void;
  /** Called on every sweep while it is open. */
  swept(nowMs: number): void;
}

/**
 * The replica's end of a tunnel: a connection of its own, which ends with it. Its request is an opening handshake and, where the client
 * had to be heard first, the client's first message; its response is all that the replica sends, or a plain one where it refuses.
 */
export class ReplicaSide implements ReplicaConnection, Timed {
  readonly #pool: UpstreamPool;
  readonly #tunnels: Tunnels;
  readonly #owner: ReplicaSideOwner;
  readonly #progress: WriteProgress;
  readonly #parser = new HeadParser("response", HEAD_LIMITS);
  readonly #spans = new Int32Array(2);
  #socket: Socket | undefined;
  #state: "connecting" | "opening" | "refused" | "open" | "closed" = "connecting";
  #reader: ResponseReader | undefined;
  /** Of a plain response. */
  #decoder: ResponseDecoder | undefined;
  /** The first message, for the time after the handshake. */
  #message: readonly Uint8Array[] = [];
  #interim = 0;
  #deadlineMs = Number.POSITIVE_INFINITY;
  #lastReadMs: number;
  hasSentAll = false;

  constructor(pool: UpstreamPool, tunnels: Tunnels, memory: UnreadCounter, owner: ReplicaSideOwner) {
    this.#pool = pool;
    this.#tunnels = tunnels;
    this.#owner = owner;
    const { deadlines, limits } = pool;
    this.#lastReadMs = deadlines.nowMs;
    // A kernel says that there is room only when much of its buffer is free: audio at the rate of speech takes a minute for that.
    this.#progress = new WriteProgress(deadlines, limits.streamIdleTimeoutMs, memory, () => undefined);
  }

  send(_method: string, head: string, body: readonly Uint8Array[], reader: ResponseReader): void {
    const { deadlines, limits } = this.#pool;
    this.#reader = reader;
    this.#message = body;
    this.#deadlineMs = deadlines.nowMs + limits.connectTimeoutMs;
    deadlines.add(this);
    this.#tunnels.began(this.#pool);
    const socket = this.#pool.open(
      () => this.#connected(head),
      (chunk) => this.#read(chunk),
      () => this.#unwritable(),
    );
    this.#socket = socket;
    socket.on("drain", () => this.#drained());
    socket.on("end", () => this.#ended());
    socket.on("error", (error) => {
      this.#pool.broken(error);
      this.#ended();
    });
    socket.on("close", () => this.#ended());
  }

  get isPaused(): boolean {
    return this.#socket?.isPaused() === true;
  }

  /** The time that `swept` tells, to count from. */
  get nowMs(): number {
    return this.#pool.deadlines.nowMs;
  }

  /** Writes chunk[start, end), of which nothing is kept. Returns false when the owner should wait until `drained`. */
  write(chunk: Uint8Array, start: number, end: number): boolean {
    if (this.#socket === undefined || this.#state !== "open") return true;
    const scratch = takeScratch(end - start);
    scratch.set(start === 0 && end === chunk.length ? chunk : chunk.subarray(start, end));
    return writeScratch(this.#socket, scratch, end - start);
  }

  /** Writes frames of the router's own, between two others. */
  say(frame: Buffer): void {
    if (this.#state === "open") this.#socket?.write(frame);
  }

  pause(): void {
    this.#socket?.pause();
  }

  resume(): void {
    this.#lastReadMs = this.#pool.deadlines.nowMs;
    this.#socket?.resume();
  }

  destroy(): void {
    this.#reader = undefined;
    this.#close();
  }

  /** The session is over as both sides mean it. */
  finish(): void {
    const reader = this.#reader;
    this.#reader = undefined;
    this.#close();
    reader?.end(false);
  }

  sweep(nowMs: number): void {
    if (nowMs >= this.#deadlineMs) return this.#expired();
    if (this.#state !== "open") return;
    if (this.#progress.isStalled(this.#socket!.writableLength, nowMs)) return this.#fail("timeout");
    if (this.#socket!.isPaused()) this.#lastReadMs = nowMs;
    if (nowMs - Math.max(this.#lastReadMs, this.#pool.goneSinceMs) >= GONE_SILENCE_MS) return this.#fail("gone");
    this.#owner.swept(nowMs);
  }

  #expired(): void {
    if (this.#state === "open") return this.#ended();
    this.#fail(this.#state === "connecting" ? "connect-timeout" : "timeout");
  }

  #connected(head: string): void {
    if (this.#state !== "connecting") return;
    const { deadlines, limits } = this.#pool;
    this.#state = "opening";
    this.#deadlineMs = deadlines.nowMs + limits.responseTimeoutMs;
    this.#socket?.write(this.#owner.openingHead(head), "latin1");
  }

  #unwritable(): void {
    this.#deadlineMs = Math.min(this.#deadlineMs, this.#pool.deadlines.nowMs + READ_ON_MS);
  }

  #drained(): void {
    this.#progress.drained();
    if (this.#state === "open") this.#owner.replicaDrained();
  }

  #read(chunk: Buffer): void {
    this.#lastReadMs = this.#pool.deadlines.nowMs;
    if (this.#state === "open") return this.#pass(chunk, 0);
    try {
      if (this.#state === "opening") this.#readHead(chunk);
      else if (this.#state === "refused") this.#decode(chunk);
      else this.#fail("invalid");
    } catch (thrown) {
      if (!(thrown instanceof WireError)) throw thrown;
      this.#fail("invalid");
    }
  }

  /** Throws WireError. */
  #readHead(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      at = this.#parser.push(chunk, at);
      if (at < 0) return;
      const { head } = this.#parser;
      this.#parser.reset();
      if (head.status === 101) return this.#switched(head, chunk, at);
      if (head.status >= 200) return this.#refused(head, chunk.subarray(at));
      this.#interim += 1;
      if (this.#interim > MOST_INTERIM) throw new WireError("bad_head", "Too many interim responses");
    }
  }

  #switched(head: Head, chunk: Buffer, end: number): void {
    if (!this.#owner.accepts(head)) return this.#fail("invalid");
    this.#state = "open";
    this.#deadlineMs = Number.POSITIVE_INFINITY;
    // It is copied, so the request's own memory is free.
    if (this.#message.some(({ length }) => length > 0)) this.#socket?.write(maskedText(this.#message));
    this.#message = [];
    this.hasSentAll = true;
    this.#reader?.head(head, UNTIL_CLOSE);
    this.#owner.opened();
    if (end < chunk.length) this.#pass(chunk, end);
    else this.#reader?.readDone();
  }

  /** It answers as to any other request. Throws WireError. */
  #refused(head: Head, rest: Buffer): void {
    this.#state = "refused";
    this.hasSentAll = true;
    this.#decoder = new ResponseDecoder({
      head: (first, framing) => this.#reader?.head(first, framing),
      body: (chunk, spans, spanCount, isVerbatim) => this.#reader?.body(chunk, spans, spanCount, isVerbatim),
    });
    this.#decoder.begin("GET");
    this.#decode(Buffer.concat([Buffer.from(head.text, "latin1"), rest]));
  }

  #decode(chunk: Buffer): void {
    const decoder = this.#decoder!;
    decoder.push(chunk);
    const reader = this.#reader;
    if (decoder.isDone) this.#complete(decoder.isVerbatimEnd);
    reader?.readDone();
  }

  #complete(isVerbatimEnd: boolean): void {
    const reader = this.#reader;
    this.#reader = undefined;
    this.#close();
    reader?.end(isVerbatimEnd);
  }

  #pass(chunk: Buffer, start: number): void {
    this.#spans[0] = start;
    this.#spans[1] = chunk.length;
    this.#reader?.body(chunk, this.#spans, 1, false);
    this.#reader?.readDone();
    this.#owner.passed();
  }

  /** The socket has ended, however that came about. */
  #ended(): void {
    if (this.#state === "closed") return;
    if (this.#state === "connecting") return this.#fail("connect-failed");
    if (this.#state === "refused" && this.#decoder?.isEndedByClose === true) return this.#complete(false);
    if (this.#state === "open" && this.#owner.isClosing) return this.finish();
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
    this.hasSentAll = true;
    this.#message = [];
    this.#pool.deadlines.delete(this);
    this.#progress.close();
    if (this.#socket === undefined) return;
    this.#socket.destroy();
    this.#tunnels.ended(this.#pool);
  }
}
