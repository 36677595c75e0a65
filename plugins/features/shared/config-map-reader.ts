import type { ClusterAccess } from "../../../apps/kubernetes/client.ts";
import { isStatus } from "../../../apps/kubernetes/kubernetes-error.ts";
import type { KubernetesObject } from "../../../apps/kubernetes/objects.ts";
import { Watch } from "../../../apps/kubernetes/watch.ts";
import { silentLog } from "../../../core/contract/log.ts";
import { printable } from "../../../core/contract/printable.ts";
import { thrownMessage } from "../../../core/contract/thrown-text.ts";
import { readConfigMap } from "./config-map.ts";

export interface ConfigMapReaderOptions extends ClusterAccess {
  /** Of all ConfigMaps of the namespace. */
  readonly list: string;
  /** Finds those of the channel. */
  readonly selector: string;
  /** The router's own, which is never taken for left. */
  readonly ownName: string;
  readonly received: (message: string) => void;
  /** There is a whole list, or it has changed. */
  readonly changed: () => void;
}

/** What is kept of a ConfigMap. */
interface Seen {
  readonly version: string;
  readonly sequence: string;
  /** Since when it could have been written again. */
  sinceMs: number;
}

/** Each has at most 1.5 MiB, so that a page stays below what the client reads at once. */
const PAGE_SIZE = 20;
/** A router writes each second. One that has written nothing for so long has gone. */
const GONE_MS = 30_000;
const STRANGER_MS = 60_000;

/** Hands on what routers write into their ConfigMaps, its own among them, and deletes those of routers that have gone. */
export class ConfigMapReader {
  readonly #options: ConfigMapReaderOptions;
  readonly #watch: Watch<Seen>;
  #seen: ReadonlyMap<string, Seen> = new Map();
  #toldStrangerMs = Number.NEGATIVE_INFINITY;
  readonly #stopping = new AbortController();
  #isDeleting = false;
  #hasFailedToDelete = false;

  constructor(options: ConfigMapReaderOptions) {
    const { list, selector, client, clock, random } = options;
    this.#options = options;
    this.#watch = new Watch<Seen>({
      ...{ client, clock, random },
      // The link says itself what is wrong.
      log: silentLog,
      path: list,
      query: { labelSelector: selector, limit: String(PAGE_SIZE) },
      pick: (object) => this.#read(object),
      changed: (items) => {
        this.#seen = items;
        options.changed();
      },
    });
  }

  start(): void {
    this.#watch.start();
  }

  stop(): void {
    this.#watch.stop();
    this.#stopping.abort();
  }

  get isSynced(): boolean {
    return this.#watch.isSynced;
  }

  /** Why nothing can be read; "" while it can. */
  get fault(): string {
    return this.#watch.fault;
  }

  /** Nobody could write for a while: who has gone shows from now on. */
  startAnew(): void {
    const nowMs = this.#options.clock.now();
    for (const seen of this.#seen.values()) seen.sinceMs = nowMs;
  }

  /** Deletes one whose router has gone. */
  deleteGone(): void {
    const { clock, ownName } = this.#options;
    if (this.#isDeleting) return;
    const nowMs = clock.now();
    for (const [name, seen] of this.#seen) {
      if (name === ownName || nowMs - seen.sinceMs < GONE_MS) continue;
      // Tried again later; if another router was quicker, the watch has said so by then.
      seen.sinceMs = nowMs;
      void this.#delete(name, seen.version);
      return;
    }
  }

  /** What a write had is handed on once, also if it is listed again. The first list has what was said before this router came. */
  #read(object: KubernetesObject): Seen | undefined {
    const { name, resourceVersion: version = "" } = object.metadata;
    const before = this.#seen.get(name);
    if (before?.version === version) return before;
    const written = readConfigMap(object);
    if (written === undefined) return this.#stranger(name);
    const { sequence, messages } = written;
    if (this.#watch.isSynced && sequence !== before?.sequence) for (const message of messages) this.#options.received(message);
    return { version, sequence, sinceMs: this.#options.clock.now() };
  }

  #stranger(name: string): undefined {
    const { clock, log, selector } = this.#options;
    if (clock.now() - this.#toldStrangerMs < STRANGER_MS) return;
    this.#toldStrangerMs = clock.now();
    log.warn("A ConfigMap has the label of routers that agree, and was written by none of them: take the label off", {
      configMap: printable(name),
      label: selector,
    });
  }

  async #delete(name: string, resourceVersion: string): Promise<void> {
    const { client, list, log } = this.#options;
    const { signal } = this.#stopping;
    this.#isDeleting = true;
    try {
      // The version in it makes the server refuse it if the router has written again.
      await client.request("DELETE", `${list}/${name}`, { body: { preconditions: { resourceVersion } }, signal });
    } catch (thrown) {
      const isDone = isStatus(thrown, 404) || isStatus(thrown, 409);
      if (!isDone && !signal.aborted && !this.#hasFailedToDelete)
        log.warn("The ConfigMap of a router that has gone can't be deleted", { name, cause: thrownMessage(thrown) });
      this.#hasFailedToDelete ||= !isDone;
    } finally {
      this.#isDeleting = false;
    }
  }
}
