import type { Random } from "../../../core/contract/profile-plugin.ts";
import type { ReplayOwner, SubscriptionOwner } from "../../../core/pool/engine-wire.ts";
import type { CacheListener, EnginePrompt } from "../engine/kv-cache.ts";
import { type BlockName, EventWriter, type TokenRun } from "./event-writer.ts";
import type { EventQueue } from "./events.ts";

/** How events of replicas' caches go to the routers. */
export interface CacheEventSettings {
  readonly delayMs: number;
  /** Of the batches, which part gets lost, in [0, 1). */
  readonly loss: number;
}

/** What an engine keeps for those that have missed something. */
const MOST_KEPT = 10_000;
const MOST_KEPT_BYTES = 16 * 1024 * 1024;

/** The engine blocks that end inside of one piece of the simulator's, counted from the prompt's beginning. */
interface Range {
  readonly from: number;
  readonly to: number;
}

/** One modelled engine as it publishes what its cache gets and loses: a batch for each moment in which something changes. */
export class CacheEvents implements CacheListener {
  readonly #settings: CacheEventSettings;
  readonly #blockTokens: number;
  readonly #queue: EventQueue;
  readonly #random: Random;
  readonly #writer = new EventWriter();
  readonly #listeners = new Set<SubscriptionOwner>();
  /** By the pieces' ids. */
  readonly #ranges = new Map<number, Range>();
  #kept: { readonly sequence: number; readonly payload: Uint8Array }[] = [];
  #keptBytes = 0;
  #next = 0;

  constructor(settings: CacheEventSettings, blockTokens: number, queue: EventQueue, random: Random) {
    this.#settings = settings;
    this.#blockTokens = blockTokens;
    this.#queue = queue;
    this.#random = random;
  }

  stored(prompt: EnginePrompt, piece: number, endTokens: number): void {
    if (this.#listeners.size === 0) return;
    const size = this.#blockTokens;
    const start = endTokens - prompt.tokensIn(piece);
    const range = { from: Math.floor(start / size), to: Math.floor(endTokens / size) };
    if (range.from === range.to) return;
    const id = prompt.blocks[piece]!;
    this.#ranges.set(id, range);
    this.#begin();
    const { parent, runs } = before(prompt, piece, start, range.from * size);
    const own = { token: id, count: range.to * size - Math.max(start, range.from * size) };
    const parentName = parent === undefined ? undefined : { high: parent, low: range.from - 1 };
    this.#writer.stored(names(id, range), parentName, [...runs, own], size);
  }

  removed(id: number): void {
    const range = this.#ranges.get(id);
    if (range === undefined) return;
    this.#ranges.delete(id);
    this.#begin();
    this.#writer.removed(names(id, range));
  }

  /** Another process takes over: it counts its batches anew. */
  restarted(): void {
    this.#ranges.clear();
    this.#writer.take(0);
    this.#kept = [];
    this.#keptBytes = 0;
    this.#next = 0;
    for (const listener of this.#listeners) {
      listener.disconnected("it restarts");
      this.#queue.after(this.#settings.delayMs, () => this.#ifListening(listener, () => listener.connected()));
    }
  }

  subscribe(listener: SubscriptionOwner): { stop(): void } {
    this.#listeners.add(listener);
    this.#queue.after(this.#settings.delayMs, () => this.#ifListening(listener, () => listener.connected()));
    return { stop: () => void this.#listeners.delete(listener) };
  }

  replay(from: number, owner: ReplayOwner): () => void {
    let isWanted = true;
    this.#queue.after(2 * this.#settings.delayMs, () => {
      for (const { sequence, payload } of [...this.#kept]) if (isWanted && sequence >= from) owner.replayed(sequence, payload);
      if (isWanted) owner.done();
    });
    return () => {
      isWanted = false;
    };
  }

  /** What else changes at this moment goes into the same batch. */
  #begin(): void {
    if (this.#writer.events === 0) this.#queue.after(0, () => this.#publish());
  }

  #publish(): void {
    if (this.#writer.events === 0) return;
    const { delayMs, loss } = this.#settings;
    const payload = this.#writer.take(this.#queue.now() / 1000);
    const sequence = this.#next++;
    this.#keep(sequence, payload);
    const parts = [new Uint8Array(0), sequenceBytes(sequence), payload];
    for (const listener of this.#listeners) {
      if (loss > 0 && this.#random() < loss) continue;
      this.#queue.after(delayMs, () => this.#ifListening(listener, () => listener.message(parts)));
    }
  }

  #keep(sequence: number, payload: Uint8Array): void {
    this.#kept.push({ sequence, payload });
    this.#keptBytes += payload.length;
    while (this.#kept.length > MOST_KEPT || this.#keptBytes > MOST_KEPT_BYTES)
      this.#keptBytes -= this.#kept.shift()!.payload.length;
  }

  #ifListening(listener: SubscriptionOwner, tell: () => void): void {
    if (this.#listeners.has(listener)) tell();
  }
}

/** An id stands for all up to its piece's end, so with a number it names a block. */
function names(id: number, { from, to }: Range): readonly BlockName[] {
  return Array.from({ length: to - from }, (_, index) => ({ high: id, low: from + index }));
}

/** The tokens between `at` and a piece's start, and the id of the piece in which the block ends that ends at `at`. */
function before(prompt: EnginePrompt, piece: number, start: number, at: number) {
  const runs: TokenRun[] = [];
  let parent: number | undefined;
  let end = start;
  for (let earlier = piece - 1; earlier >= 0 && parent === undefined; earlier--) {
    const id = prompt.blocks[earlier]!;
    const first = end - prompt.tokensIn(earlier);
    if (end > at) runs.unshift({ token: id, count: end - Math.max(first, at) });
    if (first < at) parent = id;
    end = first;
  }
  return { parent, runs };
}

function sequenceBytes(sequence: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(sequence));
  return bytes;
}
