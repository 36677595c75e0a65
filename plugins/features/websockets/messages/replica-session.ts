import type { ReplicaConnection } from "../../../../core/pool/connections.ts";
import type { Framing } from "../../../../core/wire/framing.ts";
import type { Head } from "../../../../core/wire/head.ts";
import type { ResponseReader, UpstreamFailure } from "../../../../core/wire/response-reader.ts";
import type { UpstreamPool } from "../../../../core/wire/upstream-pool.ts";
import type { WatchedTry } from "../../../../core/wire/watched-try.ts";
import { CLOSE } from "../../../../core/wire/websocket/close-codes.ts";
import { closeFrame, maskedText, pingFrame, pongFrame } from "../../../../core/wire/websocket/frames.ts";
import { IncomingMessages, type MessagesOwner } from "../../../../core/wire/websocket/incoming-messages.ts";
import type { UnreadCounter } from "../../../../core/wire/write-progress.ts";
import type { Opening } from "../opening.ts";
import { ReplicaSide, type ReplicaSideOwner } from "../replica-side.ts";
import type { Tunnels } from "../tunnels.ts";
import { refusalHead, STREAM_HEAD } from "./answer-head.ts";
import { AnswerSilence } from "./answer-silence.ts";
import { EventBytes } from "./event-bytes.ts";
import { EventType } from "./event-type.ts";

const UNTIL_END: Framing = { kind: "close", length: 0 };
/** Messages with which a response ends. */
const ENDINGS: ReadonlySet<string> = new Set([
  ...["response.completed", "response.done", "response.incomplete", "response.failed", "response.cancelled", "error"],
]);
/** Some servers say it behind the end. */
const SECOND_END = "response.done";

/** How the WebSockets of one client are opened at replicas, and what becomes of them. */
export interface SessionOwner {
  readonly opening: Opening;
  /** Events that answer no message came: bytes[0, length). */
  unasked(bytes: Buffer, length: number): void;
  ended(session: ReplicaSession): void;
}

/** What all sessions of a client share. */
export interface SessionParts {
  readonly tunnels: Tunnels;
  readonly memory: UnreadCounter;
  /** After so long without a frame to the replica it gets a ping; infinite for never. */
  readonly pingMs: number;
}

/**
 * A WebSocket at one replica, which carries one message after the other. To whoever reads a response, what answers a message is an event
 * stream: its head comes with the first event, and it ends with one of the events that end a response.
 */
export class ReplicaSession implements ReplicaConnection, ResponseReader, ReplicaSideOwner, MessagesOwner, WatchedTry {
  readonly isClosing = false;
  readonly pool: UpstreamPool;
  readonly #owner: SessionOwner;
  readonly #parts: SessionParts;
  readonly #side: ReplicaSide;
  readonly #messages = new IncomingMessages(this, { isClient: false, mostControlFrames: Number.POSITIVE_INFINITY });
  readonly #type = new EventType();
  readonly #events = new EventBytes();
  #state: "new" | "opening" | "open" | "refused" | "closed" = "new";
  /** Who reads what answers the message under way. */
  #reader: ResponseReader | undefined;
  /** Whether the head of the answer has been given. */
  #hasHead = false;
  /** The first message of an answer has not come whole. */
  #isInFirst = false;
  /** How the last answer ended, until another message answers the one under way. */
  #lastEnd = "";
  readonly #silence: AnswerSilence;
  #lastSentMs = 0;

  constructor(pool: UpstreamPool, owner: SessionOwner, parts: SessionParts) {
    this.pool = pool;
    this.#owner = owner;
    this.#parts = parts;
    this.#silence = new AnswerSilence(pool);
    this.#side = new ReplicaSide(pool, parts.tunnels, parts.memory, this);
  }

  get isIdle(): boolean {
    return this.#reader === undefined;
  }

  // As a connection.

  get hasSentAll(): boolean {
    return this.#side.hasSentAll;
  }

  send(method: string, head: string, body: readonly Uint8Array[], reader: ResponseReader): void {
    this.#reader = reader;
    this.#hasHead = false;
    this.#isInFirst = true;
    this.#silence.begin();
    this.pool.begins(this);
    if (this.#state !== "new") return this.#say(maskedText(body));
    this.#state = "opening";
    this.#side.send(method, head, body, this);
  }

  pause(): void {
    this.#side.pause();
  }

  resume(): void {
    this.#silence.heard(false);
    this.#side.resume();
  }

  /** Nobody waits for the rest of the answer, behind which no other could be told from it. */
  destroy(): void {
    this.#end();
  }

  /** The client has left. */
  close(): void {
    if (this.#state === "open") this.#side.say(closeFrame(CLOSE.normal, "", true));
    this.destroy();
  }

  // As a try that is watched.

  get watchState(): WatchedTry["watchState"] {
    if (this.#reader === undefined || this.#side.isPaused) return "idle";
    return this.hasTokens ? "streaming" : "waiting";
  }

  get isStream(): boolean {
    return true;
  }

  get hasTokens(): boolean {
    return this.#reader?.hasTokens === true;
  }

  get silenceMs(): number {
    return this.#silence.ms;
  }

  get longestGapMs(): number {
    return this.#silence.longestGapMs;
  }

  cut(): void {
    if (this.#reader !== undefined) this.#fail("wedged");
  }

  // Reports from the replica's end.

  accepts(head: Head): boolean {
    return this.#owner.opening.accepts(head);
  }

  openingHead(head: string): string {
    return this.#owner.opening.headFor(head);
  }

  head(head: Head, framing: Framing): void {
    if (head.status === 101) return;
    this.#state = "refused";
    this.#reader?.head(head, framing);
  }

  opened(): void {
    if (this.#state !== "opening") return;
    this.#state = "open";
    this.#parts.tunnels.carried += 1;
    this.#lastSentMs = this.#side.nowMs;
    this.#silence.begin();
  }

  body(chunk: Buffer, spans: ArrayLike<number>, spanCount: number, isVerbatim: boolean): void {
    if (this.#state === "refused") return this.#reader?.body(chunk, spans, spanCount, isVerbatim);
    this.#silence.heard(this.hasTokens);
    this.#messages.read(chunk, spans[0]!, spans[1]!);
    if (this.#state === "open" && this.#mayPass) this.#pass();
    if (this.hasTokens) this.pool.heard(this.pool.deadlines.clockMs);
  }

  readDone(): void {
    this.#reader?.readDone();
  }

  end(isVerbatimEnd: boolean): void {
    const reader = this.#reader;
    this.#end();
    reader?.end(isVerbatimEnd);
  }

  failed(failure: UpstreamFailure, isDelivered: boolean): void {
    const reader = this.#reader;
    this.#end();
    reader?.failed(failure, isDelivered);
  }

  passed(): void {}

  replicaDrained(): void {}

  swept(nowMs: number): void {
    if (this.#side.isPaused) this.#silence.excuse(nowMs);
    if (this.#reader !== undefined && this.#silence.isTooLong(this.#hasHead, nowMs)) return this.#fail("timeout");
    if (nowMs - this.#lastSentMs >= this.#parts.pingMs) this.#say(pingFrame(true));
  }

  // Reports from the frames.

  begins(): boolean {
    this.#type.reset();
    this.#events.begin();
    return true;
  }

  text(chunk: Uint8Array, start: number, end: number): void {
    this.#type.read(chunk, start, end);
    this.#events.add(chunk, start, end);
    if (this.#events.isFull) this.#pass();
  }

  complete(): void {
    const type = this.#type.value;
    this.#isInFirst = false;
    this.#events.end();
    this.#messages.next();
    const isSecondEnd = type === SECOND_END && this.#lastEnd !== "" && this.#lastEnd !== SECOND_END;
    const isEnd = ENDINGS.has(type) && !isSecondEnd && this.#reader !== undefined;
    this.#lastEnd = isEnd ? type : "";
    if (isEnd) this.#answered(type);
  }

  pinged(payload: Uint8Array): void {
    this.#say(pongFrame(payload, true));
  }

  /** Without the end of an answer that is under way, it is none. */
  left(): void {
    this.#side.say(closeFrame(CLOSE.normal, "", true));
    this.#fail("reset");
  }

  broken(): void {
    this.#fail("invalid");
  }

  /** The first message is held back as long as it may be an error, which may have a status. */
  get #mayPass(): boolean {
    const { value } = this.#type;
    return !this.#isInFirst || (value !== "" && value !== "error");
  }

  #answered(type: string): void {
    const status = type === "error" && !this.#hasHead ? refusalHead(this.#events.first) : undefined;
    const reader = this.#reader;
    if (status === undefined) this.#pass();
    else this.#refuse(status);
    // Whoever reads it may have ended it, and with it this.
    if (this.#reader !== reader) return;
    this.#reader = undefined;
    this.pool.ends(this);
    reader!.readDone();
    reader!.end(false);
  }

  #refuse(head: Head): void {
    const { first } = this.#events;
    this.#hasHead = true;
    this.#reader!.head(head, UNTIL_END);
    this.#reader?.body(first, [0, first.length], 1, false);
    this.#events.clear();
  }

  #pass(): void {
    const { bytes, length } = this.#events;
    if (length === 0) return;
    this.#events.clear();
    if (this.#reader === undefined) return this.#owner.unasked(bytes, length);
    if (!this.#hasHead) {
      this.#hasHead = true;
      this.#reader.head(STREAM_HEAD, UNTIL_END);
    }
    this.#reader?.body(bytes, [0, length], 1, false);
  }

  #say(frame: Buffer): void {
    this.#lastSentMs = this.#side.nowMs;
    this.#side.say(frame);
  }

  #fail(failure: UpstreamFailure): void {
    this.failed(failure, true);
  }

  #end(): void {
    this.#reader = undefined;
    this.pool.ends(this);
    if (this.#state === "closed") return;
    this.#state = "closed";
    this.#side.destroy();
    this.#owner.ended(this);
  }
}
