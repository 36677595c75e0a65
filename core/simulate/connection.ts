import type { ReplicaConnection } from "../pool/pool.ts";
import type { Limits } from "../settings.ts";
import { Head } from "../wire/head.ts";
import type { WatchedTry } from "../wire/stuck-tries.ts";
import { GONE_SILENCE_MS, type ResponseReader, type UpstreamFailure } from "../wire/upstream-connection.ts";
import type { Job } from "./job.ts";

/** The replica's side of a connection. */
export interface ConnectionOwner {
  /** A request came; the connection may be over when this returns. */
  serve(connection: Connection): void;
  /** For how long a request that was sent at `sentAtMs` has had no token, or its stream no further one. */
  silenceMs(sentAtMs: number, hasTokens: boolean): number;
  /** The connection is over before its response is. */
  closed(connection: Connection): void;
}

const FRAMING = { kind: "none", length: 0 } as const;
const SERVED = headOf(200);
const TOKEN = Buffer.from("data: {}\n\n");

/** One try at a modelled replica, in place of a connection on a socket: what happens there, it calls on the router's own exchange. */
export class Connection implements ReplicaConnection, WatchedTry {
  readonly job: Job;
  readonly hasSentAll = true;
  /** Tokens of a modelled replica come at its pace, which its silence as a whole shows. */
  readonly longestGapMs = 0;
  readonly #owner: ConnectionOwner;
  readonly #sentAtMs: number;
  #reader: ResponseReader | undefined;
  #hasResponse = false;

  constructor(owner: ConnectionOwner, job: Job, nowMs: number) {
    this.job = job;
    this.#owner = owner;
    this.#sentAtMs = nowMs;
  }

  send(_method: string, _head: string, _body: readonly Uint8Array[], reader: ResponseReader): void {
    this.#reader = reader;
    this.#owner.serve(this);
  }

  pause(): void {}

  resume(): void {}

  destroy(): void {
    this.#reader = undefined;
    this.#owner.closed(this);
  }

  /** A whole response without a body. */
  respond(status: number): void {
    this.#reader?.head(headOf(status), FRAMING);
    this.#reader?.end(false);
  }

  firstToken(): void {
    this.#hasResponse = true;
    this.#reader?.head(SERVED, FRAMING);
    this.#write(TOKEN);
  }

  /** The response is complete; at its end it reports what the router learns from. */
  finished(): void {
    const { prompt, outputTokens } = this.job.request;
    const usage = { prompt_tokens: prompt.tokens, completion_tokens: outputTokens };
    this.#write(Buffer.from(`data: ${JSON.stringify({ usage })}\n\n`));
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
