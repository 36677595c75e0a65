import type { Endpoint } from "../../../core/contract/endpoint.ts";
import { blockMoment } from "./cache/block-table.ts";
import type { KnownPart } from "./prompts/known-prompts.ts";
import type { Publisher } from "./publisher.ts";
import { Voice } from "./voice.ts";

/** What the events of a replica say of a prompt. */
export interface Promised {
  /** Tokens of the known part that are cached. */
  readonly tokens: number;
  /** All of the known part is cached. */
  readonly isAll: boolean;
  /** What is not promised is not there: all of the cache is known. */
  readonly isExact: boolean;
  /** When it was promised, as `blockMoment` has it. */
  readonly moment: number;
}

/** Of a cache so much is known that the rest does not matter. */
const WHOLE_SHARE = 0.98;

/** A replica's cache by its events: one engine, or one for each data-parallel rank. */
export class ReplicaCache {
  endpoint: Endpoint;
  publishers: readonly Publisher[] = [];
  /** Why it has no publisher; "" if it has, or nobody has looked yet. */
  lack = "";
  readonly voice = new Voice();
  /** What the index was told of its size; undefined if nothing. */
  toldTokens: number | undefined;
  readonly #capacityTokens: () => number | undefined;

  /** `capacityTokens`: of its cache; undefined if that is unknown. */
  constructor(endpoint: Endpoint, capacityTokens: () => number | undefined) {
    this.endpoint = endpoint;
    this.#capacityTokens = capacityTokens;
  }

  get isFollowed(): boolean {
    return this.publishers.length > 0 && this.publishers.every(({ state }) => state === "following");
  }

  /** Whether everything in the cache is known: from the beginning, or because what is known fills it. */
  get isWhole(): boolean {
    const capacity = (this.#capacityTokens() ?? Number.POSITIVE_INFINITY) / Math.max(1, this.publishers.length);
    return this.publishers.every(
      ({ blocks }) => !blocks.isCut && (blocks.isWhole || blocks.size * blocks.blockTokens >= WHOLE_SHARE * capacity),
    );
  }

  /** Tokens that fit into it, as its events show where nothing else tells; undefined if they do not. */
  get fullTokens(): number | undefined {
    if (!this.isFollowed || this.voice.isLost || this.#capacityTokens() !== undefined) return undefined;
    let sum = 0;
    for (const { blocks } of this.publishers) sum += blocks.fullTokens ?? Number.NaN;
    return Number.isNaN(sum) ? undefined : sum;
  }

  /** Undefined if nothing can be said. Which rank gets a request the engine decides, so the mean of them counts. */
  promised({ prompt, tokens }: KnownPart): Promised | undefined {
    if (!this.isFollowed) return undefined;
    let sum = 0;
    let isAll = true;
    for (const { blocks } of this.publishers) {
      const size = blocks.blockTokens;
      const keys = prompt.keys.get(size);
      if (keys === undefined) {
        // An engine that has never stored a block holds nothing.
        if (size !== 0 || !blocks.isWhole) return undefined;
        isAll = false;
        continue;
      }
      const whole = Math.min(keys.length / 2, Math.floor(tokens / size));
      const held = heldBlocks(keys, whole, (low, high) => blocks.holds(low, high));
      isAll &&= held === whole;
      sum += held * size;
    }
    return { tokens: Math.floor(sum / this.publishers.length), isAll, isExact: this.isWhole, moment: blockMoment() };
  }

  /** Tokens of the known part that have been there from that moment on until now: what was stored anew in between had been evicted. */
  keptSince(moment: number, { prompt, tokens }: KnownPart): number {
    let sum = 0;
    for (const { blocks } of this.publishers) {
      const size = blocks.blockTokens;
      const keys = prompt.keys.get(size);
      if (keys === undefined) continue;
      const whole = Math.min(keys.length / 2, Math.floor(tokens / size));
      let kept = 0;
      while (kept < whole && blocks.heldSince(keys[2 * kept]!, keys[2 * kept + 1]!, moment)) kept++;
      sum += kept * size;
    }
    return Math.floor(sum / this.publishers.length);
  }

  /** When an event came last from any of its engines. */
  get heardAtMs(): number {
    return Math.max(...this.publishers.map(({ heardAtMs }) => (Number.isNaN(heardAtMs) ? Number.NEGATIVE_INFINITY : heardAtMs)));
  }

  stop(): void {
    for (const publisher of this.publishers) publisher.stop();
    this.publishers = [];
  }
}

/** Engines evict the end of a prompt before its beginning, so a search by halves finds how many leading blocks are there. */
function heldBlocks(keys: Int32Array, whole: number, holds: (low: number, high: number) => boolean): number {
  let held = 0;
  let open = whole;
  if (open > 0 && holds(keys[2 * open - 2]!, keys[2 * open - 1]!)) return open;
  while (held < open) {
    const middle = (held + open) >>> 1;
    if (holds(keys[2 * middle]!, keys[2 * middle + 1]!)) held = middle + 1;
    else open = middle;
  }
  return held;
}
