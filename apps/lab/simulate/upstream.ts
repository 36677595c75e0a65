import type { Endpoint } from "../../../core/contract/endpoint.ts";
import type { ReplicaConnection, ReplicaConnections } from "../../../core/pool/connections.ts";
import type { Limits } from "../../../core/settings.ts";
import { Head } from "../../../core/wire/head.ts";
import type { ResponseReader, UpstreamFailure } from "../../../core/wire/response-reader.ts";
import { GONE_SILENCE_MS } from "../../../core/wire/upstream-connection.ts";
import { goneSince } from "../../../core/wire/upstream-pools.ts";
import type { WatchedTry } from "../../../core/wire/watched-try.ts";
import type { EngineTimes } from "../engine/engine-times.ts";
import type { EventQueue } from "./events.ts";
import { type Conduct, SOUND } from "./faults.ts";
import { Job, Replica, type ReplicaProgress } from "./replica.ts";
import type { TraceRequest } from "./trace.ts";

export interface UpstreamOptions {
  readonly model: EngineTimes;
  /** 1 is as in the model; half is twice as slow. */
  readonly speed: number;
  /** Those that it may be sent. */
  readonly requests: readonly TraceRequest[];
  readonly queue: EventQueue;
  readonly events: ReplicaProgress;
  /** Whether responses say how many of the prompt's tokens were cached, as vLLM's do with --enable-prompt-tokens-details. */
  readonly reportsCached: boolean;
}

/** The path on which a request of the trace is sent: it says which one it is. */
export const tracePath = (index: number) => `/${index}`;

/** A modelled replica as the router meets it: it serves connections, or fails them. */
export class Upstream implements ReplicaConnections {
  readonly replica: Replica;
  readonly reportsCached: boolean;
  readonly #requests: readonly TraceRequest[];
  readonly #soundTokensPerMs: number;
  readonly #queue: EventQueue;
  readonly #open = new Map<Job, Connection>();
  #conduct: Conduct = SOUND;
  /** Since when its endpoint is not available; Infinity while it is. */
  #goneSinceMs = Number.POSITIVE_INFINITY;

  constructor({ model, speed, requests, queue, events, reportsCached }: UpstreamOptions) {
    this.reportsCached = reportsCached;
    this.#requests = requests;
    this.#soundTokensPerMs = (model.prefillTokensPerS / 1000) * speed;
    this.#queue = queue;
    this.replica = new Replica(model, speed, queue, {
      firstToken: (job) => {
        events.firstToken(job);
        this.#open.get(job)?.firstToken();
      },
      finished: (job) => this.#finished(job),
      decoded: events.decoded,
    });
  }

  get isDown(): boolean {
    return this.#conduct.isDown;
  }

  /** Prompt tokens that it computes in a millisecond of what it is sent now: 0 where that gets no response. */
  get tokensPerMs(): number {
    const { isDown, isFailing, pace } = this.#conduct;
    return isDown || isFailing ? 0 : this.#soundTokensPerMs * pace;
  }

  /** A connection on which a request of the trace is sent; there is always one to spare. */
  take(): ReplicaConnection {
    return new Connection(this, this.#queue.now());
  }

  /** Nothing is sent beside clients' requests. */
  takeSpare(): undefined {}

  /** The request of the trace that is sent with this head; see tracePath. */
  requestOf(head: string): TraceRequest {
    const start = head.indexOf(" /") + " /".length;
    return this.#requests[Number(head.slice(start, head.indexOf(" ", start)))]!;
  }

  behave(conduct: Conduct): void {
    const hasCrashed = conduct.isDown && !this.#conduct.isDown;
    this.#conduct = conduct;
    this.replica.changePace(conduct.pace);
    if (!hasCrashed) return;
    this.replica.restart();
    for (const connection of [...this.#open.values()]) connection.fail("reset");
  }

  /** Takes over whether its endpoint is available. */
  follow(endpoint: Endpoint): void {
    this.#goneSinceMs = goneSince(this.#goneSinceMs, endpoint, this.#queue.now());
  }

  get tries(): readonly WatchedTry[] {
    return [...this.#open.values()];
  }

  /** For how long a request that was sent at `sentAtMs` has had no token, or its stream no further one. */
  silenceMs(sentAtMs: number, hasTokens: boolean): number {
    return this.#queue.now() - (hasTokens ? Math.max(sentAtMs, this.replica.lastTokenMs) : sentAtMs);
  }

  /** Requests that have waited for too long are given up. */
  sweep(limits: Limits): void {
    const { lastTokenMs } = this.replica;
    for (const connection of [...this.#open.values()]) {
      connection.sweep(this.#queue.now(), lastTokenMs, this.#goneSinceMs, limits);
    }
  }

  /** A request came; the connection may be over when this returns. */
  serve(connection: Connection): void {
    const { isDown, isFailing } = this.#conduct;
    if (isDown) return connection.fail("connect-failed");
    if (isFailing) return connection.respond(500);
    // As an engine does with a prompt that its cache could never hold.
    if (!this.replica.enqueue(connection.job)) return connection.respond(400);
    this.#open.set(connection.job, connection);
  }

  /** The connection is over before its response is. */
  closed({ job }: Connection): void {
    if (this.#open.delete(job)) this.replica.cancel(job);
  }

  #finished(job: Job): void {
    const connection = this.#open.get(job);
    this.#open.delete(job);
    connection?.finished();
  }
}

const FRAMING = { kind: "none", length: 0 } as const;
const SERVED = headOf(200);
const TOKEN = Buffer.from("data: {}\n\n");

/** One try at a modelled replica, in place of a connection on a socket: what happens there, it calls on the router's own exchange. */
class Connection implements ReplicaConnection, WatchedTry {
  readonly hasSentAll = true;
  readonly isStream = true;
  /** Tokens of a modelled replica come at its pace, which its silence as a whole shows. */
  readonly longestGapMs = 0;
  readonly #owner: Upstream;
  readonly #sentAtMs: number;
  #job: Job | undefined;
  #reader: ResponseReader | undefined;
  #hasResponse = false;

  constructor(owner: Upstream, nowMs: number) {
    this.#owner = owner;
    this.#sentAtMs = nowMs;
  }

  /** What it is to work on. Only a request that was sent has one. */
  get job(): Job {
    return this.#job!;
  }

  send(_method: string, head: string, _body: readonly Uint8Array[], reader: ResponseReader): void {
    this.#job = new Job(this.#owner.requestOf(head));
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
    const { request, cachedTokens } = this.job;
    const details = this.#owner.reportsCached && { prompt_tokens_details: { cached_tokens: cachedTokens } };
    const usage = { prompt_tokens: request.prompt.tokens, completion_tokens: request.outputTokens, ...details };
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
