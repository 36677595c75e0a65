import type { Clock } from "../../../core/contract/clock.ts";
import type { BlockBudget } from "./cache/block-table.ts";
import { EngineBlocks } from "./cache/engine-blocks.ts";
import { InOrder } from "./in-order.ts";

/** So much of a batch is read in one turn of the event loop: some 20,000 tokens, in a quarter of a millisecond. */
const SLICE_BYTES = 64 * 1024;

/** Reads the batches of one engine: a large one in slices, during which what comes later waits. */
export class BatchReading {
  readonly blocks: EngineBlocks;
  readonly order: InOrder;
  /** Batches so far, and those of them that could not be read. */
  count = 0;
  malformed = 0;
  /** Number and time of the last batch taken; undefined before the first. */
  last: { readonly sequence: number; readonly time: number } | undefined;
  readonly #emptied: () => void;

  /** `emptied`: the engine dropped all of its cache. */
  constructor(clock: Clock, budget: BlockBudget, emptied: () => void) {
    this.blocks = new EngineBlocks(budget);
    this.order = new InOrder(clock);
    this.#emptied = emptied;
  }

  take(sequence: number, payload: Uint8Array): void {
    const { blocks } = this;
    const clears = blocks.clears;
    this.count += 1;
    this.last = { sequence, time: Number.NaN };
    const isOver = this.#isOver(() => {
      // What is read in later turns must not be overwritten meanwhile.
      this.last = { sequence, time: blocks.begin(payload.length > SLICE_BYTES ? payload.slice() : payload) };
      return false;
    });
    if (isOver) return;
    this.order.inSlices(() => {
      const isRead = this.#isOver(() => blocks.takeOn(SLICE_BYTES));
      if (isRead && blocks.clears !== clears) this.#emptied();
      return isRead;
    });
  }

  /** What was being read is not read on, and what waits is dropped. Nothing is known any more. */
  startOver(): void {
    this.order.clear();
    this.last = undefined;
    this.blocks.forget(false);
  }

  /** Whether there is nothing more to read; what can't be read may have been about any block: what is known may be wrong by now. */
  #isOver(read: () => boolean): boolean {
    try {
      return read();
    } catch {
      this.malformed += 1;
      this.blocks.forget(false, "unreadable");
      return true;
    }
  }
}
