import type { Socket } from "node:net";
import type { EndpointUrl } from "../contract/endpoint.ts";
import type { Limits, ReplicaTls } from "../settings.ts";
import type { ConnectionOwner } from "./connection-owner.ts";
import type { Deadlines } from "./deadlines.ts";
import { IdleHabit } from "./idle-habit.ts";
import { openSocket } from "./open-socket.ts";
import { type TlsFailure, tlsFailure } from "./tls-failures.ts";
import { UpstreamConnection } from "./upstream-connection.ts";
import type { TryWatch, WatchedTry } from "./watched-try.ts";

/** So long after bytes that belong to no request each request gets a connection of its own. */
export const DOUBT_MS = 600_000;

/** The connections to one replica, limited in number. The most recently used idle one is taken first. */
export class UpstreamPool implements ConnectionOwner<UpstreamConnection>, TryWatch {
  readonly url: EndpointUrl;
  /** Those that hold now: a connection reads them at each of its steps. */
  limits: Limits;
  readonly deadlines: Deadlines;
  readonly idleHabit = new IdleHabit();
  goneSinceMs = Number.POSITIVE_INFINITY;
  /** When the replica last sent bytes of tokens, by the sweeps' clock. */
  lastByteMs = Number.NEGATIVE_INFINITY;
  /** Until then no connection carries a second request. */
  #doubtedUntilMs = Number.NEGATIVE_INFINITY;
  readonly #told: (isNew: boolean) => void;
  /** What the config says of TLS to the replica now. */
  readonly tls: () => ReplicaTls | undefined;
  readonly #tlsFailed: (failure: TlsFailure) => void;
  readonly #idle: UpstreamConnection[] = [];
  readonly #open = new Set<UpstreamConnection>();
  /** Tries that others than these connections carry. */
  readonly #foreign = new Set<WatchedTry>();

  /** `unasked` is called when bytes come that belong to no request; `isNew`: connections were used again until now. */
  constructor(
    url: EndpointUrl,
    limits: Limits,
    deadlines: Deadlines,
    unasked: (isNew: boolean) => void,
    tls: () => ReplicaTls | undefined = () => undefined,
    tlsFailed: (failure: TlsFailure) => void = () => {},
  ) {
    this.url = url;
    this.limits = limits;
    this.deadlines = deadlines;
    this.#told = unasked;
    this.tls = tls;
    this.#tlsFailed = tlsFailed;
  }

  /** A connection for one request; undefined at the limit. With `isFresh`, one that has not carried a request before. */
  take(isFresh: boolean): UpstreamConnection | undefined {
    if (!isFresh) {
      const kept = this.#idle.pop();
      if (kept !== undefined) return kept;
    } else if (this.#open.size >= this.limits.upstreamConnections) {
      // Close an idle one to make room: the limit counts connections, not requests.
      this.#idle[0]?.destroy();
    }
    if (this.#open.size >= this.limits.upstreamConnections) return undefined;
    const connection = new UpstreamConnection(this);
    this.#open.add(connection);
    return connection;
  }

  /**
   * A connection for something that clients must not notice: undefined where three quarters of those that there may be are in use,
   * and a new one rather than the last idle one, which the next client would miss.
   */
  takeSpare(): UpstreamConnection | undefined {
    if (this.busy >= 0.75 * this.limits.upstreamConnections) return undefined;
    return this.#idle.length > 1 ? this.#idle.shift() : this.take(true);
  }

  /** Whoever waits on a connection that was used before might get the answer to another request: none of them is used any more. */
  unasked(): void {
    const isNew = !this.#isDoubted;
    this.#doubtedUntilMs = this.deadlines.nowMs + DOUBT_MS;
    for (const connection of [...this.#open]) connection.doubt();
    this.#told(isNew);
  }

  broken(error: Error): void {
    const failure = this.url.isTls ? tlsFailure(error) : undefined;
    if (failure !== undefined) this.#tlsFailed(failure);
  }

  open(opened: () => void, read: (chunk: Buffer) => void, unwritable: () => void): Socket {
    return openSocket(this.url, opened, read, { tls: this.tls(), unwritable });
  }

  heard(atMs: number): void {
    this.lastByteMs = atMs;
  }

  /** It is watched with the tries of these connections. */
  begins(foreign: WatchedTry): void {
    this.#foreign.add(foreign);
  }

  ends(foreign: WatchedTry): void {
    this.#foreign.delete(foreign);
  }

  idle(connection: UpstreamConnection): void {
    if (this.#isDoubted) connection.destroy();
    else this.#idle.push(connection);
  }

  closed(connection: UpstreamConnection): void {
    this.#open.delete(connection);
    const at = this.#idle.lastIndexOf(connection);
    if (at >= 0) this.#idle.splice(at, 1);
  }

  /** What is under way at the replica, and connections that carry nothing now. */
  get tries(): readonly WatchedTry[] {
    return [...this.#open, ...this.#foreign];
  }

  /** Closes all idle connections. For a restarted replica: they belong to its old process. */
  closeIdle(): void {
    this.idleHabit.forget();
    for (const connection of [...this.#idle]) connection.destroy();
  }

  close(): void {
    for (const connection of [...this.#open]) connection.destroy();
  }

  /** Connections that carry a request now. */
  get busy(): number {
    return this.#open.size - this.#idle.length;
  }

  /** Whether nothing is under way any more. */
  get isUnused(): boolean {
    return this.#open.size === 0 && this.#foreign.size === 0;
  }

  get #isDoubted(): boolean {
    return this.deadlines.nowMs < this.#doubtedUntilMs;
  }

  get size(): number {
    return this.#open.size;
  }
}
