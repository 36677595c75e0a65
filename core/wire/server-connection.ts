import type { Socket } from "node:net";
import { asRouterError, type ErrorCode, RouterError } from "../contract/errors.ts";
import { refusalOf } from "../errors/wire-errors.ts";
import type { RequestReceiver } from "../intake/request-receiver.ts";
import { LAST_WORDS_MS } from "../intake/response-writer.ts";
import { readAccepted } from "../runtime/accepted-socket.ts";
import { ChunkedDecoder } from "./chunked.ts";
import type { Timed } from "./deadlines.ts";
import { isKeptAlive, requestFraming } from "./framing.ts";
import { type Head, HeadParser } from "./head.ts";
import { ServerResponse } from "./server-response.ts";
import type { ServerShared } from "./server-shared.ts";
import { checkHost } from "./target.ts";
import { WireError } from "./wire-error.ts";

/** Where a connection is between two requests. Each state has its own deadline. */
type State =
  | "idle" // no byte of a request yet
  | "head" // some bytes of a head
  | "body" // head handed on, body arriving
  | "answer" // request complete, answer under way
  | "linger" // answer sent before the request was read to its end: what still comes is thrown away
  | "closed";

/** Bytes held before their turn while the socket still reads on: a paused one would not tell that its client has left. */
const MOST_HELD_BYTES = 64 * 1024;

/** After an early answer: how long it is still read, so that the answer is not lost to a reset. */
const LINGER_MS = 2_000;

/** While the server stops: how long an idle connection may still bring a request that was on its way. */
const LAST_CHANCE_MS = 500;

/** One client connection: bytes in, requests out, one at a time. */
export class ServerConnection implements Timed {
  readonly #socket: Socket;
  readonly #shared: ServerShared;
  readonly #parser: HeadParser;
  readonly #peer: string;
  #decoder: ChunkedDecoder | undefined;
  #state: State = "idle";
  #deadlineMs: number;
  #bodyLeft = 0;
  #receiver: RequestReceiver | undefined;
  #response: ServerResponse | undefined;
  /** A copy of bytes that came before their turn (pipelining). */
  #held: Buffer | undefined;

  constructor(socket: Socket, shared: ServerShared) {
    this.#peer = socket.remoteAddress ?? "";
    this.#shared = shared;
    this.#parser = new HeadParser("request", shared.limits);
    this.#socket = readAccepted(socket, (chunk) => this.#read(chunk));
    this.#deadlineMs = shared.deadlines.nowMs + shared.limits.headTimeoutMs;
    shared.deadlines.add(this);
    this.#socket.on("drain", () => this.#drained());
    // A client that closes its sending side has left: waiting for a half-open reader would hide real disconnects.
    this.#socket.on("end", () => this.#ended());
    this.#socket.on("error", () => this.#socket.destroy());
    this.#socket.on("close", () => this.#closed());
  }

  sweep(nowMs: number): void {
    if (nowMs < this.#deadlineMs) return;
    switch (this.#state) {
      case "head":
        return this.#refuse("request_timeout", "The request head took too long; send it in one piece.");
      case "body":
        return this.#refuse("request_timeout", "The request body took too long; send it faster or make it smaller.");
      case "answer":
        // Only a client that does not read has a deadline here; see awaitDrain.
        this.#socket.resetAndDestroy();
        return;
      default:
        this.#socket.destroy();
    }
  }

  /** The server stops: an idle connection gets a last chance, a busy one closes after its answer. */
  beginDrain(): void {
    const { nowMs } = this.#shared.deadlines;
    if (this.#state === "idle") this.#deadlineMs = Math.min(this.#deadlineMs, nowMs + LAST_CHANCE_MS);
  }

  get isLast(): boolean {
    return this.#shared.isDraining;
  }

  /** Ends whatever is under way; a started answer is not ended cleanly. */
  cut(): void {
    if (this.#receiver === undefined) this.#socket.destroy();
    else this.#receiver.stop();
  }

  #read(chunk: Buffer): void {
    if (this.#state === "linger" || this.#state === "closed") return;
    // Behind what is held already, even when its turn has come but not yet its microtask.
    if (this.#state === "answer" || this.#held !== undefined) this.#hold(chunk);
    else this.#consume(chunk);
  }

  #consume(chunk: Buffer): void {
    let at = 0;
    try {
      while (at < chunk.length) {
        if (this.#state === "idle" || this.#state === "head") at = this.#readHead(chunk, at);
        else if (this.#state === "body") at = this.#readBody(chunk, at);
        else {
          if (this.#state === "answer") this.#hold(chunk.subarray(at));
          return;
        }
      }
    } catch (thrown) {
      this.#refuseBroken(thrown);
    }
  }

  /** Returns where to go on in `chunk`. */
  #readHead(chunk: Buffer, start: number): number {
    const end = this.#parser.push(chunk, start);
    if (end >= 0) {
      this.#begin(this.#parser.head);
      return end;
    }
    // An empty line before a request is not the request's beginning.
    if (this.#state === "idle" && this.#parser.hasStarted) {
      this.#state = "head";
      this.#deadlineMs = this.#shared.deadlines.nowMs + this.#shared.limits.headTimeoutMs;
    }
    return chunk.length;
  }

  #begin(head: Head): void {
    checkHost(head);
    const framing = requestFraming(head);
    const { deadlines, limits, start } = this.#shared;
    const response = new ServerResponse(this.#socket, head, isKeptAlive(head) && head.minor === 1, this);
    this.#response = response;
    this.#bodyLeft = framing.kind === "length" ? framing.length : 0;
    this.#state = framing.kind === "none" || (framing.kind === "length" && framing.length === 0) ? "answer" : "body";
    if (framing.kind === "chunked") {
      this.#decoder ??= new ChunkedDecoder();
      this.#decoder.reset();
    }
    this.#deadlineMs = this.#state === "body" ? deadlines.nowMs + limits.bodyTimeoutMs : Number.POSITIVE_INFINITY;
    const expectation = head.get("expect");
    if (expectation !== undefined && expectation.toLowerCase() !== "100-continue") {
      this.#shared.refuse(response, new RouterError("expectation_failed", "Only the expectation 100-continue is supported."));
      return;
    }
    const receiver = start(head, framing.kind === "chunked" ? -1 : framing.length, response, this.#peer);
    // The starter may have answered at once.
    if (this.#response !== response) return;
    this.#receiver = receiver;
    if (this.#state === "answer") return receiver.bodyEnd();
    // RFC 9110 10.1.1: the body may come, now that nothing in the head speaks against it.
    if (expectation !== undefined && head.minor === 1) this.#socket.write("HTTP/1.1 100 Continue\r\n\r\n", "latin1");
  }

  #readBody(chunk: Buffer, start: number): number {
    const decoder = this.#decoder;
    if (this.#bodyLeft > 0) {
      const end = Math.min(chunk.length, start + this.#bodyLeft);
      this.#bodyLeft -= end - start;
      this.#receiver?.body(chunk, start, end);
      if (this.#bodyLeft === 0) this.#bodyComplete();
      return end;
    }
    if (decoder === undefined) throw new TypeError("A body without framing");
    decoder.push(chunk, start);
    for (let i = 0; i < decoder.spanCount && this.#state === "body"; i++) {
      this.#receiver?.body(chunk, decoder.spans[2 * i]!, decoder.spans[2 * i + 1]!);
    }
    if (!decoder.isDone) return chunk.length;
    if (this.#state === "body") this.#bodyComplete();
    return decoder.end;
  }

  #bodyComplete(): void {
    // An early answer has put the connection to linger already.
    if (this.#state !== "body") return;
    this.#state = "answer";
    this.#deadlineMs = Number.POSITIVE_INFINITY;
    this.#receiver?.bodyEnd();
  }

  #hold(chunk: Buffer): void {
    this.#held = this.#held === undefined ? Buffer.from(chunk) : Buffer.concat([this.#held, chunk]);
    if (this.#held.length > MOST_HELD_BYTES) this.#socket.pause();
  }

  #drained(): void {
    if (this.#state === "answer") this.#deadlineMs = Number.POSITIVE_INFINITY;
    this.#receiver?.drained();
  }

  /** The response has bytes the client does not take. */
  awaitDrain(): void {
    this.#deadlineMs = this.#shared.deadlines.nowMs + this.#shared.limits.writeTimeoutMs;
  }

  /** The answer is fully handed to the socket. */
  answered(isKept: boolean): void {
    this.#receiver = undefined;
    this.#response = undefined;
    const { deadlines, limits, isDraining } = this.#shared;
    if (this.#state === "body" || this.#state === "head") {
      this.#state = "linger";
      this.#deadlineMs = deadlines.nowMs + LINGER_MS;
      this.#socket.end();
      return;
    }
    if (!isKept) {
      this.#state = "linger";
      this.#deadlineMs = deadlines.nowMs + limits.writeTimeoutMs;
      this.endSocket();
      return;
    }
    this.#parser.reset();
    this.#state = "idle";
    this.#deadlineMs = deadlines.nowMs + (isDraining ? LAST_CHANCE_MS : limits.idleTimeoutMs);
    if (this.#held !== undefined) this.#takeHeld();
  }

  /** The kernel has all of the last answer: what is left to wait for is the client's own end. */
  #sentLast(): void {
    const { deadlines, isDraining } = this.#shared;
    this.#deadlineMs = Math.min(this.#deadlineMs, deadlines.nowMs + (isDraining ? LAST_CHANCE_MS : LINGER_MS));
  }

  /** The answer was broken off; the connection ends with what is already written. */
  broken(): void {
    this.#receiver = undefined;
    this.#response = undefined;
    this.#state = "linger";
    const { deadlines, limits, isDraining } = this.#shared;
    // Not so long when the server stops: it has waited for these already.
    this.#deadlineMs = deadlines.nowMs + (isDraining ? LINGER_MS : limits.writeTimeoutMs);
  }

  endSocket(): void {
    this.#socket.end(() => this.#sentLast());
  }

  later(run: () => void): void {
    this.#shared.clock.after(LAST_WORDS_MS, () => {
      if (this.#state !== "closed") run();
    });
  }

  #takeHeld(): void {
    // Not at once: an answer that ends inside its own start would otherwise nest one request in the other.
    queueMicrotask(() => {
      const held = this.#held;
      this.#held = undefined;
      // In this turn, so that what comes next comes after what was held.
      this.#socket.resume();
      if (held !== undefined) this.#read(held);
    });
  }

  #refuseBroken(thrown: unknown): void {
    const error = thrown instanceof WireError ? refusalOf(thrown) : asRouterError(thrown);
    this.#refuse(error.code, error.message);
  }

  #refuse(code: ErrorCode, message: string): void {
    const receiver = this.#receiver;
    this.#receiver = undefined;
    receiver?.clientGone();
    if (this.#state === "closed" || this.#state === "linger") return;
    if (this.#response?.hasStarted) return this.#response.abort("");
    this.#state = "body";
    this.#response = new ServerResponse(this.#socket, undefined, false, this);
    this.#shared.refuse(this.#response, new RouterError(code, message));
  }

  #ended(): void {
    this.#socket.destroy();
  }

  #closed(): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    this.#shared.deadlines.delete(this);
    this.#shared.connections.delete(this);
    const receiver = this.#receiver;
    this.#receiver = undefined;
    this.#response?.detach();
    this.#held = undefined;
    receiver?.clientGone();
  }
}
