import type { RouterError } from "../../core/contract/errors.ts";
import type { RequestReceiver } from "../../core/contract/slots/decode.ts";
import { respondWithText } from "../../core/errors/error-response.ts";
import type { ResponseWriter } from "../../core/host/response-writer.ts";
import type { Head } from "../../core/wire/head.ts";
import { splitTarget } from "../../core/wire/request-target.ts";
import type { AdminApi } from "./api/api.ts";
import { isEventStream } from "./api/stream-response.ts";
import { bodyTooLarge, MAX_BODY_BYTES, Problem, problemParts } from "./problem.ts";
import { ResponsePump } from "./response-pump.ts";

export interface ApiExchangeOptions {
  readonly head: Head;
  /** In bytes; -1 if only its end will tell. */
  readonly bodyLength: number;
  readonly response: ResponseWriter;
  readonly api: AdminApi;
  /** The peer's address. */
  readonly caller: string;
  /** Header lines of every response. */
  readonly lines: string;
}

const METHODS: readonly string[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

function notServed(): Problem {
  const detail = "No path takes this method; use GET to read, or POST, PUT, PATCH or DELETE to change.";
  return new Problem(405, "method_not_allowed", detail, { allow: METHODS.join(", ") });
}

/**
 * One request to the admin API: gathers its body, makes a Request of it, and sends the Response: whole, or, if it is a stream of events,
 * as it comes.
 */
export class ApiExchange implements RequestReceiver {
  readonly #options: ApiExchangeOptions;
  readonly #parts: Uint8Array[] = [];
  readonly #leaving = new AbortController();
  #length = 0;
  #isOver = false;
  /** Set while events are sent. */
  #pump: ResponsePump | undefined;

  constructor(options: ApiExchangeOptions) {
    this.#options = options;
    if (options.bodyLength > MAX_BODY_BYTES) this.#refuse(bodyTooLarge());
  }

  body(chunk: Uint8Array, start: number, end: number): void {
    if (this.#isOver) return;
    this.#length += end - start;
    if (this.#length > MAX_BODY_BYTES) this.#refuse(bodyTooLarge());
    else this.#parts.push(Buffer.from(chunk.subarray(start, end)));
  }

  bodyEnd(): void {
    if (this.#isOver) return;
    const { api, caller, head } = this.#options;
    // A Request refuses TRACE, makes POST of "post" and, on Bun, GET of what it does not know.
    if (!METHODS.includes(head.method)) return this.#refuse(notServed());
    void api(this.#request(), caller).then((response) => this.#send(response));
  }

  refuse({ status, code, message }: RouterError): void {
    this.#refuse(new Problem(status, code, message));
  }

  clientGone(): void {
    this.#isOver = true;
    this.#pump?.stop();
    this.#leaving.abort();
  }

  drained(): void {
    this.#pump?.drained();
  }

  stop(): void {
    this.#pump?.stop();
    this.#refuse(new Problem(503, "stopping", "The router is stopping; ask again when it runs."));
  }

  #request(): Request {
    const { head } = this.#options;
    const { path, query } = splitTarget(head.target);
    const headers = new Headers();
    for (const name of ["content-type", "authorization", "if-match", "user-agent"]) {
      const value = head.get(name);
      if (value !== undefined) headers.set(name, value);
    }
    const hasBody = this.#length > 0 && head.method !== "GET" && head.method !== "HEAD";
    const body = hasBody ? { body: new Blob(this.#parts as Uint8Array<ArrayBuffer>[]) } : {};
    const { signal } = this.#leaving;
    return new Request(`http://admin${path}${query === "" ? "" : `?${query}`}`, {
      method: head.method,
      headers,
      signal,
      ...body,
    });
  }

  async #send(response: Response): Promise<void> {
    if (!isEventStream(response)) return this.#respond(response.status, response.headers, await response.text());
    if (this.#isOver) return void response.body?.cancel();
    this.#isOver = true;
    this.#pump = new ResponsePump(this.#options.response, response.body);
    this.#options.response.start(response.status, "OK", this.#lines(response.headers), -1);
    await this.#pump.run();
  }

  #refuse(problem: Problem): void {
    const { headers, text } = problemParts(problem);
    this.#respond(problem.status, headers, text);
  }

  #respond(status: number, headers: Headers, text: string): void {
    // The client may have left meanwhile, or a refusal may have come first.
    if (this.#isOver) return;
    this.#isOver = true;
    respondWithText(this.#options.response, status, this.#lines(headers), text);
  }

  #lines(headers: Headers): string {
    let { lines } = this.#options;
    for (const [name, value] of headers) lines += `${name}: ${value}\r\n`;
    return lines;
  }
}
