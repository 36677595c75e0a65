import { PromptPrefix } from "../../../core/state/prefix-index.ts";
import { chainText } from "./chain-text.ts";
import type { Fact } from "./message.ts";

/** Of one message; a block of a prompt is 14 characters, another fact some 60, so it stays below the longest. */
const MOST_FACTS = 4_000;
const MOST_BLOCKS = 40_000;

/** What is said with the next message. */
export class Outbox {
  #facts: unknown[][] = [];
  /** The facts among them that end with a prompt. */
  #prompts: unknown[][] = [];
  #blocks = 0;
  readonly #replicas = new Map<string, number>();
  /** Facts that did not fit; the next summary says what matters of them. */
  dropped = 0;

  /** Whether the message is better sent now. */
  get isFull(): boolean {
    return this.#blocks >= MOST_BLOCKS / 2 || this.#facts.length >= MOST_FACTS / 2;
  }

  /** The place of a replica's address in the message. */
  replica(url: string): number {
    const known = this.#replicas.get(url);
    if (known !== undefined) return known;
    const place = this.#replicas.size;
    this.#replicas.set(url, place);
    return place;
  }

  add(...fact: [name: string, ...fields: unknown[]]): void {
    if (this.#facts.length < MOST_FACTS) this.#facts.push(fact);
    else this.dropped += 1;
  }

  /** A prompt, which is written out only when the message is: behind requests. */
  addPrompt(name: string, id: number, replica: number, prefix: unknown): void {
    if (!(prefix instanceof PromptPrefix) || prefix.blocks === 0) return;
    if (this.#blocks >= MOST_BLOCKS || this.#facts.length >= MOST_FACTS) {
      this.dropped += 1;
      return;
    }
    const fact = [name, id, replica, prefix];
    this.#facts.push(fact);
    this.#prompts.push(fact);
    this.#blocks += prefix.blocks;
  }

  /** Empties it. */
  take(): { readonly facts: readonly Fact[]; readonly replicas: readonly string[] } {
    for (const fact of this.#prompts) fact.push(chainText(fact.pop() as PromptPrefix));
    const facts = this.#facts;
    const replicas = [...this.#replicas.keys()];
    this.clear();
    return { facts: facts as unknown as readonly Fact[], replicas };
  }

  clear(): void {
    this.#facts = [];
    this.#prompts = [];
    this.#blocks = 0;
    this.#replicas.clear();
  }
}
