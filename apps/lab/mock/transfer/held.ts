import type { Clock } from "../../../../core/contract/clock.ts";
import type { SharedBlocks } from "./shared-blocks.ts";

/** Ids of blocks that are gone, kept to say why. */
const MAX_REMEMBERED = 4096;

/** Why blocks can't be had. */
export type Refusal = "unknown" | "fetched" | "expired" | "claimed" | "different";

interface Held {
  readonly digest: string;
  readonly blocks: number;
  readonly release: () => void;
  isClaimed: boolean;
  isRead: boolean;
  cancelExpiry: () => void;
}

/** The blocks that a prefill replica keeps for decode replicas, until they are read or their time is over. */
export class HeldBlocks {
  /** Counters; they never decrease. */
  readonly totals = { held: 0, fetched: 0, expired: 0 };
  readonly #shared: SharedBlocks;
  readonly #clock: Clock;
  readonly #holdMs: number;
  readonly #onChange: () => void;
  readonly #held = new Map<string, Held>();
  readonly #ended = new Map<string, Refusal>();

  constructor(shared: SharedBlocks, clock: Clock, holdMs: number, onChange: () => void) {
    this.#shared = shared;
    this.#clock = clock;
    this.#holdMs = holdMs;
    this.#onChange = onChange;
  }

  /** Prompts whose blocks are held. */
  get count(): number {
    return this.#held.size;
  }

  get blocks(): number {
    let blocks = 0;
    for (const held of this.#held.values()) blocks += held.blocks;
    return blocks;
  }

  /** Of those, the ones that are being read. */
  get reading(): number {
    let reading = 0;
    for (const held of this.#held.values()) if (held.isRead) reading += 1;
    return reading;
  }

  /** Holds the blocks of a prompt that was just computed. Returns how many; undefined when the cache is too full to keep them. */
  hold(id: string, prompt: readonly number[], cacheKey: string, digest: string): number | undefined {
    const hold = this.#shared.hold(prompt, cacheKey);
    if (hold === undefined) return undefined;
    const { blocks, release } = hold;
    const held: Held = { digest, blocks, release, isClaimed: false, isRead: false, cancelExpiry: () => {} };
    this.#held.set(id, held);
    this.totals.held += 1;
    this.#expireLater(id, held);
    this.#onChange();
    return blocks;
  }

  /** A decode replica says that it will read the blocks of this prompt. Returns why it can't; undefined if it can. */
  claim(id: string, digest: string): Refusal | undefined {
    const held = this.#held.get(id);
    if (held === undefined) return this.#ended.get(id) ?? "unknown";
    if (held.digest !== digest) return "different";
    if (held.isClaimed) return "claimed";
    held.isClaimed = true;
    return undefined;
  }

  /** Begins to read. Returns what ends it, once: with the blocks read, or (false) with a reader that is gone; they are held again then. */
  read(id: string): ((isComplete: boolean) => void) | undefined {
    const held = this.#held.get(id);
    if (held === undefined || !held.isClaimed || held.isRead) return undefined;
    held.isRead = true;
    held.cancelExpiry();
    this.#onChange();
    return (isComplete) => {
      if (this.#held.get(id) !== held || !held.isRead) return;
      held.isRead = false;
      if (isComplete) this.#end(id, held, "fetched");
      else this.#expireLater(id, held);
      this.#onChange();
    };
  }

  /** All is lost, as when the process has died. */
  clear(): void {
    for (const held of this.#held.values()) {
      held.cancelExpiry();
      held.release();
    }
    this.#held.clear();
    this.#ended.clear();
    this.#onChange();
  }

  #expireLater(id: string, held: Held): void {
    held.cancelExpiry = this.#clock.after(this.#holdMs, () => this.#end(id, held, "expired"));
  }

  #end(id: string, held: Held, reason: "fetched" | "expired"): void {
    this.#held.delete(id);
    this.totals[reason] += 1;
    this.#ended.set(id, reason);
    const oldest = this.#ended.keys().next().value;
    if (this.#ended.size > MAX_REMEMBERED && oldest !== undefined) this.#ended.delete(oldest);
    held.cancelExpiry();
    held.release();
    this.#onChange();
  }
}
