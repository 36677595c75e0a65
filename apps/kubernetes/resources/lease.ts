import { thrownMessage } from "../../../core/contract/thrown-text.ts";
import { retryMs } from "../back-off.ts";
import type { ClusterAccess } from "../client.ts";
import { isUnconnected, KubernetesError } from "../kubernetes-error.ts";

export interface LeaseOptions extends ClusterAccess {
  readonly namespace: string;
  /** The same for all that share the work. */
  readonly name: string;
  /** Another one for each. */
  readonly identity: string;
  /** It is held now, or no longer. */
  readonly changed: (isHeld: boolean) => void;
}

/** A coordination.k8s.io/v1 Lease; only the fields that are used here. */
interface LeaseDocument {
  readonly metadata: { readonly name: string; readonly resourceVersion?: string };
  readonly spec?: {
    readonly holderIdentity?: string | null;
    readonly leaseDurationSeconds?: number | null;
    readonly acquireTime?: string | null;
    readonly renewTime?: string | null;
    readonly leaseTransitions?: number | null;
  };
}

/** How long others leave it to a holder that says nothing. */
const DURATION_S = 15;
/** A holder that could not renew it for so long does nothing more with it: well before others take it. */
const HELD_MS = 10_000;
const RENEW_MS = 4_000;
const LOOK_MS = 4_000;
/** How much longer than that it may be, by chance, so that not all ask together. */
const JITTER = 0.25;
const RELEASE_MS = 1_000;

/**
 * Held by one of several routers at a time. Whether another one's has expired is judged by this router's own clock, from when it saw
 * the last renewal, so that clocks need not agree. It fences nothing: what its holder does must be harmless when two do it for a moment.
 */
export class Lease {
  readonly #options: LeaseOptions;
  readonly #stopping = new AbortController();
  #isHeld = false;
  #renewedAtMs = Number.NEGATIVE_INFINITY;
  /** What another one's renewal looked like, and when it was first seen. */
  #seen = { mark: "", atMs: 0 };
  #hasFailed = false;
  #cancel: () => void = () => {};
  #round: Promise<void> = Promise.resolve();

  constructor(options: LeaseOptions) {
    this.#options = options;
  }

  get isHeld(): boolean {
    return this.#isHeld && this.#options.clock.now() - this.#renewedAtMs < HELD_MS;
  }

  start(): void {
    this.#round = this.#look();
  }

  /** Gives it back, so that others need not wait until it expires. Resolves within about a second, whatever the server does. */
  async stop(): Promise<void> {
    const { clock } = this.#options;
    const wasHeld = this.isHeld;
    this.#isHeld = false;
    this.#cancel();
    this.#stopping.abort();
    await this.#round;
    if (!wasHeld) return;
    const bound = new AbortController();
    const cancel = clock.after(RELEASE_MS, () => bound.abort());
    await this.#release(bound.signal).catch(() => {});
    cancel();
  }

  async #look(): Promise<void> {
    const { clock, random } = this.#options;
    const { signal } = this.#stopping;
    let soonMs: number | undefined;
    try {
      await this.#tryHold(signal);
      this.#hasFailed = false;
    } catch (thrown) {
      if (!signal.aborted) this.#failed(thrown);
      if (isUnconnected(thrown)) soonMs = retryMs(0, thrown, random);
    }
    if (signal.aborted) return;
    if (this.#isHeld && !this.isHeld) this.#set(false);
    const ms = soonMs ?? (this.#isHeld ? RENEW_MS : LOOK_MS) * (1 + JITTER * random());
    this.#cancel = clock.after(ms, () => {
      this.#round = this.#look();
    });
  }

  async #tryHold(signal: AbortSignal): Promise<void> {
    const { client, clock } = this.#options;
    const lease = await this.#read(signal);
    if (lease !== undefined && !this.#isFree(lease)) {
      this.#set(false);
      return;
    }
    const startedMs = clock.now();
    const [method, path] = lease === undefined ? (["POST", this.#list] as const) : (["PUT", this.#path] as const);
    try {
      // The version in it makes the server refuse it if somebody was faster.
      await client.request(method, path, { body: this.#mine(lease), signal });
    } catch (thrown) {
      if (thrown instanceof KubernetesError && thrown.status === 409) return;
      throw thrown;
    }
    this.#renewedAtMs = startedMs;
    this.#set(true);
  }

  async #read(signal: AbortSignal): Promise<LeaseDocument | undefined> {
    try {
      return (await this.#options.client.request("GET", this.#path, { signal })) as LeaseDocument;
    } catch (thrown) {
      if (thrown instanceof KubernetesError && thrown.status === 404) return undefined;
      throw thrown;
    }
  }

  #isFree({ spec = {} }: LeaseDocument): boolean {
    const { clock, identity } = this.#options;
    const { holderIdentity: holder, renewTime, leaseDurationSeconds } = spec;
    if (!holder || holder === identity) return true;
    const mark = `${holder} ${renewTime}`;
    if (mark !== this.#seen.mark) this.#seen = { mark, atMs: clock.now() };
    return clock.now() - this.#seen.atMs > (leaseDurationSeconds ?? DURATION_S) * 1000;
  }

  #mine(lease: LeaseDocument | undefined) {
    const { name, namespace, identity } = this.#options;
    const { spec = {} } = lease ?? {};
    const isMine = spec.holderIdentity === identity;
    const now = this.#microTime();
    return {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { ...lease?.metadata, name, namespace },
      spec: {
        holderIdentity: identity,
        leaseDurationSeconds: DURATION_S,
        acquireTime: isMine ? (spec.acquireTime ?? now) : now,
        renewTime: now,
        leaseTransitions: (spec.leaseTransitions ?? 0) + (isMine || lease === undefined ? 0 : 1),
      },
    };
  }

  async #release(signal: AbortSignal): Promise<void> {
    const lease = await this.#read(signal);
    if (lease === undefined || lease.spec?.holderIdentity !== this.#options.identity) return;
    const spec = { ...lease.spec, holderIdentity: "", leaseDurationSeconds: 1, renewTime: this.#microTime() };
    await this.#options.client.request("PUT", this.#path, { body: { ...lease, spec }, signal });
  }

  #failed(thrown: unknown): void {
    const { log, name } = this.#options;
    if (!this.#hasFailed) log.warn("The Lease can't be read or written", { lease: name, cause: thrownMessage(thrown) });
    this.#hasFailed = true;
  }

  #set(isHeld: boolean): void {
    if (isHeld === this.#isHeld) return;
    this.#isHeld = isHeld;
    this.#options.changed(isHeld);
  }

  get #list(): string {
    return `/apis/coordination.k8s.io/v1/namespaces/${this.#options.namespace}/leases`;
  }

  get #path(): string {
    return `${this.#list}/${this.#options.name}`;
  }

  #microTime(): string {
    return new Date(this.#options.clock.wall()).toISOString().replace("Z", "000Z");
  }
}
