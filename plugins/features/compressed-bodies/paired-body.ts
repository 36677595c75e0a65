import { MemoryBudget, type Upload } from "../../../core/body/memory-budget.ts";
import { BodyBuffer, type BodyHold, type BodyOwner } from "../../../core/body/receive.ts";
import type { Clock } from "../../../core/contract/clock.ts";

/** A request's plain body, and beside it the same body as it came, for as long as the plain one is kept. Both count as memory of bodies. */
export class PairedBody extends BodyBuffer {
  readonly original: BodyBuffer;

  /** Each may have `maxBytes`. */
  constructor(maxBytes: number, memory: MemoryBudget, clock: Clock, owner: BodyOwner) {
    super(-1, maxBytes, memory, owner);
    this.original = new BodyBuffer(-1, maxBytes, new SharedMemory(memory, clock, this), owner);
  }

  override hold(): BodyHold {
    const plain = super.hold();
    const original = this.original.hold();
    return {
      giveBack(isFree) {
        plain.giveBack(isFree);
        original.giveBack(isFree);
      },
    };
  }

  override release(): void {
    super.release();
    this.original.release();
  }

  override abandon(): void {
    super.abandon();
    this.original.abandon();
  }
}

/**
 * The memory of all bodies, for the second copy of a body: it counts there as the same upload. Were it one of its own, either could be cut
 * to make room for the other.
 */
class SharedMemory extends MemoryBudget {
  readonly #memory: MemoryBudget;
  readonly #upload: Upload;

  constructor(memory: MemoryBudget, clock: Clock, upload: Upload) {
    super(memory.limitBytes, clock);
    this.#memory = memory;
    this.#upload = upload;
  }

  override announced(bytes: number): void {
    this.#memory.announced(bytes);
  }

  override take(_copy: Upload, bytes: number): void {
    this.#memory.take(this.#upload, bytes);
  }

  override give(bytes: number): void {
    this.#memory.give(bytes);
  }

  override arriving(): void {
    this.#memory.arriving(this.#upload);
  }

  override arrived(): void {
    this.#memory.arrived(this.#upload);
  }
}
