import { afterAwake } from "../../core/contract/standstill.ts";
import { thrownMessage } from "../../core/contract/thrown-text.ts";
import { halfAtLeast, isSoon, pause, retryMs, SELDOM_MS } from "./back-off.ts";
import type { ClusterAccess } from "./client.ts";
import { JsonLines } from "./json-lines.ts";
import { isUnconnected, KubernetesError } from "./kubernetes-error.ts";
import { type KubernetesObject, readEvent, readPage, type WatchEvent } from "./objects.ts";

/** Which objects are watched, and who is told. */
export interface WatchedList<Item> {
  /** Of the list, such as /api/v1/namespaces/llm/pods. */
  readonly path: string;
  /** What narrows the list, such as labelSelector; `limit` is the size of its pages. */
  readonly query?: Readonly<Record<string, string>>;
  /** The server may not know the kind, or not yet: then there are none, and it is asked again later. */
  readonly isOptional?: boolean;
  /** What is kept of an object: they are large, and there may be thousands. Undefined leaves it out. */
  readonly pick: (object: KubernetesObject) => Item | undefined;
  /** All of them by name, when the first list is complete and after each change; changes that come together are told together. */
  readonly changed: (items: ReadonlyMap<string, Item>) => void;
}

export interface WatchOptions<Item> extends ClusterAccess, WatchedList<Item> {}

/** A page is read at one go, while no request is served: of 100 pods it takes some milliseconds. */
const PAGE_SIZE = 100;
/** A server that goes on for longer is not believed. */
const MOST_OBJECTS = 50_000;
const MOST_PAGES = MOST_OBJECTS / PAGE_SIZE;
/** The server ends a watch after a time between these, so that not all watches begin anew together. */
const WATCH_S = { least: 240, most: 480 };
/** The server says how far it is about once a minute; a watch that hangs is as silent as a broken connection. */
const SILENCE_MS = 150_000;
/** Large enough for any object, which etcd bounds at 1.5 MiB. */
const LINE_BYTES = 8 * 1024 * 1024;
/** After so many times in a row, which takes more than a minute, a server is believed that does not know the kind any more. */
const ABSENT_TIMES = 23;
/** A watch that ends sooner counts as a failure, so that no server makes this a busy loop. */
const SHORT_MS = 10_000;
/** Changes are told at most so often. */
const GATHER_MS = 50;

/**
 * Lists objects and watches what becomes of them, until `stop`. While the server can't be reached, what was known stays; after it
 * has forgotten what came since (410 Gone), they are listed anew, and the new list takes the old one's place as a whole.
 */
export class Watch<Item> {
  readonly #options: WatchOptions<Item>;
  readonly #stopping = new AbortController();
  #items = new Map<string, Item>();
  /** Where the next watch begins; "" when the objects have to be listed first. */
  #version = "";
  #isSynced = false;
  /** The last moment at which all was known, as far as one can tell now. */
  #knownAtMs = Number.NaN;
  #fault = "";
  /** How often in a row the server did not know the kind. */
  #absences = 0;
  /** Failures in a row, since the server could be connected to. */
  #failures = 0;
  /** How often in a row the server had forgotten what came since. */
  #expiries = 0;
  /** Until the next try. */
  #waitMs = 0;
  #toldAtMs = Number.NEGATIVE_INFINITY;
  #cancelTelling: (() => void) | undefined;

  constructor(options: WatchOptions<Item>) {
    this.#options = options;
  }

  /** Whether there was a whole list. */
  get isSynced(): boolean {
    return this.#isSynced;
  }

  /** The last moment at which all was known, on the clock; undefined while the watch runs, NaN if there was none. */
  get staleSinceMs(): number | undefined {
    return this.#fault === "" ? undefined : this.#knownAtMs;
  }

  /** Why the server can't be watched; "" while it can. */
  get fault(): string {
    return this.#fault;
  }

  start(): void {
    void this.#run();
  }

  stop(): void {
    this.#stopping.abort();
    this.#cancelTelling?.();
  }

  async #run(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const fromMs = clock.now();
      try {
        if (this.#version !== "" || (await this.#list())) {
          await this.#watch();
          this.#ended(clock.now() - fromMs);
        }
      } catch (thrown) {
        if (signal.aborted) return;
        this.#failed(thrown, fromMs);
      }
      if (this.#waitMs > 0) await pause(this.#waitMs, clock, signal);
    }
  }

  /** False where the server does not know the kind. */
  async #list(): Promise<boolean> {
    try {
      await this.#listPages();
      this.#absences = 0;
      return true;
    } catch (thrown) {
      if (!this.#isAbsent(thrown)) throw thrown;
      this.#absences += 1;
      this.#failures = 0;
      const { random } = this.#options;
      const isNew = isSoon(this.#absences);
      this.#waitMs = isNew ? retryMs(this.#absences, thrown, random) : halfAtLeast(SELDOM_MS, random);
      // A server that has just begun may not know all kinds yet.
      if (this.#items.size === 0 || this.#absences >= ABSENT_TIMES) {
        this.#replace(new Map());
        this.#repaired();
      }
      return false;
    }
  }

  #isAbsent(thrown: unknown): boolean {
    return this.#options.isOptional === true && thrown instanceof KubernetesError && thrown.status === 404;
  }

  async #listPages(): Promise<void> {
    const { client, path, pick, query = {} } = this.#options;
    const items = new Map<string, Item>();
    let next = "";
    let pages = 0;
    do {
      pages += 1;
      if (pages > MOST_PAGES) throw tooMany();
      const asked = new URLSearchParams({ limit: String(PAGE_SIZE), ...query, ...(next !== "" && { continue: next }) });
      const page = readPage(await client.request("GET", `${path}?${asked}`, { signal: this.#stopping.signal }));
      for (const object of page.objects) put(items, object, pick(object));
      this.#version = page.next === "" ? page.resourceVersion : "";
      next = page.next;
    } while (next !== "");
    this.#replace(items);
  }

  #replace(items: Map<string, Item>): void {
    this.#items = items;
    this.#isSynced = true;
    this.#knownAtMs = this.#options.clock.now();
    this.#tell();
  }

  async #watch(): Promise<void> {
    const { client, path, query = {}, clock, random } = this.#options;
    const { signal: stopped } = this.#stopping;
    const seconds = Math.round(WATCH_S.least + random() * (WATCH_S.most - WATCH_S.least));
    const asked = { watch: "1", allowWatchBookmarks: "true", resourceVersion: this.#version, timeoutSeconds: String(seconds) };
    const lines = new JsonLines(LINE_BYTES);
    const ending = new AbortController();
    const end = () => ending.abort();
    stopped.addEventListener("abort", end);
    let cancelSilence = () => {};
    let hasBegun = false;
    const heard = () => {
      this.#knownAtMs = clock.now();
      cancelSilence();
      cancelSilence = afterAwake(clock, SILENCE_MS, end);
    };
    try {
      await client.stream(`${path}?${new URLSearchParams({ ...query, ...asked })}`, {
        signal: ending.signal,
        begun: () => {
          hasBegun = true;
          heard();
          this.#repaired();
        },
        bytes: (chunk) => {
          heard();
          this.#take(chunk, lines);
        },
      });
    } catch (thrown) {
      // It was silent for too long: the next one says whether the server is there.
      if (!ending.signal.aborted || stopped.aborted) throw thrown;
    } finally {
      // A quiet watch knows all until its connection ends; after a silence that was too long, nobody knows when it broke.
      if (hasBegun && !ending.signal.aborted) this.#knownAtMs = clock.now();
      cancelSilence();
      stopped.removeEventListener("abort", end);
    }
  }

  /** After a line that can't be read, or that reports an error, nobody knows what was missed: then all is listed anew. */
  #take(chunk: Uint8Array, lines: JsonLines): void {
    let isChanged = false;
    try {
      for (const line of lines.push(chunk)) isChanged = this.#apply(readEvent(line)) || isChanged;
    } catch (thrown) {
      this.#version = "";
      throw thrown;
    } finally {
      if (isChanged) this.#tellSoon();
    }
  }

  /** Returns whether an object is different now. */
  #apply(event: WatchEvent | undefined): boolean {
    if (event === undefined) return false;
    this.#expiries = 0;
    if (event.type === "BOOKMARK") {
      this.#version = event.resourceVersion || this.#version;
      return false;
    }
    const { type, object } = event;
    put(this.#items, object, type === "DELETED" ? undefined : this.#options.pick(object));
    this.#version = object.metadata.resourceVersion ?? this.#version;
    return true;
  }

  /** At once, unless something was told a moment ago. */
  #tellSoon(): void {
    if (this.#cancelTelling !== undefined) return;
    const { clock } = this.#options;
    const waitMs = this.#toldAtMs + GATHER_MS - clock.now();
    if (waitMs <= 0) this.#tell();
    else this.#cancelTelling = clock.after(waitMs, () => this.#tell());
  }

  #tell(): void {
    const { changed, clock } = this.#options;
    this.#cancelTelling?.();
    this.#cancelTelling = undefined;
    this.#toldAtMs = clock.now();
    changed(this.#items);
  }

  #ended(afterMs: number): void {
    const isShort = afterMs < SHORT_MS;
    this.#failures = isShort ? this.#failures + 1 : 0;
    this.#waitMs = isShort ? retryMs(this.#failures, undefined, this.#options.random, SELDOM_MS) : 0;
    if (!isShort) this.#expiries = 0;
  }

  /** `fromMs`: when it was asked. */
  #failed(thrown: unknown, fromMs: number): void {
    const { log, path, random } = this.#options;
    // There was nothing to watch, and it was asked again in time.
    if (this.#fault === "" && this.#absences > 0 && this.#items.size === 0) this.#knownAtMs = fromMs;
    if (this.#isAbsent(thrown) || (thrown instanceof KubernetesError && thrown.status === 410)) {
      this.#version = "";
      // A server that was away for long says so as soon as it is back: then nothing is gained by a long wait.
      this.#failures = ++this.#expiries;
      this.#waitMs = retryMs(this.#expiries, thrown, random, SELDOM_MS);
      return;
    }
    if (isUnconnected(thrown)) this.#failures = this.#absences = 0;
    else this.#failures += 1;
    this.#waitMs = retryMs(this.#failures, thrown, random);
    const cause = thrownMessage(thrown);
    if (this.#fault === "") log.warn("The Kubernetes API can't be watched; what it said last stays", { path, cause });
    this.#fault = cause;
  }

  #repaired(): void {
    const { log, path } = this.#options;
    if (this.#fault !== "") log.info("The Kubernetes API is watched again", { path });
    this.#fault = "";
  }
}

function put<Item>(items: Map<string, Item>, { metadata: { name } }: KubernetesObject, item: Item | undefined): void {
  if (item === undefined) items.delete(name);
  else if (items.size >= MOST_OBJECTS && !items.has(name)) throw tooMany();
  else items.set(name, item);
}

function tooMany(): KubernetesError {
  return new KubernetesError(0, "", `The list has more than ${MOST_OBJECTS} objects: narrow it by a selector.`);
}
