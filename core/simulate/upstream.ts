import type { Endpoint } from "../contract/endpoint.ts";
import type { EngineTimes } from "../engine/engine-times.ts";
import type { ReplicaConnection } from "../pool/pool.ts";
import type { Limits } from "../settings.ts";
import { cutStreams, cutWaiting } from "../wire/stuck-tries.ts";
import { goneSince } from "../wire/upstream-pools.ts";
import { Connection, type ConnectionOwner } from "./connection.ts";
import type { EventQueue } from "./events.ts";
import { type Conduct, SOUND } from "./faults.ts";
import { Job } from "./job.ts";
import { Replica, type ReplicaEvents } from "./replica.ts";
import type { TraceRequest } from "./trace.ts";

/** A modelled replica as the router meets it: it serves connections, or fails them. */
export class Upstream implements ConnectionOwner {
  readonly replica: Replica;
  readonly #soundTokensPerMs: number;
  readonly #queue: EventQueue;
  readonly #open = new Map<Job, Connection>();
  #conduct: Conduct = SOUND;
  /** Since when its endpoint is not available; Infinity while it is. */
  #goneSinceMs = Number.POSITIVE_INFINITY;

  constructor(model: EngineTimes, speed: number, queue: EventQueue, events: Pick<ReplicaEvents, "firstToken" | "decoded">) {
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

  /** A connection for this request; there is always one to spare. */
  connect(traced: TraceRequest): ReplicaConnection {
    return new Connection(this, new Job(traced), this.#queue.now());
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

  /** Requests that have waited for a token for so long are given up. Returns whether there were any. */
  cutWaiting(leastMs: number): boolean {
    return cutWaiting([...this.#open.values()], leastMs);
  }

  /** Streams that fell silent so long ago are given up. */
  cutStreams(leastMs: number, isWitnessed: boolean): void {
    cutStreams([...this.#open.values()], leastMs, isWitnessed);
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

  serve(connection: Connection): void {
    const { isDown, isFailing } = this.#conduct;
    if (isDown) return connection.fail("connect-failed");
    if (isFailing) return connection.respond(500);
    // As an engine does with a prompt that its cache could never hold.
    if (!this.replica.enqueue(connection.job)) return connection.respond(400);
    this.#open.set(connection.job, connection);
  }

  closed({ job }: Connection): void {
    if (this.#open.delete(job)) this.replica.cancel(job);
  }

  #finished(job: Job): void {
    const connection = this.#open.get(job);
    this.#open.delete(job);
    connection?.finished();
  }
}
