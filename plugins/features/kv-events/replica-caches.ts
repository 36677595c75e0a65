import type { Endpoint } from "../../../core/contract/endpoint.ts";
import { thrownText } from "../../../core/contract/thrown-text.ts";
import type { RouterHost } from "../../../core/router-host.ts";
import type { Settings } from "../../../core/settings.ts";
import { GetError } from "../../../core/wire/get-error.ts";
import { configuredAddresses, toldAddresses } from "./addresses.ts";
import type { BlockBudget } from "./cache/block-table.ts";
import type { KvEventsSettings } from "./kv-events-config.ts";
import { type EventAddress, Publisher } from "./publisher.ts";
import { ReplicaCache } from "./replica-cache.ts";
import { getFrom } from "./replica-requests.ts";

const SOURCES_PATH = "/kv_event_sources";
const SOURCES_TIMEOUT_MS = 5_000;
const MAX_SOURCES_BYTES = 256 * 1024;
/** Until a replica is asked again where its events are. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

interface Followed {
  readonly cache: ReplicaCache;
  /** Gives up looking for its addresses. */
  stopLooking: () => void;
}

/** The caches of the pool's replicas: finds where each publishes its events, and follows them while it is in the pool. */
export class ReplicaCaches {
  readonly budget: BlockBudget = { left: 0 };
  readonly #host: RouterHost;
  readonly #get: ReturnType<typeof getFrom>;
  readonly #emptied: (cache: ReplicaCache) => void;
  readonly #byName = new Map<string, Followed>();
  #bySlot: (ReplicaCache | undefined)[] = [];
  #endpoints: readonly Endpoint[] = [];
  #settings: KvEventsSettings | undefined;

  constructor(host: RouterHost, settings: () => Settings | undefined, emptied: (cache: ReplicaCache) => void) {
    this.#host = host;
    this.#get = getFrom(settings);
    this.#emptied = emptied;
  }

  at(slot: number): ReplicaCache | undefined {
    return this.#bySlot[slot];
  }

  named(name: string): ReplicaCache | undefined {
    return this.#byName.get(name)?.cache;
  }

  all(): readonly ReplicaCache[] {
    return [...this.#byName.values()].map(({ cache }) => cache);
  }

  /** In tokens, of all engines. */
  blockSizes(): ReadonlySet<number> {
    const sizes = new Set<number>();
    for (const { cache } of this.#byName.values())
      for (const { blocks } of cache.publishers) if (blocks.blockTokens > 0 && sizes.size < 4) sizes.add(blocks.blockTokens);
    return sizes;
  }

  /** What is known of caches is kept if their events come from the same place. */
  use(settings: KvEventsSettings | undefined): void {
    const isSame = JSON.stringify({ ...settings, believe: true }) === JSON.stringify({ ...this.#settings, believe: true });
    if (isSame && (settings === undefined) === (this.#settings === undefined)) {
      this.#settings = settings;
      return;
    }
    this.#stopAll();
    this.#settings = settings;
    this.budget.left = settings?.maxBlocks ?? 0;
    this.follow(this.#endpoints);
  }

  follow(endpoints: readonly Endpoint[]): void {
    this.#endpoints = endpoints;
    if (this.#settings === undefined) return;
    const names = new Set(endpoints.map(({ name }) => name));
    for (const [name, followed] of this.#byName) if (!names.has(name)) this.#stop(name, followed);
    for (const endpoint of endpoints) this.#meet(endpoint);
    this.#bySlot = [];
    for (const { cache } of this.#byName.values()) this.#bySlot[cache.endpoint.slot] = cache;
  }

  close(): void {
    this.#stopAll();
    this.#endpoints = [];
  }

  #stopAll(): void {
    for (const [name, followed] of this.#byName) this.#stop(name, followed);
    this.#bySlot = [];
  }

  #stop(name: string, followed: Followed): void {
    const { toldTokens, endpoint } = followed.cache;
    const { load } = this.#host;
    // Another replica may get its slot.
    if (toldTokens !== undefined) this.#host.prefixIndex()?.setCapacity(endpoint.slot, load.cacheTokens[endpoint.slot]);
    followed.stopLooking();
    followed.cache.stop();
    this.#byName.delete(name);
  }

  #meet(endpoint: Endpoint): void {
    const known = this.#byName.get(endpoint.name);
    if (known !== undefined && isSamePlace(known.cache.endpoint, endpoint)) {
      const isNew = known.cache.endpoint.generation !== endpoint.generation;
      known.cache.endpoint = endpoint;
      if (isNew) this.#replaced(known);
      return;
    }
    if (known !== undefined) this.#stop(endpoint.name, known);
    const { load } = this.#host;
    const cache: ReplicaCache = new ReplicaCache(endpoint, () => load.cacheTokens[cache.endpoint.slot]);
    const followed: Followed = { cache, stopLooking: () => {} };
    this.#byName.set(endpoint.name, followed);
    this.#look(followed, FIRST_PAUSE_MS);
  }

  /** Another process: its events may be elsewhere too. */
  #replaced(followed: Followed): void {
    followed.cache.voice.forget();
    for (const publisher of followed.cache.publishers) publisher.replaced();
    followed.stopLooking();
    this.#look(followed, FIRST_PAUSE_MS);
  }

  #look(followed: Followed, pauseMs: number): void {
    const { cache } = followed;
    const settings = this.#settings!;
    try {
      const addresses = this.#host.engines ? modelledAddresses(cache.endpoint) : configuredAddresses(cache.endpoint, settings);
      if (addresses !== undefined) return this.#followAt(cache, addresses, settings);
    } catch (thrown) {
      cache.lack = thrownText(thrown);
      return;
    }
    const asking = new AbortController();
    followed.stopLooking = () => asking.abort();
    this.#ask(cache, asking.signal).then(
      (addresses) => {
        if (!asking.signal.aborted) this.#followAt(cache, addresses, settings);
      },
      (thrown: unknown) => {
        if (asking.signal.aborted) return;
        cache.lack = thrown instanceof GetError ? "it did not say where its events are" : thrownText(thrown);
        const next = Math.min(LONGEST_PAUSE_MS, 2 * pauseMs);
        followed.stopLooking = this.#host.clock.after(pauseMs, () => this.#look(followed, next));
      },
    );
  }

  async #ask({ endpoint }: ReplicaCache, signal: AbortSignal): Promise<readonly EventAddress[]> {
    const { status, body } = await this.#get(endpoint, SOURCES_PATH, SOURCES_TIMEOUT_MS, MAX_SOURCES_BYTES, signal);
    if (status !== 200)
      throw new Error(`it answered GET ${SOURCES_PATH} with ${status}: set port or label in spec.kvEvents where its events are`);
    return toldAddresses(body, endpoint);
  }

  #followAt(cache: ReplicaCache, addresses: readonly EventAddress[], settings: KvEventsSettings): void {
    cache.lack = "";
    if (isSameList(cache.publishers, addresses)) return;
    cache.stop();
    const { clock, services } = this.#host;
    cache.publishers = addresses.map(
      (address) =>
        new Publisher({
          ...{ clock, random: services.random, address, budget: this.budget, emptied: () => this.#emptied(cache) },
          ...{ wire: this.#host.engines, topic: settings.topic, maxMessageBytes: settings.maxMessageBytes },
        }),
    );
  }
}

/** Of an engine that is no process: it is found by its endpoint's name alone. */
function modelledAddresses({ url }: Endpoint): readonly EventAddress[] {
  return [{ rank: 0, url, replayUrl: url }];
}

function isSamePlace(before: Endpoint, now: Endpoint): boolean {
  return before.url.href === now.url.href && JSON.stringify(before.labels) === JSON.stringify(now.labels);
}

function isSameList(publishers: readonly Publisher[], addresses: readonly EventAddress[]): boolean {
  const place = ({ url, replayUrl, rank }: EventAddress) => `${rank} ${url.href} ${replayUrl?.href ?? ""}`;
  const [before, now] = [publishers.map(({ address }) => place(address)), addresses.map(place)];
  return before.join() === now.join();
}
