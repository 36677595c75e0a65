import type { MemoryBudget } from "../../../../core/body/memory-budget.ts";
import { BodyBuffer, type BodyOwner } from "../../../../core/body/receive.ts";

/**
 * What a client sends behind a message that is under way. It is read all the while, because nobody notices that a client leaves who is not
 * read; so it counts in the memory for bodies, and is no more than one message may be.
 */
export class AheadBytes {
  readonly #mostBytes: number;
  readonly #memory: MemoryBudget;
  readonly #owner: BodyOwner;
  #buffer: BodyBuffer | undefined;
  /** Where the rest begins that nobody has taken. */
  #at = 0;

  constructor(mostBytes: number, memory: MemoryBudget, owner: BodyOwner) {
    this.#mostBytes = mostBytes;
    this.#memory = memory;
    this.#owner = owner;
  }

  get isEmpty(): boolean {
    return this.#buffer === undefined;
  }

  /** Throws RouterError where there is no room. */
  add(chunk: Uint8Array, start: number, end: number): void {
    this.#buffer ??= new BodyBuffer(-1, this.#mostBytes, this.#memory, this.#owner);
    this.#buffer.append(chunk, start, end);
  }

  /** Hands over what is here; `read` returns how far it came. */
  handTo(read: (bytes: Uint8Array, start: number, end: number) => number): void {
    const buffer = this.#buffer;
    if (buffer === undefined) return;
    this.#at = read(buffer.storage, this.#at, buffer.length);
    if (this.#buffer === buffer && this.#at === buffer.length) this.clear();
  }

  clear(): void {
    this.#buffer?.release();
    this.#buffer = undefined;
    this.#at = 0;
  }
}
