import type { BodyOwner } from "../../../../core/body/receive.ts";
import { asRouterError, RouterError } from "../../../../core/contract/errors.ts";
import type { RequestReceiver } from "../../../../core/contract/slots/decode.ts";
import type { UpgradedRequest } from "../../../../core/contract/slots/upgrade.ts";
import { bodyTimeout } from "../../../../core/errors/wire-errors.ts";
import type { Door } from "../../../../core/host/door.ts";
import { ownLines } from "../../../../core/intake/own-lines.ts";
import { intake } from "../../../../core/intake/starter.ts";
import type { Run } from "../../../../core/run.ts";
import type { Timed } from "../../../../core/wire/deadlines.ts";
import type { Head } from "../../../../core/wire/head.ts";
import { CLOSE } from "../../../../core/wire/websocket/close-codes.ts";
import { closeFrame, pingFrame, pongFrame } from "../../../../core/wire/websocket/frames.ts";
import { IncomingMessages, type MessagesOwner } from "../../../../core/wire/websocket/incoming-messages.ts";
import { ClientSide } from "../client-side.ts";
import { closeCodeOf } from "../close-code.ts";
import { messageHead } from "../message-head.ts";
import { Opening } from "../opening.ts";
import type { TunnelParts } from "../tunnels.ts";
import { AheadBytes } from "./ahead-bytes.ts";
import { createParser } from "./create-parser.ts";
import { EventFrames } from "./event-frames.ts";
import { type MessageOwner, MessageResponse } from "./message-response.ts";
import { ReplicaSessions } from "./replica-sessions.ts";

const NOTHING = new Uint8Array(0);
const CLIENT = { isClient: true, mostControlFrames: Number.POSITIVE_INFINITY };

/**
 * The WebSocket of a client each of whose messages is a request: it goes the way of every request, to whichever replica is right for it.
 * What was asked for by the handshake is answered as soon as it is known who asks. One message is under way at a time; those behind it wait.
 */
export class MessageDoor implements RequestReceiver, MessagesOwner, MessageOwner, BodyOwner, Timed {
  readonly #run: Run;
  readonly #handshake: UpgradedRequest;
  readonly #parts: TunnelParts;
  readonly #client: ClientSide;
  readonly #opening: Opening;
  readonly #sessions: ReplicaSessions;
  readonly #door: Door;
  readonly #messages = new IncomingMessages(this, CLIENT);
  readonly #events = new EventFrames(this);
  readonly #ahead: AheadBytes;
  readonly #span = new Int32Array(2);
  readonly #read = (bytes: Uint8Array, start: number, end: number) => this.#messages.read(bytes, start, end);
  #state: "entering" | "open" | "over" = "entering";
  #head: Head | undefined;
  /** Of the message under way: what answers it, and the request that it is. */
  #response: MessageResponse | undefined;
  #receiver: RequestReceiver | undefined;
  /** A message has begun and has not come whole; of one that is refused already, what comes is thrown away. */
  #isArriving = false;
  #thrownAwayBytes = 0;
  /** Another message has begun while one is under way. */
  #isNextWaiting = false;
  /** The client takes more bytes. */
  #hasRoom = true;
  #deadlineMs = Number.POSITIVE_INFINITY;
  #lastMs: number;
  #lastSentMs: number;

  constructor(run: Run, handshake: UpgradedRequest, parts: TunnelParts) {
    const { tunnels, pingMs } = parts;
    this.#run = run;
    this.#handshake = handshake;
    this.#parts = parts;
    this.#opening = new Opening(run.head, true);
    this.#client = new ClientSide(run.response, () => this.#over());
    const { gate } = run.parts;
    this.#ahead = new AheadBytes(run.config.settings.limits.bodyBytes, gate.memory, this);
    const owner = { opening: this.#opening, unasked: (bytes: Buffer, length: number) => this.#passUnasked(bytes, length) };
    this.#sessions = new ReplicaSessions(owner, { tunnels, memory: gate.memory, pingMs });
    this.#door = { connections: this.#sessions, parserFor: (parser) => parser && createParser(parser) };
    this.#lastMs = parts.deadlines.nowMs;
    this.#lastSentMs = this.#lastMs;
    tunnels.open += 1;
    run.response.takeConnection?.();
  }

  get #isOver(): boolean {
    return this.#state === "over";
  }

  get client(): ClientSide {
    return this.#client;
  }

  /** The client may ask. Its handshake is answered once its head has been read to the end. */
  entered(): void {
    queueMicrotask(() => void (this.#state === "entering" && this.#open()));
  }

  // Reports from the host.

  body(chunk: Uint8Array, start: number, end: number): void {
    if (this.#state === "over") return;
    const isRead = this.#state === "open" && !this.#isNextWaiting && this.#ahead.isEmpty;
    const at = isRead ? this.#messages.read(chunk, start, end) : start;
    if (at === end || this.#isOver) return;
    try {
      this.#ahead.add(chunk, at, end);
    } catch (thrown) {
      this.refuse(asRouterError(thrown));
    }
  }

  /** A WebSocket ends with its connection. */
  bodyEnd(): void {}

  refuse(error: RouterError): void {
    if (this.#state === "entering") return this.#handshake.refuse(error);
    this.#receiver?.refuse(error);
    this.#close(closeCodeOf(error.status), error.message);
  }

  failed(error: RouterError): void {
    this.refuse(error);
  }

  clientGone(): void {
    if (this.#state === "entering") this.#handshake.clientGone();
    this.#leave();
    this.#over();
  }

  drained(): void {
    this.#hasRoom = true;
    if (this.#state === "entering") this.#handshake.drained();
    else this.#receiver?.drained();
  }

  stop(): void {
    if (this.#state === "entering") return this.#handshake.stop();
    this.#receiver?.stop();
    this.#close(CLOSE.goingAway, STOPS);
  }

  // Reports from the client's frames.

  begins(length: number): boolean {
    this.#isNextWaiting = this.#response !== undefined;
    if (this.#isNextWaiting || this.#state !== "open") return false;
    this.#lastMs = this.#parts.deadlines.nowMs;
    this.#isArriving = true;
    this.#thrownAwayBytes = 0;
    this.#deadlineMs = this.#parts.deadlines.nowMs + this.#run.config.settings.limits.bodyTimeoutMs;
    const response = new MessageResponse(this.#client, this, this.#events, this.#door);
    this.#response = response;
    const { parts, peer } = this.#run;
    const receiver = intake(parts)(this.#head!, length, response, peer);
    // It may have been answered already.
    if (this.#response === response) this.#receiver = receiver;
    return this.#state === "open";
  }

  text(chunk: Uint8Array, start: number, end: number): void {
    this.#parts.tunnels.receivedBytes += end - start;
    if (this.#receiver !== undefined) return this.#receiver.body(chunk, start, end);
    this.#thrownAwayBytes += end - start;
    if (this.#thrownAwayBytes > this.#run.config.settings.limits.bodyBytes) this.#close(CLOSE.tooBig, "The message is too long.");
  }

  complete(): void {
    this.#isArriving = false;
    this.#deadlineMs = Number.POSITIVE_INFINITY;
    this.#messages.next();
    this.#receiver?.bodyEnd();
  }

  /** A client that takes nothing gets no pong either: it has to answer no more than the last ping (RFC 6455 5.5.3). */
  pinged(payload: Uint8Array): void {
    this.#lastMs = this.#parts.deadlines.nowMs;
    if (this.#hasRoom && this.#client.frames.isBetween) this.#say(pongFrame(payload));
  }

  left(): void {
    this.#close(CLOSE.normal, "");
  }

  broken(code: number, reason: string): void {
    this.#receiver?.refuse(new RouterError("bad_request", reason));
    this.#close(code, reason);
  }

  // Reports from the response.

  frames(bytes: Uint8Array, start: number, end: number): boolean {
    this.#span[0] = start;
    this.#span[1] = end;
    this.#lastSentMs = this.#parts.deadlines.nowMs;
    this.#hasRoom = this.#client.write(bytes, this.#span, 1, false);
    return this.#hasRoom;
  }

  /** What keeps an event stream alive does the same for a WebSocket as a ping. */
  comment(): boolean {
    if (this.#hasRoom) this.#say(pingFrame(false));
    return this.#hasRoom;
  }

  holdBody(isHeld: boolean): void {
    if (!this.#isOver) this.#client.holdBody(isHeld);
  }

  responded(status: number, isCut: boolean): void {
    this.#response = undefined;
    this.#receiver = undefined;
    if (this.#state !== "open") return;
    this.#lastMs = this.#parts.deadlines.nowMs;
    this.#client.holdBody(false);
    if (isCut) return this.#end();
    // Whose key is none any more has nothing else to ask for; a message that is too long, or too slow, is not waited for.
    if (status === 401 || (this.#isArriving && (status === 413 || status === 408)))
      return this.#close(closeCodeOf(status), "See the error before.");
    if (this.#run.parts.identity.isStopping && !this.#isNextWaiting) return this.#close(CLOSE.goingAway, STOPS);
    // Later: one request must not be read inside another.
    if (this.#isNextWaiting) queueMicrotask(() => this.#readOn());
  }

  sweep(nowMs: number): void {
    if (nowMs >= this.#deadlineMs) {
      this.#deadlineMs = Number.POSITIVE_INFINITY;
      if (this.#receiver !== undefined) return this.#receiver.refuse(bodyTimeout());
      return this.#close(CLOSE.policy, "The message took too long.");
    }
    const isIdle = this.#response === undefined && !this.#isArriving;
    if (isIdle && this.#run.parts.identity.isStopping) return this.#close(CLOSE.goingAway, STOPS);
    if (isIdle && nowMs - this.#lastMs >= this.#parts.settings.idleMs) return this.#close(CLOSE.goingAway, IDLE);
    const isQuiet = nowMs - this.#lastSentMs >= this.#parts.pingMs;
    if (isQuiet && this.#hasRoom && this.#client.frames.isBetween) this.#say(pingFrame(false));
  }

  #open(): void {
    const { head, ticket } = this.#run;
    this.#head = messageHead(head);
    this.#client.accept(`${ownLines(this.#run)}Sec-WebSocket-Accept: ${this.#opening.accept}\r\n${this.#opening.protocolLine}`);
    this.#client.start(101, "", "", -1);
    this.#state = "open";
    this.#parts.deadlines.add(this);
    ticket.status = 101;
    this.#handshake.completed();
    this.#readOn();
  }

  #readOn(): void {
    if (this.#state !== "open") return;
    this.#isNextWaiting = false;
    // Its header may be all that has come.
    this.#messages.read(NOTHING, 0, 0);
    if (!this.#isNextWaiting) this.#ahead.handTo(this.#read);
  }

  /** Behind an answer that has ended, another server event may follow. */
  #passUnasked(bytes: Buffer, length: number): void {
    if (this.#state === "open" && this.#response === undefined && this.#hasRoom) this.#events.read(bytes, 0, length);
  }

  #say(frame: Buffer): void {
    this.#lastSentMs = this.#parts.deadlines.nowMs;
    this.#hasRoom = this.#client.say(frame);
  }

  /** Ends the request that a message is, whose client has left. */
  #leave(): void {
    this.#response?.detach();
    const receiver = this.#receiver;
    this.#receiver = undefined;
    this.#response = undefined;
    receiver?.clientGone();
  }

  /** Says Close, where no frame is under way, and ends. */
  #close(code: number, reason: string): void {
    if (this.#state !== "open") return;
    if (this.#client.frames.isBetween) this.#client.say(closeFrame(code, reason));
    this.#end();
  }

  #end(): void {
    this.#over();
    this.#leave();
    this.#client.end();
  }

  #over(): void {
    if (this.#state === "over") return;
    this.#state = "over";
    this.#parts.tunnels.open -= 1;
    this.#parts.deadlines.delete(this);
    this.#sessions.close();
    this.#ahead.clear();
    // What still comes is thrown away, so that the client's end is seen.
    this.#client.holdBody(false);
  }
}

const STOPS = "The router stops; connect again.";
const IDLE = "Nothing has passed for too long; send pings.";
