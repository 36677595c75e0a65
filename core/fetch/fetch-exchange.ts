import type { Clock } from "../contract/clock.ts";
import { RouterError } from "../contract/errors.ts";
import type { RequestReceiver } from "../contract/slots/decode.ts";
import { respondWithError } from "../errors/error-response.ts";
import { stopping } from "../errors/upstream-errors.ts";
import { bodyTimeout, errorOf } from "../errors/wire-errors.ts";
import type { RequestStarter } from "../host/request-starter.ts";
import { LAST_WORDS_MS } from "../host/response-writer.ts";
import type { CorsSettings, Limits } from "../settings.ts";
import { corsLines } from "../wire/cors.ts";
import type { Deadlines, Timed } from "../wire/deadlines.ts";
import type { Head } from "../wire/head.ts";
import { HeadParser } from "../wire/head-parser.ts";
import { type UnreadCounter, WriteProgress } from "../wire/write-progress.ts";
import { FetchResponse, type FetchResponseOwner } from "./fetch-response.ts";

/** What the exchanges of one router share. */
export interface FetchShared {
  readonly start: RequestStarter;
  nextRequestId(): string;
  readonly limits: Limits;
  readonly cors: CorsSettings | undefined;
  readonly clock: Clock;
  readonly deadlines: Deadlines;
  readonly memory: UnreadCounter;
  /** Requests under way. */
  readonly open: Set<FetchExchange>;
  readonly isClosed: boolean;
}

/** Routes one request. Never rejects: errors become responses. */
export function exchange(request: Request, shared: FetchShared): Promise<Response> {
  return new Promise((resolve) => new FetchExchange(request, shared, resolve).begin());
}

/** One Request on its way to its Response. */
export class FetchExchange implements Timed, FetchResponseOwner {
  readonly #request: Request;
  readonly #shared: FetchShared;
  readonly #response: FetchResponse;
  readonly #progress: WriteProgress;
  readonly #aborted = () => this.#leave(this.#request.signal.reason);
  #receiver: RequestReceiver | undefined;
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  /** Set while the body is held: lets it go on. */
  #goOn: (() => void) | undefined;
  #held: Promise<void> | undefined;
  #isOver = false;
  /** When the request's body must be complete; infinite once it is. */
  #deadlineMs: number;

  constructor(request: Request, shared: FetchShared, resolve: (response: Response) => void) {
    this.#request = request;
    this.#shared = shared;
    this.#response = new FetchResponse(request.method, this, resolve);
    this.#progress = new WriteProgress(shared.deadlines, shared.limits.writeTimeoutMs, shared.memory, () => undefined);
    this.#deadlineMs = shared.deadlines.nowMs + shared.limits.bodyTimeoutMs;
  }

  begin(): void {
    const { open, deadlines } = this.#shared;
    const { signal } = this.#request;
    if (signal.aborted) {
      this.#leave(signal.reason);
      return;
    }
    signal.addEventListener("abort", this.#aborted);
    open.add(this);
    deadlines.add(this);
    try {
      this.#start();
    } catch (thrown) {
      this.#refuse(errorOf(thrown));
    }
  }

  sweep(nowMs: number): void {
    if (this.#progress.isStalled(this.#response.waitingBytes, nowMs))
      this.#leave(new Error("Nobody read the response for too long"));
    else if (nowMs >= this.#deadlineMs) this.#refuse(bodyTimeout());
  }

  /** The router stops. */
  stop(): void {
    this.#receiver?.stop();
  }

  // What the response tells its exchange.

  drained(): void {
    this.#progress.drained();
    this.#receiver?.drained();
  }

  left(): void {
    this.over();
    this.#receiver?.clientGone();
  }

  over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#shared.open.delete(this);
    this.#shared.deadlines.delete(this);
    this.#progress.close();
    this.#request.signal.removeEventListener("abort", this.#aborted);
    this.#reader?.cancel().catch(() => {});
  }

  holdBody(isHeld: boolean): void {
    if (isHeld) {
      this.#held = new Promise((resolve) => {
        this.#goOn = resolve;
      });
      return;
    }
    this.#held = undefined;
    this.#goOn?.();
  }

  later(run: () => void): void {
    this.#shared.clock.after(LAST_WORDS_MS, run);
  }

  #start(): void {
    const request = this.#request;
    if (this.#shared.isClosed) throw stopping();
    const head = readHead(request, this.#shared.limits);
    const isUsed = request.bodyUsed || request.body?.locked === true;
    this.#receiver = this.#shared.start(head, isUsed ? 0 : bodyLength(request), this.#response, "");
    if (this.#isOver) request.body?.cancel().catch(() => {});
    else if (isUsed) this.#refuse(new RouterError("internal_error", USED_BODY));
    else void this.#takeBody(this.#receiver);
  }

  async #takeBody(receiver: RequestReceiver): Promise<void> {
    try {
      await this.#readBody(receiver);
    } catch {
      return this.#refuse(new RouterError("bad_request", "The request body broke off; send it whole, as a stream of bytes."));
    }
    if (this.#isOver) return;
    this.#deadlineMs = Number.POSITIVE_INFINITY;
    receiver.bodyEnd();
  }

  async #readBody(receiver: RequestReceiver): Promise<void> {
    this.#reader = this.#request.body?.getReader();
    while (!this.#isOver) {
      const part = await this.#reader?.read();
      if (part === undefined || part.done) return;
      if (!(part.value instanceof Uint8Array)) throw new TypeError("A body stream yields Uint8Array");
      receiver.body(part.value, 0, part.value.length);
      if (this.#held !== undefined) await this.#held;
    }
  }

  /** Ends a request that can't be read to its end; without a receiver there is no request yet. */
  #refuse(error: RouterError): void {
    if (this.#receiver !== undefined) this.#receiver.refuse(error);
    else
      respondWithError(
        this.#response,
        error,
        "openai",
        this.#shared.nextRequestId(),
        corsLines(this.#request.headers, this.#shared.cors),
      );
  }

  /** Ends the exchange because nobody waits for the response any more. */
  #leave(reason: unknown): void {
    this.left();
    // A host whose client has left cancels the body itself, just after this signal. An error before that would only fill its log.
    if (this.#response.hasStarted) this.later(() => this.#response.fail(reason));
    else this.#response.fail(reason);
  }
}

const USED_BODY = "The request's body was read before the router got it; hand the request on unread.";

/** The head as the wire server would have it, so that both accept and refuse the same requests. Throws WireError. */
function readHead(request: Request, limits: Limits): Head {
  const { host, pathname, search } = new URL(request.url);
  let text = `${request.method} ${pathname}${search} HTTP/1.1\r\nhost: ${host}\r\n`;
  for (const [name, value] of request.headers) if (name !== "host") text += `${name}: ${value}\r\n`;
  const parser = new HeadParser("request", limits);
  parser.push(Buffer.from(`${text}\r\n`, "latin1"), 0);
  return parser.head;
}

/** Length of the body in bytes; -1 if only its end will tell. */
function bodyLength(request: Request): number {
  if (request.body === null) return 0;
  const declared = request.headers.get("content-length") ?? "";
  return /^\d{1,15}$/.test(declared) ? Number(declared) : -1;
}
