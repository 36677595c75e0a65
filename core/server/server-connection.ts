import type { Socket } from "node:net";
import type { RouterError } from "../contract/errors.ts";
import type { RequestReceiver } from "../contract/slots/decode.ts";
import { bodyTimeout, errorOf, expectationFailed, headTimeout } from "../errors/wire-errors.ts";
import { LAST_WORDS_MS } from "../host/response-writer.ts";
import { readAccepted } from "../runtime/accepted-socket.ts";
import { afterOthersReads } from "../runtime/next-turn.ts";
import type { Timed } from "../wire/deadlines.ts";
import type { Head } from "../wire/head.ts";
import { HeadParser } from "../wire/head-parser.ts";
import { WriteProgress } from "../wire/write-progress.ts";
import { CheckedHead } from "./checked-head.ts";
import { type ConnectionState, LAST_CHANCE_MS, LINGER_MS, MOST_IN_A_TURN, PARTING_MS } from "./connection-state.ts";
import { PipelinedBytes } from "./pipelined-bytes.ts";
import { refusableHead } from "./refusable-head.ts";
import { type BodySink, RequestBody } from "./request-body.ts";
import { unacknowledgedBytes } from "./send-queues.ts";
import { type ResponseOwner, ServerResponse } from "./server-response.ts";
import type { OpenConnection, ServerShared } from "./server-shared.ts";

/** One client connection: bytes in, requests out, one at a time. */
export class ServerConnection implements OpenConnection, Timed, BodySink, ResponseOwner {
  readonly #socket: Socket;
  readonly #shared: ServerShared;
  /** Those that it is counted in: after a change of the config there may be others. */
  readonly #clients: ServerShared["clients"];
  readonly #parser: HeadParser;
  readonly #body = new RequestBody();
  readonly #progress: WriteProgress;
  readonly peer: string;
  readonly #checked = new CheckedHead();
  #state: ConnectionState = "idle";
  #deadlineMs: number;
  #receiver: RequestReceiver | undefined;
  #response: ServerResponse | undefined;
  /** What the client sends ahead. Closed once no request may follow the one that is under way or comes next. */
  readonly #pipelined = new PipelinedBytes();

  constructor(socket: Socket, shared: ServerShared, peer = socket.remoteAddress ?? "") {
    const { deadlines, limits } = shared;
    this.peer = peer;
    this.#shared = shared;
    this.#clients = shared.clients;
    this.#parser = new HeadParser("request", limits);
    this.#socket = readAccepted(socket, (chunk) => this.#read(chunk));
    this.#progress = new WriteProgress(deadlines, limits.writeTimeoutMs, shared.memory, (nowMs) =>
      unacknowledgedBytes(this.#socket, nowMs),
    );
    this.#deadlineMs = deadlines.nowMs + limits.headTimeoutMs;
    deadlines.add(this);
    this.#socket.on("drain", () => this.#drained());
    // A client that closes its sending side has left: to wait for half-open readers would hide real disconnects.
    for (const event of ["end", "error"]) this.#socket.on(event, () => this.#socket.destroy());
    this.#socket.on("close", () => this.#closed());
  }

  sweep(nowMs: number): void {
    const unsentBytes = this.#socket.writableLength;
    if (this.#progress.isStalled(unsentBytes, nowMs)) return void this.#socket.resetAndDestroy();
    // A client that still takes its last response is not idle. A stopping server does not wait for it.
    const isTaking = unsentBytes > 0 && !this.#shared.isDraining && (this.#state === "idle" || this.#state === "linger");
    if (nowMs < this.#deadlineMs || isTaking) return;
    if (this.#state === "head") this.#refuse(headTimeout());
    else if (this.#state === "body") this.#refuse(bodyTimeout());
    else if (this.#state !== "idle") this.#socket.destroy();
    else this.#part(nowMs);
  }

  /** The idle time is over. Who has asked before may ask once more, for a little longer; it ends when what has come by then is read. */
  #part(nowMs: number): void {
    if (this.#pipelined.isClosed || this.#shared.isDraining || !this.#checked.isKept)
      return afterOthersReads(() => void (this.#state === "idle" && this.#socket.destroy()));
    this.#pipelined.close();
    this.#deadlineMs = nowMs + PARTING_MS;
  }

  beginDrain(): void {
    if (this.#state === "idle") this.#deadlineMs = Math.min(this.#deadlineMs, this.#shared.deadlines.nowMs + LAST_CHANCE_MS);
  }

  get isLast(): boolean {
    return this.#shared.isDraining || this.#pipelined.isClosed || (this.#state === "body" && !this.#body.isSkippable);
  }

  get state(): ConnectionState {
    return this.#state;
  }

  cut(): void {
    if (this.#receiver === undefined) this.#socket.destroy();
    else this.#receiver.stop();
  }

  #read(chunk: Buffer): void {
    if (this.#state === "linger" || this.#state === "closed") return;
    // Keep the order: earlier bytes may still wait for their microtask.
    if (this.#state === "response" || this.#pipelined.length > 0) this.#keep(chunk);
    else this.#consume(chunk);
  }

  #consume(chunk: Buffer): void {
    let at = 0;
    let served = 0;
    try {
      while (at < chunk.length) {
        // Responses that nobody reads take memory; many requests that need no replica, handled in one turn, would hold up everybody else.
        if (this.#state === "idle" && (served++ >= MOST_IN_A_TURN || this.#socket.writableNeedDrain))
          return this.#hold(chunk.subarray(at));
        if (this.#state === "idle" || this.#state === "head") at = this.#readHead(chunk, at);
        else if (this.#state === "body" || this.#state === "skip") at = this.#readBody(chunk, at);
        else return void (this.#state === "response" && this.#keep(chunk.subarray(at)));
      }
    } catch (thrown) {
      this.#refuse(errorOf(thrown));
    }
  }

  /** Returns where to go on in `chunk`. */
  #readHead(chunk: Buffer, start: number): number {
    const end = this.#parser.push(chunk, start);
    if (end >= 0) {
      this.#begin(this.#parser.head);
      return end;
    }
    // An empty line before a request does not begin it.
    if (this.#state === "idle" && this.#parser.hasStarted) this.#await("head", this.#shared.limits.headTimeoutMs);
    return chunk.length;
  }

  #begin(head: Head): void {
    try {
      this.#checked.check(head);
    } catch (thrown) {
      return this.#refuseHead(head, errorOf(thrown));
    }
    const { framing, isKept } = this.#checked;
    const response = new ServerResponse(this.#socket, head, isKept, this);
    this.#body.begin(framing);
    this.#response = response;
    if (this.#body.isComplete) this.#await("response");
    else this.#await("body", this.#shared.limits.bodyTimeoutMs);
    const expectation = head.get("expect");
    this.#body.isWithheld = expectation !== undefined;
    const receiver = this.#shared.start(head, framing.kind === "chunked" ? -1 : framing.length, response, this.peer);
    // The receiver may have responded inside `start`.
    if (this.#response !== response) return;
    this.#receiver = receiver;
    if (expectation !== undefined && expectation.toLowerCase() !== "100-continue") return this.#refuse(expectationFailed());
    if (this.#state === "response") return receiver.bodyEnd();
    if (expectation === undefined || head.minor === 0) return;
    this.#body.isWithheld = false; // RFC 9110 10.1.1: nothing in the head speaks against the body.
    this.#socket.write("HTTP/1.1 100 Continue\r\n\r\n", "latin1");
  }

  /** Returns where to go on in `chunk`. */
  #readBody(chunk: Buffer, start: number): number {
    const end = this.#body.read(chunk, start, this);
    if (!this.#body.isComplete) return end;
    if (this.#state === "skip") this.#next();
    // In any other state the response has come before the end of the body.
    else if (this.#state === "body") {
      this.#await("response");
      this.#receiver?.bodyEnd();
    }
    return end;
  }

  bodyBytes(chunk: Buffer, start: number, end: number): void {
    this.#receiver?.body(chunk, start, end);
  }

  /** Keeps the bytes until a later turn, and until all responses are taken. No request is under way that its client could leave. */
  #hold(bytes: Buffer): void {
    this.#keep(bytes);
    this.#socket.pause();
    if (!this.#socket.writableNeedDrain) afterOthersReads(() => this.#drained());
  }

  #keep(bytes: Buffer): void {
    this.#pipelined.add(bytes);
    // More than the body of any request may have, so this is no client that can be served.
    if (this.#pipelined.thrownAwayBytes > this.#shared.limits.bodyBytes) this.#socket.resetAndDestroy();
  }

  #drained(): void {
    this.#progress.drained();
    if (this.#state !== "idle") return this.#receiver?.drained();
    this.#await("idle", this.#shared.isDraining ? LAST_CHANCE_MS : this.#shared.limits.idleTimeoutMs);
    if (this.#pipelined.isClosed) return this.#endLast();
    this.#socket.resume();
    if (this.#pipelined.length > 0) this.#takePipelined();
  }

  /** The response is fully handed to the socket. */
  responded(isKept: boolean): void {
    this.#receiver = undefined;
    this.#response = undefined;
    if (!isKept || this.#pipelined.isClosed) return this.#endLast();
    // The rest of the body has the body's own deadline, which stays.
    if (this.#state === "body" && !this.#body.isComplete) this.#state = "skip";
    else this.#next();
  }

  /** The response was broken off; the connection ends with what is already written. */
  broken(): void {
    this.#receiver = undefined;
    this.#response = undefined;
    // A stopping server has waited for this response already, so it gives the client less time.
    this.#await("linger", this.#shared.isDraining ? LINGER_MS : this.#shared.limits.writeTimeoutMs);
  }

  endSocket(): void {
    this.#socket.end(() => {
      // The kernel has the whole response now; only the client's end is left to wait for.
      const isQuick = this.#shared.isDraining && !this.#pipelined.isClosed && this.#body.isComplete;
      this.#await(this.#state, isQuick ? LAST_CHANCE_MS : LINGER_MS);
    });
  }

  takeConnection(): void {
    this.#body.begin({ kind: "length", length: Number.POSITIVE_INFINITY });
    this.#await("body");
  }

  holdBody(isHeld: boolean): void {
    this.#socket[isHeld ? "pause" : "resume"]();
  }

  later(run: () => void): void {
    this.#shared.clock.after(LAST_WORDS_MS, () => void (this.#state !== "closed" && run()));
  }

  /** Makes ready for the next request. */
  #next(): void {
    this.#parser.reset();
    this.#await("idle", this.#shared.isDraining ? LAST_CHANCE_MS : this.#shared.limits.idleTimeoutMs);
    if (this.#pipelined.length > 0) this.#takePipelined();
  }

  #takePipelined(): void {
    // In a microtask, because the response may have ended inside `start`: one request must not be read inside another.
    queueMicrotask(() => {
      const bytes = this.#pipelined.take();
      if (bytes !== undefined) this.#read(bytes);
      this.#pipelined.trim();
    });
  }

  /** Ends a request that can't be read to its end, or bytes that should have been one, with an error; then the connection closes. */
  #refuse(error: RouterError): void {
    this.#spoil();
    if (this.#receiver !== undefined) return this.#receiver.refuse(error);
    if (this.#response?.hasStarted) return this.#response.abort("");
    this.#response ??= new ServerResponse(this.#socket, undefined, false, this);
    this.#shared.refuse(this.#response, error);
  }

  /** Refuses a request whose head can be parsed, but has a wrong Host or no clear framing. */
  #refuseHead(head: Head, error: RouterError): void {
    this.#spoil();
    const response = new ServerResponse(this.#socket, head, false, this);
    this.#response = response;
    // A receiver may respond to these methods inside `start`, before it can be told to refuse.
    if (head.method === "GET" || head.method === "HEAD") return this.#shared.refuse(response, error);
    const receiver = this.#shared.start(refusableHead(head), 0, response, this.peer);
    if (this.#response === response) this.#receiver = receiver;
    this.#receiver?.refuse(error);
  }

  /** Reads no more requests: whatever the client still sends is thrown away. */
  #spoil(): void {
    this.#pipelined.close();
    this.#await("response");
  }

  #endLast(): void {
    this.#await("linger", this.#shared.limits.writeTimeoutMs);
    this.endSocket();
  }

  #await(state: ConnectionState, limitMs = Number.POSITIVE_INFINITY): void {
    this.#state = state;
    this.#deadlineMs = this.#shared.deadlines.nowMs + limitMs;
  }

  #closed(): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    this.#shared.deadlines.delete(this);
    this.#progress.close();
    this.#clients.leave(this.peer);
    const receiver = this.#receiver;
    this.#receiver = undefined;
    this.#response?.detach();
    this.#pipelined.close();
    receiver?.clientGone();
    this.#shared.ended(this);
  }
}
