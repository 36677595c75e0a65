import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "../../../core/contract/clock.ts";
import type { Faults } from "./faults.ts";
import type { Connection } from "./listener.ts";
import { type Problem, problemBody } from "./problem.ts";
import type { OpenRecord, Seen } from "./seen.ts";

/** A longer request body is refused, so that no test fills the memory by accident. */
const MAX_BODY_BYTES = 512 * 1024 * 1024;

/**
 * Pause between the last write and a cut, so that the bytes arrive: node:http does not report a head alone as sent, and a reset
 * discards unread bytes.
 */
const FLUSH_MS = 10;

/** A request as the listener hands it over. */
export interface ArrivedRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly connection: Connection;
}

export interface ExchangeParts extends ArrivedRequest {
  readonly path: string;
  readonly faults: Partial<Faults>;
  readonly seen: Seen;
  readonly clock: Clock;
}

/** One request and its response. Only this class writes to the client, and it applies the faults that concern the response. */
export class Exchange {
  readonly record: OpenRecord;
  readonly faults: Partial<Faults>;
  /** The client's x-request-id, if any. */
  readonly clientId: string | undefined;
  readonly #parts: ExchangeParts;
  #events = 0;
  #unsent = 0;
  #isSilent = false;
  #isDoomed = false;
  readonly #ends: (() => void)[] = [];
  #onSent: () => void = () => {};

  constructor(parts: ExchangeParts) {
    this.#parts = parts;
    this.faults = parts.faults;
    const { request, response } = parts;
    const id = request.headers["x-request-id"];
    this.clientId = typeof id === "string" && id !== "" ? id : undefined;
    this.record = {
      method: request.method ?? "",
      path: parts.path,
      headers: headerPairs(request.rawHeaders),
      body: Buffer.alloc(0),
      connection: parts.connection.number,
      outcome: "open",
    };
    parts.seen.add(this.record);
    response.on("close", () => this.#closed());
  }

  /** True when nothing more can be sent to the client. */
  get isOver(): boolean {
    return this.record.outcome !== "open" || this.#isSilent || this.#isDoomed;
  }

  /** Adds a callback for the end: the response is complete or cut, or the client has left. It may be called more than once. */
  onEnd(run: () => void): void {
    this.#ends.push(run);
    if (this.record.outcome !== "open") run();
  }

  /** Reads the whole body. Resolves with false when the client left before its end. */
  async readBody(): Promise<boolean> {
    const chunks: Buffer[] = [];
    let bytes = 0;
    try {
      for await (const chunk of this.#parts.request as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        if (bytes > MAX_BODY_BYTES) return this.cut(false);
        chunks.push(chunk);
      }
    } catch {
      return false;
    } finally {
      this.record.body = Buffer.concat(chunks);
      this.#parts.seen.bodyArrived(this.record);
    }
    return !this.isOver;
  }

  /** Sends a complete response; without a content type, its header is left out. */
  send(status: number, text: string, contentType: string | undefined, headers: Readonly<Record<string, string>> = {}): void {
    if (this.isOver) return;
    const bytes = Buffer.from(text);
    const type = contentType === undefined ? {} : { "content-type": contentType };
    this.#head(status, { ...headers, "content-length": String(bytes.length), ...type });
    this.#piece(bytes);
    if (!this.isOver) this.#parts.response.end();
  }

  json(status: number, value: unknown, headers?: Readonly<Record<string, string>>): void {
    this.send(status, JSON.stringify(value), "application/json", headers);
  }

  problem(problem: Problem, isAnthropic: boolean): void {
    this.json(problem.status, problemBody(problem, isAnthropic));
  }

  /** Sends the head of a stream at once, before the first token, as vLLM does. */
  openStream(): void {
    if (this.isOver) return;
    this.#head(200, { "content-type": "text/event-stream; charset=utf-8" });
    this.#parts.response.flushHeaders();
  }

  /** Sends each event as one chunk. */
  events(events: readonly string[]): void {
    for (const event of events) {
      if (this.isOver) return;
      this.#piece(Buffer.from(event));
      this.#events += 1;
    }
  }

  endStream(events: readonly string[]): void {
    this.events(events);
    if (!this.isOver) this.#parts.response.end();
  }

  /** Ends the connection after the bytes written so far have been sent. */
  cut(isReset: boolean): false {
    this.#isDoomed = true;
    this.record.outcome = "cut";
    for (const run of this.#ends) run();
    const strike = () => this.#strike(isReset);
    if (!this.#parts.response.headersSent) strike();
    else if (this.#unsent > 0 && !isReset) this.#onSent = strike;
    else this.#parts.clock.after(FLUSH_MS, strike);
    return false;
  }

  /** Writes bytes to the socket directly, as a broken replica would. */
  sendRaw(text: string): void {
    this.record.outcome = "cut";
    this.#isDoomed = true;
    this.#parts.request.socket.end(text);
  }

  #strike(isReset: boolean): void {
    const { socket } = this.#parts.request;
    if (isReset) socket.resetAndDestroy();
    else socket.destroy();
  }

  #head(status: number, headers: Readonly<Record<string, string>>): void {
    const { request, response } = this.#parts;
    // vLLM's server sends a Connection header only when the client asked it to close.
    const isLast = request.httpVersion === "1.0" || /\bclose\b/i.test(request.headers.connection ?? "");
    if (!isLast) response.removeHeader("connection");
    response.writeHead(status, {
      server: "signalbox-mock",
      vary: "Origin",
      ...headers,
      "x-request-id": this.clientId ?? randomHex(32),
    });
  }

  /** Writes one event or a whole body: the unit that the faults count. */
  #piece(bytes: Buffer): void {
    const { dieAfterEvents, dieInsideEvent, resetAfterEvents, silentAfterEvents } = this.faults;
    if (silentAfterEvents === this.#events) {
      this.#parts.response.flushHeaders();
      this.#isSilent = true;
    } else if (dieAfterEvents === this.#events || resetAfterEvents === this.#events) {
      this.#parts.response.flushHeaders();
      this.cut(resetAfterEvents === this.#events);
    } else if (dieInsideEvent === this.#events) {
      this.#write(bytes.subarray(0, Math.ceil(bytes.length / 2)));
      this.cut(false);
    } else {
      this.#write(bytes);
    }
  }

  #write(bytes: Buffer): void {
    this.#unsent += 1;
    this.#parts.response.write(bytes, () => {
      this.#unsent -= 1;
      if (this.#unsent === 0) this.#onSent();
    });
  }

  #closed(): void {
    if (this.record.outcome === "open") this.record.outcome = this.#parts.response.writableFinished ? "finished" : "aborted";
    const { dropAfterResponseMs } = this.faults;
    if (dropAfterResponseMs !== undefined) {
      this.#parts.clock.after(dropAfterResponseMs, () => this.#parts.request.socket.destroy());
    }
    for (const run of this.#ends) run();
    this.#parts.seen.changed();
  }
}

/** Random lower-case hexadecimal digits, for ids. */
export function randomHex(digits: number): string {
  const bytes = crypto.getRandomValues(new Uint8Array(digits / 2));
  return Buffer.from(bytes).toString("hex");
}

function headerPairs(raw: readonly string[]): (readonly [string, string])[] {
  const pairs: (readonly [string, string])[] = [];
  for (let index = 0; index + 1 < raw.length; index += 2) pairs.push([raw[index] ?? "", raw[index + 1] ?? ""]);
  return pairs;
}
