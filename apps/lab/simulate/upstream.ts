import type { Endpoint } from "../../../core/contract/endpoint.ts";
import type { ReplicaConnection, ReplicaConnections } from "../../../core/pool/connections.ts";
import type { Limits } from "../../../core/settings.ts";
import { goneSince } from "../../../core/wire/upstream-pools.ts";
import type { WatchedTry } from "../../../core/wire/watched-try.ts";
import type { AdapterTimes } from "../engine/adapter-slots.ts";
import type { EngineTimes } from "../engine/engine-times.ts";
import type { CacheEvents } from "./cache-events.ts";
import type { EventQueue } from "./events.ts";
import { type Conduct, SOUND } from "./faults.ts";
import { Job, type Offer } from "./job.ts";
import { Connection, type ConnectionOwner } from "./modelled-connection.ts";
import { pairPartOf } from "./pair-bodies.ts";
import { Replica, type ReplicaProgress } from "./replica.ts";
import type { TraceRequest } from "./trace.ts";
import { LOST_MS, type Transfers } from "./transfers.ts";

export interface UpstreamOptions {
  readonly name: string;
  readonly model: EngineTimes;
  /** Where the trace's models are adapters. */
  readonly adapters: AdapterTimes | undefined;
  /** 1 is as in the model; half is twice as slow. */
  readonly speed: number;
  /** Those that it may be sent. */
  readonly requests: readonly TraceRequest[];
  readonly queue: EventQueue;
  /** How prompts come here from other replicas. */
  readonly transfers: Transfers;
  /** Of clients' requests, not of prompts that are computed for other replicas. */
  readonly events: ReplicaProgress;
  /** Whether responses say how many of the prompt's tokens were cached, as vLLM's do with --enable-prompt-tokens-details. */
  readonly reportsCached: boolean;
  /** What it publishes of its cache; undefined if nothing. */
  readonly cacheEvents: CacheEvents | undefined;
}

const MAX_PREFILL_OUTPUT = 1;

/** A modelled replica as the router meets it: it serves connections, or fails them. */
export class Upstream implements ReplicaConnections, ConnectionOwner {
  readonly replica: Replica;
  readonly name: string;
  readonly reportsCached: boolean;
  readonly #requests: readonly TraceRequest[];
  readonly #soundTokensPerMs: number;
  readonly #queue: EventQueue;
  readonly #transfers: Transfers;
  readonly #cacheEvents: CacheEvents | undefined;
  readonly #open = new Map<Job, Connection>();
  #conduct: Conduct = SOUND;
  /** Since when its endpoint is not available; Infinity while it is. */
  #goneSinceMs = Number.POSITIVE_INFINITY;

  constructor(options: UpstreamOptions) {
    const { name, model, adapters, speed, requests, queue, transfers, events, reportsCached, cacheEvents } = options;
    this.#cacheEvents = cacheEvents;
    this.name = name;
    this.reportsCached = reportsCached;
    this.#requests = requests;
    this.#soundTokensPerMs = (model.prefillTokensPerS / 1000) * speed;
    this.#queue = queue;
    this.#transfers = transfers;
    const progress = {
      cache: cacheEvents,
      firstToken: (job: Job) => {
        if (job.keepsBlocks) return;
        events.firstToken(job);
        this.#open.get(job)?.firstToken();
      },
      finished: (job: Job) => this.#finished(job),
      decoded: events.decoded,
      transferring: (job: Job, tokens: number) => this.#fetch(job, job.offer!, tokens),
    };
    this.replica = new Replica(model, speed, queue, progress, adapters);
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

  serve(connection: Connection, head: string, body: readonly Uint8Array[]): void {
    const { isDown, isFailing } = this.#conduct;
    if (isDown) return connection.fail("connect-failed");
    if (isFailing) return connection.respond(500);
    const job = this.#jobOf(head, body);
    if (job === undefined) return void this.#queue.after(LOST_MS, () => connection.respond(500));
    connection.job = job;
    // As an engine does with a prompt that its cache could never hold.
    if (!this.replica.enqueue(job)) return connection.respond(400);
    this.#open.set(job, connection);
  }

  /** Undefined for one that wants to fetch what nobody has. */
  #jobOf(head: string, body: readonly Uint8Array[]): Job | undefined {
    const start = head.indexOf("?") + 1;
    const traced = this.#requests[Number(head.slice(start, head.indexOf(" ", start)))]!;
    const part = pairPartOf(body);
    if (part === undefined) return new Job(traced);
    if (part.kind === "decode") {
      const offer = this.#transfers.take(part.transfer);
      return offer && new Job(traced, offer);
    }
    const job = new Job(traced, undefined, MAX_PREFILL_OUTPUT);
    job.keepsBlocks = true;
    return job;
  }

  behave(conduct: Conduct): void {
    const hasCrashed = conduct.isDown && !this.#conduct.isDown;
    this.#conduct = conduct;
    this.replica.changePace(conduct.pace);
    if (!hasCrashed) return;
    this.replica.restart();
    this.#cacheEvents?.restarted();
    for (const connection of [...this.#open.values()]) connection.fail("reset");
  }

  /** Takes over whether its endpoint is available. */
  follow(endpoint: Endpoint): void {
    this.#goneSinceMs = goneSince(this.#goneSinceMs, endpoint, this.#queue.now());
  }

  get tries(): readonly WatchedTry[] {
    return [...this.#open.values()];
  }

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

  closed(job: Job): void {
    if (!this.#open.delete(job)) return;
    this.replica.cancel(job);
    this.#letGo(job);
  }

  offer(job: Job): string {
    return this.#transfers.offer(this.replica, job);
  }

  #fetch(job: Job, offer: Offer, tokens: number): void {
    this.#transfers.fetch(offer, this.replica, tokens, (isWhole) => {
      this.#letGo(job);
      if (isWhole) return this.replica.arrived(job);
      const connection = this.#open.get(job);
      this.closed(job);
      connection?.respond(500);
    });
  }

  /** Nobody else fetches it. */
  #letGo({ offer }: Job): void {
    if (offer !== undefined) offer.source.release(offer.job);
  }

  #finished(job: Job): void {
    const connection = this.#open.get(job);
    this.#open.delete(job);
    this.#letGo(job);
    connection?.finished();
  }
}
