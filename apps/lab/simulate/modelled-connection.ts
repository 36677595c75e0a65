import type { ReplicaConnection } from "../../../core/pool/connections.ts";
import { DEFAULT_LIMITS, type Limits } from "../../../core/settings.ts";
import { NO_BODY } from "../../../core/wire/framing.ts";
import { Head } from "../../../core/wire/head.ts";
import { HeadParser } from "../../../core/wire/head-parser.ts";
import type { ResponseReader, UpstreamFailure } from "../../../core/wire/response-reader.ts";
import { GONE_SILENCE_MS } from "../../../core/wire/upstream-connection.ts";
import type { WatchedTry } from "../../../core/wire/watched-try.ts";
import type { Job } from "./job.ts";
import { prefillResponse } from "./pair-bodies.ts";

const SERVED = headOf(200);
const TOKEN = Buffer.from("data: {}\n\n");

/** The replica, as its connections see it. */
export interface ConnectionOwner {
  readonly name: string;
  /** Whether responses say how many of the prompt's tokens were cached. */
  readonly reportsCached: boolean;
  /** A request of the trace came: the query says which one. The connection may be over when this returns. */
  serve(connection: Connection, head: string, body: readonly Uint8Array[]): void;
  /** The connection is over before its response is. */
  closed(job: Job): void;
  /** What may be fetched of a finished request; the name that its response tells. */
  offer(job: Job): string;
  /** For how long a request that was sent at `sentAtMs` has had no token, or its stream no further one. */
  silenceMs(sentAtMs: number, hasTokens: boolean): number;
}

/** One try at a modelled replica, in place of a connection on a socket: what happens there, it calls on the router's own exchange. */
export class Connection implements ReplicaConnection, WatchedTry {
  readonly hasSentAll = true;
  /** Tokens of a modelled replica come at its pace, which its silence as a whole shows. */
  readonly longestGapMs = 0;
  readonly #owner: ConnectionOwner;
  readonly #sentAtMs: number;
  /** What it is to work on; undefined where nothing is. */
  job: Job | undefined;
  #reader: ResponseReader | undefined;
  #hasResponse = false;

  constructor(owner: ConnectionOwner, nowMs: number) {
    this.#owner = owner;
    this.#sentAtMs = nowMs;
  }

  /** A prompt that is computed for another replica has a response that comes whole. */
  get isStream(): boolean {
    return this.job?.keepsBlocks !== true;
  }

  send(_method: string, head: string, body: readonly Uint8Array[], reader: ResponseReader): void {
    this.#reader = reader;
    this.#owner.serve(this, head, body);
  }

  pause(): void {}

  resume(): void {}

  destroy(): void {
    this.#reader = undefined;
    if (this.job !== undefined) this.#owner.closed(this.job);
  }

  /** A whole response without a body. */
  respond(status: number): void {
    this.#reader?.head(headOf(status), NO_BODY);
    this.#reader?.end(false);
  }

  firstToken(): void {
    this.#hasResponse = true;
    this.#reader?.head(SERVED, NO_BODY);
    this.#write(TOKEN);
  }

  /** The response is complete; at its end it reports what the router learns from. */
  finished(): void {
    const { request, cachedTokens, keepsBlocks } = this.job!;
    const reported = this.#owner.reportsCached ? cachedTokens : undefined;
    if (keepsBlocks) return this.#prefilled(this.job!, reported);
    const details = reported !== undefined && { prompt_tokens_details: { cached_tokens: reported } };
    const usage = { prompt_tokens: request.prompt.tokens, completion_tokens: request.outputTokens, ...details };
    this.#write(Buffer.from(`data: ${JSON.stringify({ usage })}\n\n`));
    this.#reader?.end(false);
  }

  #prefilled(job: Job, reported: number | undefined): void {
    const { name } = this.#owner;
    const bytes = Buffer.from(prefillResponse(name, this.#owner.offer(job), job.prompt.tokens, reported));
    this.#reader?.head(jsonHead(bytes.length), { kind: "length", length: bytes.length });
    this.#write(bytes);
    this.#reader?.end(false);
  }

  fail(failure: UpstreamFailure): void {
    const reader = this.#reader;
    this.destroy();
    reader?.failed(failure, failure !== "connect-failed");
  }

  get watchState(): WatchedTry["watchState"] {
    if (this.#reader === undefined) return "idle";
    return this.#hasResponse ? "streaming" : "waiting";
  }

  get silenceMs(): number {
    return this.#owner.silenceMs(this.#sentAtMs, this.#hasResponse);
  }

  cut(): void {
    this.fail("wedged");
  }

  /** Gives up a request that has waited for too long: for its first byte, or for one more since the replica's last token. */
  sweep(nowMs: number, lastTokenMs: number, goneSinceMs: number, limits: Limits): void {
    const quietSinceMs = this.#hasResponse ? lastTokenMs : this.#sentAtMs;
    const longestMs = this.#hasResponse ? limits.streamIdleTimeoutMs : limits.responseTimeoutMs;
    if (nowMs - Math.max(quietSinceMs, goneSinceMs) >= GONE_SILENCE_MS) this.fail("gone");
    else if (nowMs - quietSinceMs >= longestMs) this.fail("timeout");
  }

  #write(chunk: Buffer): void {
    this.#reader?.body(chunk, [0, chunk.length], 1, false);
  }
}

/** A response's head without header lines. */
function headOf(status: number): Head {
  const line = `HTTP/1.1 ${status} \r\n`;
  return new Head(`${line}\r\n`, { method: "", target: "", status, minor: 1, length: line.length }, []);
}

function jsonHead(bytes: number): Head {
  const parser = new HeadParser("response", DEFAULT_LIMITS);
  parser.push(Buffer.from(`HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${bytes}\r\n\r\n`), 0);
  return parser.head;
}
