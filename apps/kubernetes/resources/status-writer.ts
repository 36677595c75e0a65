import { isDeepStrictEqual } from "node:util";
import { thrownMessage } from "../../../core/contract/thrown-text.ts";
import { pause, retryMs, SELDOM_MS } from "../back-off.ts";
import type { ClusterAccess } from "../client.ts";
import { isUnconnected, KubernetesError } from "../kubernetes-error.ts";
import { type Condition, type ConditionFinding, withFindings } from "./conditions.ts";
import { type Regarding, rejectionEvent } from "./rejection-event.ts";

/** A resource whose status is to say something. */
export interface StatusTarget {
  readonly regarding: Regarding;
  /** Of the resource, without /status. */
  readonly path: string;
  readonly resourceVersion: string;
  readonly generation: number;
  readonly findings: readonly ConditionFinding[];
  /** Its status as it is. */
  readonly status: { readonly conditions?: readonly Condition[]; readonly [key: string]: unknown };
  /** Further fields of the status. */
  readonly fields?: Readonly<Record<string, unknown>>;
}

export interface StatusWriterOptions extends ClusterAccess {
  /** Whether it is this router that writes. */
  readonly mayWrite: () => boolean;
  /** Who says so, in events. */
  readonly identity: string;
}

/** At most one write in this time. */
const GAP_MS = 100;

/**
 * Writes what is found of resources into their status, one after the other and only where something differs; and an event where a
 * resource is rejected. What fails is tried again, ever more seldom; requests know nothing of it.
 */
export class StatusWriter {
  readonly #options: StatusWriterOptions;
  readonly #stopping = new AbortController();
  #targets: readonly StatusTarget[] = [];
  /** By uid, the version that a write was made over: until the watch shows the next one, there is nothing more to write. */
  readonly #written = new Map<string, string>();
  #failures = 0;
  #waitMs = GAP_MS;
  #isBusy = false;

  constructor(options: StatusWriterOptions) {
    this.#options = options;
  }

  /** These are the resources now, and what is found of them. */
  follow(targets: readonly StatusTarget[]): void {
    this.#targets = targets;
    const uids = new Set(targets.map(({ regarding }) => regarding.uid));
    for (const uid of this.#written.keys()) if (!uids.has(uid)) this.#written.delete(uid);
    this.wake();
  }

  /** Something that `mayWrite` depends on is different. */
  wake(): void {
    if (!this.#isBusy) void this.#run();
  }

  stop(): void {
    this.#stopping.abort();
  }

  async #run(): Promise<void> {
    const { clock } = this.#options;
    this.#isBusy = true;
    try {
      for (let next = this.#next(); next !== undefined; next = this.#next()) {
        await this.#try(next.target, next.conditions);
        await pause(this.#waitMs, clock, this.#stopping.signal);
      }
    } finally {
      this.#isBusy = false;
    }
  }

  async #try(target: StatusTarget, conditions: readonly Condition[]): Promise<void> {
    try {
      await this.#write(target, conditions);
      this.#failures = 0;
      this.#waitMs = GAP_MS;
    } catch (thrown) {
      if (this.#stopping.signal.aborted) return;
      // What this resource can't be told, others may be.
      if (isOfResource(thrown)) this.#mark(target);
      if (!isOutdated(thrown)) this.#failed(thrown);
    }
  }

  /** The next one whose status says something else; undefined if there is none, or it is another one's task. */
  #next(): { readonly target: StatusTarget; readonly conditions: readonly Condition[] } | undefined {
    const { clock, mayWrite } = this.#options;
    if (this.#stopping.signal.aborted || !mayWrite()) return undefined;
    for (const target of this.#targets) {
      if (this.#written.get(target.regarding.uid) === target.resourceVersion) continue;
      const { findings, generation, status, fields = {} } = target;
      const conditions = withFindings(status.conditions ?? [], findings, generation, clock.wall());
      const isSame = Object.entries({ ...fields, conditions }).every(([key, value]) => isDeepStrictEqual(status[key], value));
      if (!isSame) return { target, conditions };
    }
    return undefined;
  }

  async #write(target: StatusTarget, conditions: readonly Condition[]): Promise<void> {
    const { client, clock, identity } = this.#options;
    const { signal } = this.#stopping;
    const { path, resourceVersion, fields, regarding, status } = target;
    // With its version in it, the server refuses it if the resource is another one by now.
    const body = { metadata: { resourceVersion }, status: { ...fields, conditions } };
    await client.request("PATCH", `${path}/status`, { body, contentType: "application/merge-patch+json", signal });
    this.#mark(target);
    const rejected = rejection(conditions);
    if (rejected === undefined || isDeepStrictEqual(rejected, rejection(status.conditions ?? []))) return;
    const { namespace } = regarding;
    const event = rejectionEvent(regarding, rejected.message, identity, clock.wall());
    await client.request("POST", `/apis/events.k8s.io/v1/namespaces/${namespace}/events`, { body: event, signal });
  }

  #mark({ regarding, resourceVersion }: StatusTarget): void {
    this.#written.set(regarding.uid, resourceVersion);
  }

  #failed(thrown: unknown): void {
    const { log, random } = this.#options;
    if (this.#waitMs === GAP_MS) log.warn("The status of resources can't be written", { cause: thrownMessage(thrown) });
    this.#failures = isUnconnected(thrown) ? 0 : this.#failures + 1;
    this.#waitMs = retryMs(this.#failures, thrown, random, SELDOM_MS);
  }
}

/** Somebody changed it, or it is gone: the watch tells what it is now. */
function isOutdated(thrown: unknown): boolean {
  return thrown instanceof KubernetesError && (thrown.status === 409 || thrown.status === 404);
}

/** Whether the request was wrong, not the server, its load or the router's rights. */
function isOfResource(thrown: unknown): boolean {
  if (!(thrown instanceof KubernetesError)) return false;
  return thrown.status >= 400 && thrown.status < 500 && ![401, 403, 429].includes(thrown.status);
}

/** The condition that says that a resource is not used; undefined if it is. */
function rejection(conditions: readonly Condition[]): Condition | undefined {
  return conditions.find(({ type, status }) => type === "Accepted" && status === "False");
}
