import type { Prompt } from "./trace.ts";

/** The prompts that a replica has not admitted yet, by what they will leave in its cache. */
export class WaitingPrompts {
  /** How many of them have each block. */
  readonly #counts = new Map<number, number>();

  /** Tokens in the leading blocks of this prompt that others have too. */
  sharedTokens(prompt: Prompt): number {
    let tokens = 0;
    if (this.#counts.size === 0) return tokens;
    for (let index = 0; index < prompt.blocks.length && this.#counts.has(prompt.blocks[index]!); index++) {
      tokens += prompt.tokensIn(index);
    }
    return tokens;
  }

  add(prompt: Prompt): void {
    for (const block of prompt.blocks) this.#counts.set(block, (this.#counts.get(block) ?? 0) + 1);
  }

  remove(prompt: Prompt): void {
    for (const block of prompt.blocks) {
      const left = this.#counts.get(block)! - 1;
      if (left === 0) this.#counts.delete(block);
      else this.#counts.set(block, left);
    }
  }

  clear(): void {
    this.#counts.clear();
  }
}
