import type { Clock } from "../../../core/contract/clock.ts";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import { RouterError } from "../../../core/contract/errors.ts";
import type { RequestReceiver } from "../../../core/contract/slots/decode.ts";
import { afterAwake } from "../../../core/contract/standstill.ts";
import { ownLines } from "../../../core/intake/own-lines.ts";
import type { ReplicaConnections } from "../../../core/pool/connections.ts";
import type { Run } from "../../../core/run.ts";
import type { Head } from "../../../core/wire/head.ts";
import { UpstreamPool } from "../../../core/wire/upstream-pool.ts";
import { acceptFor } from "../../../core/wire/websocket/accept.ts";
import { ClientMessage, type ClientMessageOwner } from "../../../core/wire/websocket/client-message.ts";
import { CLOSE } from "../../../core/wire/websocket/close-codes.ts";
import { FrameTrack } from "../../../core/wire/websocket/frame-track.ts";
import { closeFrame, pongFrame, textFrame } from "../../../core/wire/websocket/frames.ts";
import { ClientSide } from "./client-side.ts";
import { asksForWebSocket, firstProtocol, keyOf } from "./handshake.ts";
import { openingHead, sessionCreated } from "./opening.ts";
import { ReplicaSide, type ReplicaSideOwner } from "./replica-side.ts";
import type { Tunnels } from "./tunnels.ts";
import type { WebSocketSettings } from "./websockets-config.ts";

/** What a client may send before a replica gets it. Beyond it the client is not read, and then nobody notices that it leaves. */
const MOST_KEPT_BYTES = 64 * 1024;
/** So long either side may wait for the other's Close after its own. */
const CLOSING_MS = 5_000;

/** What all tunnels of a config share. */
export interface TunnelParts {
  readonly settings: WebSocketSettings;
  readonly clock: Clock;
  readonly tunnels: Tunnels;
}

/**
 * One WebSocket from its handshake to its end. To the router it is a request: what the client says first is its body, what the replica
 * sends its response. Only what the client sends after that passes here, past the request.
 */
export class Tunnel implements RequestReceiver, ClientMessageOwner, ReplicaSideOwner {
  readonly client: ClientSide;
  readonly #run: Run;
  readonly #receiver: RequestReceiver;
  readonly #parts: TunnelParts;
  readonly #fromClient = new FrameTrack();
  /** Undefined where the query names the model. */
  readonly #first: ClientMessage | undefined;
  #state: "entering" | "reading" | "choosing" | "open" | "over" = "entering";
  /** The newest one: there is another for each try. */
  #replica: ReplicaSide | undefined;
  #kept: Buffer[] = [];
  #keptBytes = 0;
  #cancelWait: (() => void) | undefined;
  /** When bytes last passed in either direction, and since when one side has closed, on the replica's sweeps. */
  #lastMs = Number.NaN;
  #closingSinceMs = Number.NaN;

  constructor(run: Run, receiver: RequestReceiver, isNamed: boolean, parts: TunnelParts) {
    this.#run = run;
    this.#receiver = receiver;
    this.#parts = parts;
    this.client = new ClientSide(run.response, () => this.#over());
    this.#first = isNamed ? undefined : new ClientMessage(this);
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
    if (this.#state === "open") return this.#pass(chunk, start, end);
    const at = this.#state === "reading" ? this.#first!.read(chunk, start, end) : start;
    if (at < end && this.#state !== "over") this.#keep(chunk, at, end);
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
    const isAnswer = asksForWebSocket(head) && head.get("sec-websocket-accept") === this.#accept;
    if (!isAnswer || this.#first === undefined) return isAnswer;
    // The client has its answer already, so the replica can't agree to anything else.
    const protocol = head.get("sec-websocket-protocol") ?? "";
    return head.get("sec-websocket-extensions") === undefined && (protocol === "" || protocol === firstProtocol(this.#run.head));
  }

  openingHead(head: string): string {
    return openingHead(head, this.#first === undefined ? undefined : firstProtocol(this.#run.head));
  }

  opened(): void {
    if (this.#state !== "choosing") return;
    this.#state = "open";
    this.#parts.tunnels.carried += 1;
    const kept = this.#kept;
    this.#kept = [];
    this.#touch();
    let hasRoom = true;
    for (const bytes of kept) hasRoom = this.#forward(bytes, 0, bytes.length);
    this.client.holdBody(!hasRoom);
  }

  passed(): void {
    this.#touch();
    this.#endIfClosed();
  }

  replicaDrained(): void {
    this.client.holdBody(false);
  }

  swept(nowMs: number): void {
    if (nowMs - this.#closingSinceMs >= CLOSING_MS) return this.#replica?.finish();
    if (nowMs - this.#lastMs < this.#parts.settings.idleMs) return;
    this.client.farewell = { code: CLOSE.goingAway, reason: "Nothing has passed for too long; send pings." };
    this.#receiver.refuse(new RouterError("request_timeout", "Nothing has passed on the WebSocket for too long; send pings."));
  }

  #connectionTo(endpoint: Endpoint): ReplicaSide | undefined {
    const { parts, pool } = this.#run;
    const { tunnels } = this.#parts;
    const replicas = pool.connections.of(endpoint);
    // Others have no sockets.
    if (!(replicas instanceof UpstreamPool)) return undefined;
    if (replicas.size + tunnels.countAt(replicas) >= replicas.limits.upstreamConnections) return undefined;
    this.#replica = new ReplicaSide(replicas, tunnels, parts.gate.memory, this);
    return this.#replica;
  }

  /** Answers the handshake, because the model stands in what the client will say. */
  #hearFirst(): void {
    const { head, ticket } = this.#run;
    const { settings, clock } = this.#parts;
    const protocol = firstProtocol(head);
    const chosen = protocol === "" ? "" : `Sec-WebSocket-Protocol: ${protocol}\r\n`;
    this.client.accept(`${ownLines(this.#run)}Sec-WebSocket-Accept: ${this.#accept}\r\n${chosen}`);
    if (ticket.path.endsWith("/realtime")) this.client.say(textFrame(sessionCreated(ticket.id, clock.wall())));
    this.#state = "reading";
    this.#cancelWait = afterAwake(clock, settings.firstMessageMs, () => this.refuse(noFirstMessage()));
    const kept = this.#kept;
    this.#kept = [];
    this.#keptBytes = 0;
    for (const bytes of kept) this.body(bytes, 0, bytes.length);
    if (this.#keptBytes < MOST_KEPT_BYTES) this.client.holdBody(false);
  }

  get #accept(): string {
    return acceptFor(keyOf(this.#run.head));
  }

  #pass(chunk: Uint8Array, start: number, end: number): void {
    this.#touch();
    if (!this.#forward(chunk, start, end)) this.client.holdBody(true);
    this.#endIfClosed();
  }

  /** Returns false when the replica takes no more for now. */
  #forward(chunk: Uint8Array, start: number, end: number): boolean {
    this.#fromClient.read(chunk, start, end);
    this.#run.ticket.requestBytes += end - start;
    this.#parts.tunnels.receivedBytes += end - start;
    return this.#replica!.write(chunk, start, end);
  }

  #keep(chunk: Uint8Array, start: number, end: number): void {
    this.#kept.push(Buffer.from(chunk.subarray(start, end)));
    this.#keptBytes += end - start;
    if (this.#keptBytes >= MOST_KEPT_BYTES) this.client.holdBody(true);
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
    this.#kept = [];
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
