import type { Span } from "../../../core/contract/span.ts";
import type { Turn } from "./turn.ts";

/** One item of a turn. */
interface HeldItem {
  readonly turn: Turn;
  /** In the turn's items. */
  readonly span: Span;
  /** A response made it; else a request had it. */
  readonly isMade: boolean;
  /** Two responses made different ones of the same id, so it is not known which one is meant. */
  readonly isDoubled: boolean;
}

/** The items of one tenant's turns, by their ids. */
export class HeldItems {
  readonly #byId = new Map<string, HeldItem>();

  /** The turn that has the item, and where in its items; undefined where it is not known which one is meant. */
  find(id: string): { readonly turn: Turn; readonly bytes: Uint8Array } | undefined {
    const item = this.#byId.get(id);
    return item === undefined || item.isDoubled ? undefined : { turn: item.turn, bytes: bytesOf(item) };
  }

  /** A client that sends an item again may write it in another way: what a response made counts, else what came first. */
  add(turn: Turn, ids: ReadonlyMap<string, Span>, isMade: boolean): void {
    for (const [id, span] of ids) {
      const item: HeldItem = { turn, span, isMade, isDoubled: false };
      const known = this.#byId.get(id);
      if (known === undefined || (isMade && !known.isMade)) this.#byId.set(id, item);
      else if (isMade && Buffer.compare(bytesOf(known), bytesOf(item)) !== 0) this.#byId.set(id, { ...known, isDoubled: true });
    }
  }

  forget(turn: Turn): void {
    for (const id of turn.itemIds) if (this.#byId.get(id)?.turn === turn) this.#byId.delete(id);
  }
}

function bytesOf({ turn, span }: HeldItem): Uint8Array {
  return turn.items.subarray(span[0], span[1]);
}
