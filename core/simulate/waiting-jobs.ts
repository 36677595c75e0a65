import { type Job, uncachedTokens } from "./job.ts";
import type { Prompt } from "./trace.ts";

/** The requests that a replica has not admitted yet, oldest first, and what their prompts will leave in its cache. */
export class WaitingJobs {
  readonly all: Job[] = [];
  /** How many of them have each block in their prompt. */
  readonly #blocks = new Map<number, number>();
  #uncachedTokens = 0;

  /** Prompt tokens to be computed, with the hits that were expected when each of them came. */
  get uncachedTokens(): number {
    return this.#uncachedTokens;
  }

  /** Tokens in the leading blocks of this prompt that the prompts of others have too. */
  sharedTokens(prompt: Prompt): number {
    let tokens = 0;
    if (this.#blocks.size === 0) return tokens;
    for (let index = 0; index < prompt.blocks.length && this.#blocks.has(prompt.blocks[index]!); index++) {
      tokens += prompt.tokensIn(index);
    }
    return tokens;
  }

  push(job: Job): void {
    this.all.push(job);
    this.#uncachedTokens += uncachedTokens(job);
    for (const block of job.request.prompt.blocks) this.#blocks.set(block, (this.#blocks.get(block) ?? 0) + 1);
  }

  /** Whether it was there. */
  remove(job: Job): boolean {
    const at = this.all.indexOf(job);
    if (at < 0) return false;
    this.all.splice(at, 1);
    this.#uncachedTokens -= uncachedTokens(job);
    for (const block of job.request.prompt.blocks) {
      const left = this.#blocks.get(block)! - 1;
      if (left === 0) this.#blocks.delete(block);
      else this.#blocks.set(block, left);
    }
    return true;
  }

  clear(): void {
    this.all.length = 0;
    this.#blocks.clear();
    this.#uncachedTokens = 0;
  }
}
