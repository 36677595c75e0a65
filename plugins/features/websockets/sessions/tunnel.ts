import type { Endpoint } from "../../../../core/contract/endpoint.ts";
import { RouterError } from "../../../../core/contract/errors.ts";
import type { RequestReceiver } from "../../../../core/contract/slots/decode.ts";
import { afterAwake } from "../../../../core/contract/standstill.ts";
import { ownLines } from "../../../../core/intake/own-lines.ts";
import type { ReplicaConnections } from "../../../../core/pool/connections.ts";
import type { Run } from "../../../../core/run.ts";
import type { Head } from "../../../../core/wire/head.ts";
import { UpstreamPool } from "../../../../core/wire/upstream-pool.ts";
import { CLOSE } from "../../../../core/wire/websocket/close-codes.ts";
import { closeFrame, maskedText, pongFrame, textFrame } from "../../../../core/wire/websocket/frames.ts";
import { IncomingMessages, type MessagesOwner } from "../../../../core/wire/websocket/incoming-messages.ts";
import { ClientSide } from "../client-side.ts";
import { closeCodeOf } from "../close-code.ts";
import { KeptBytes } from "../kept-bytes.ts";
import { Opening, sessionCreated } from "../opening.ts";
import { ReplicaSide, type ReplicaSideOwner } from "../replica-side.ts";
import type { TunnelParts } from "../tunnels.ts";
import { CheckedFrames, type CheckedFramesOwner } from "./checked-frames.ts";
import { SessionModels, type SessionModelsOwner } from "./session-models.ts";
import { SilentEnds } from "./silent-ends.ts";

const CLIENT = { isClient: true, mostControlFrames: 64 };
/** So long either side may wait for the other's Close after its own. */
const CLOSING_MS = 5_000;

/**
 * One session at one replica, from its handshake to its end. To the router it is a request: what the client says first is its body, what
 * the replica sends its response. What the client sends after that passes here, past the request; but a message that names another model
 * is a request of its own.
 */
export class Tunnel implements RequestReceiver, MessagesOwner, ReplicaSideOwner, CheckedFramesOwner, SessionModelsOwner {
  readonly client: ClientSide;
  readonly #run: Run;
  readonly #receiver: RequestReceiver;
  readonly #parts: TunnelParts;
  readonly #opening: Opening;
  readonly #models: SessionModels;
  readonly #fromClient: CheckedFrames;
  /** Undefined where the query names the model. */
  readonly #first: IncomingMessages | undefined;
  #state: "entering" | "reading" | "choosing" | "open" | "over" = "entering";
  /** The newest one, and whose it is: there is another for each try. */
  #replica: ReplicaSide | undefined;
  #replicas: UpstreamPool | undefined;
  readonly #kept: KeptBytes;
  /** It is not known yet what becomes of a message. */
  #isJudging = false;
  /** The replica takes no more for now. */
  #isFull = false;
  #cancelWait: (() => void) | undefined;
  /** When bytes last passed in either direction, and since when one side has closed, on the replica's sweeps. */
  #lastMs = Number.NaN;
  #closingSinceMs = Number.NaN;
  #ends: SilentEnds | undefined;

  constructor(run: Run, receiver: RequestReceiver, isNamed: boolean, parts: TunnelParts) {
    this.#run = run;
    this.#receiver = receiver;
    this.#parts = parts;
    this.client = new ClientSide(run.response, () => this.#over());
    this.#opening = new Opening(run.head, !isNamed);
    this.#models = new SessionModels(run, this);
    const { limits } = run.config.settings;
    this.#fromClient = new CheckedFrames(this, { messageBytes: limits.bodyBytes, memory: run.parts.gate.memory });
    this.#kept = new KeptBytes(() => this.#hold());
    this.#first = isNamed ? undefined : new IncomingMessages(this, CLIENT);
    parts.tunnels.open += 1;
    run.response.takeConnection?.();
  }

  /** The client may ask. The request goes on once its head has been read to the end. */
  entered(): void {
    queueMicrotask(() => {
      if (this.#state !== "entering") return;
      if (this.#first === undefined) this.complete();
      else this.#hearFirst();
    });
  }

  /** The connections of the request: each try has one of its own. */
  of(endpoint: Endpoint): ReplicaConnections {
    return { take: () => this.#connectionTo(endpoint), takeSpare: () => undefined };
  }

  // Reports from the host.

  body(chunk: Uint8Array, start: number, end: number): void {
    let at = start;
    if (this.#state === "open" && !this.#isJudging) at = this.#read(chunk, start, end);
    else if (this.#state === "reading") at = this.#first!.read(chunk, start, end);
    if (at < end && this.#state !== "over") this.#kept.add(chunk, at, end);
  }

  /** A WebSocket ends with its connection. */
  bodyEnd(): void {}

  refuse(error: RouterError): void {
    this.#receiver.refuse(error);
  }

  clientGone(): void {
    if (this.#state === "open" && this.isClosing) this.#replica?.finish();
    this.#over();
    this.#receiver.clientGone();
  }

  drained(): void {
    this.#receiver.drained();
  }

  stop(): void {
    this.client.farewell = { code: CLOSE.goingAway, reason: "The router stops; connect again." };
    this.#receiver.stop();
  }

  // Reports from the first message.

  begins(): boolean {
    return true;
  }

  text(chunk: Uint8Array, start: number, end: number): void {
    this.#receiver.body(chunk, start, end);
  }

  complete(): void {
    if (this.#state === "over") return;
    this.#cancelWait?.();
    this.#state = "choosing";
    this.#receiver.bodyEnd();
  }

  pinged(payload: Uint8Array): void {
    this.client.say(pongFrame(payload));
  }

  left(): void {
    this.client.say(closeFrame(CLOSE.normal, ""));
    this.#receiver.clientGone();
    this.client.leave();
  }

  broken(code: number, reason: string): void {
    this.client.farewell = { code, reason };
    this.#receiver.refuse(new RouterError("bad_request", reason));
  }

  // Reports from the replica.

  get isClosing(): boolean {
    return this.#fromClient.isClosed || this.client.frames.isClosed;
  }

  accepts(head: Head): boolean {
    return this.#opening.accepts(head);
  }

  openingHead(head: string): string {
    return this.#opening.headFor(head);
  }

  opened(): void {
    if (this.#state !== "choosing") return;
    this.#state = "open";
    this.#parts.tunnels.carried += 1;
    this.#touch();
    this.#ends = new SilentEnds(this.client, this.#replica!, this.#parts.pingMs);
    this.#readKept();
  }

  passed(): void {
    this.#ends?.clientGot();
    if (this.client.frames.takeSpoken()) this.#touch();
    this.#endIfClosed();
  }

  replicaDrained(): void {
    this.#isFull = false;
    this.#hold();
  }

  swept(nowMs: number): void {
    if (nowMs - this.#closingSinceMs >= CLOSING_MS) return this.#replica?.finish();
    if (nowMs - this.#lastMs < this.#parts.settings.idleMs) return this.#ends?.ping(nowMs, this.#fromClient.isBetween);
    this.client.farewell = { code: CLOSE.goingAway, reason: "Nothing has passed for too long; send pings." };
    this.#receiver.refuse(new RouterError("request_timeout", "Nothing has passed on the WebSocket for too long; send pings."));
  }

  // Reports from the client's frames.

  pass(chunk: Uint8Array, start: number, end: number): void {
    this.#ends!.replicaGot();
    if (!this.#replica!.write(chunk, start, end)) this.#isFull = true;
  }

  judge(message: Uint8Array): boolean {
    this.#isJudging = !this.#models.judge(message, this.#replicas!);
    return !this.#isJudging;
  }

  failed(error: RouterError): void {
    this.client.farewell = { code: closeCodeOf(error.status), reason: error.message };
    this.#receiver.refuse(error);
  }

  passMessage(parts: readonly Uint8Array[]): void {
    const frame = maskedText(parts);
    this.pass(frame, 0, frame.length);
  }

  refused(event: string): void {
    this.client.sayBetween(textFrame(event));
  }

  goOn(): void {
    this.#isJudging = false;
    // Later: one request must not be read inside another.
    queueMicrotask(() => this.#readKept());
  }

  #connectionTo(endpoint: Endpoint): ReplicaSide | undefined {
    const { parts, pool } = this.#run;
    const { tunnels } = this.#parts;
    const replicas = pool.connections.of(endpoint);
    // Others have no sockets.
    if (!(replicas instanceof UpstreamPool)) return undefined;
    if (replicas.size + tunnels.countAt(replicas) >= replicas.limits.upstreamConnections) return undefined;
    this.#replicas = replicas;
    this.#replica = new ReplicaSide(replicas, tunnels, parts.gate.memory, this);
    return this.#replica;
  }

  /** Answers the handshake, because the model stands in what the client will say. */
  #hearFirst(): void {
    const { ticket } = this.#run;
    const { settings, clock } = this.#parts;
    const { accept, protocolLine } = this.#opening;
    this.client.accept(`${ownLines(this.#run)}Sec-WebSocket-Accept: ${accept}\r\n${protocolLine}`);
    if (ticket.path.endsWith("/realtime")) this.client.say(textFrame(sessionCreated(ticket.id, clock.wall())));
    this.#state = "reading";
    this.#cancelWait = afterAwake(clock, settings.firstMessageMs, () => this.refuse(noFirstMessage()));
    this.#readKept();
  }

  #readKept(): void {
    for (const bytes of this.#kept.take()) this.body(bytes, 0, bytes.length);
    this.#hold();
  }

  /** Returns where it has to wait. */
  #read(chunk: Uint8Array, start: number, end: number): number {
    const at = this.#fromClient.read(chunk, start, end);
    this.#run.ticket.requestBytes += at - start;
    this.#parts.tunnels.receivedBytes += at - start;
    if (this.#state !== "open") return end;
    if (this.#fromClient.takeSpoken()) this.#touch();
    if (this.#isFull) this.#hold();
    this.#endIfClosed();
    return at;
  }

  #hold(): void {
    this.client.holdBody(this.#isFull || this.#kept.isFull);
  }

  #touch(): void {
    this.#lastMs = this.#replica!.nowMs;
  }

  #endIfClosed(): void {
    if (!this.isClosing || this.#state !== "open") return;
    if (this.#fromClient.isClosed && this.client.frames.isClosed) this.#replica!.finish();
    else if (Number.isNaN(this.#closingSinceMs)) this.#closingSinceMs = this.#replica!.nowMs;
  }

  #over(): void {
    if (this.#state === "over") return;
    this.#state = "over";
    this.#parts.tunnels.open -= 1;
    this.#cancelWait?.();
    this.#models.close();
    this.#fromClient.close();
    this.#kept.take();
    // What still comes is thrown away, so that the client's end is seen.
    this.client.holdBody(false);
  }
}

function noFirstMessage(): RouterError {
  return new RouterError(
    "request_timeout",
    "The first message, which names the model, took too long; send it at once, or put ?model= into the query.",
  );
}
