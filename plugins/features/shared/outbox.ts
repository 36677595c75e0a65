import { PromptPrefix } from "../../../core/state/prefix-index.ts";
import { chainText } from "./chain-text.ts";
import type { Fact } from "./message.ts";

/** Of one message; a chain is up to 7 KB, another fact some 60 bytes, so it stays below the longest. */
const MOST_FACTS = 4_000;
const MOST_CHAINS = 60;

/** What is said with the next message. */
export class Outbox {
  #facts: unknown[][] = [];
  #chains = 0;
  readonly #replicas = new Map<string, number>();
  /** Facts that did not fit; the next summary says what matters of them. */
  dropped = 0;

  /** Whether the message is better sent now. */
  get isFull(): boolean {
    return this.#chains >= MOST_CHAINS / 2 || this.#facts.length >= MOST_FACTS / 2;
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
    if (this.#chains >= MOST_CHAINS) {
      this.dropped += 1;
      return;
    }
    this.#chains += 1;
    this.add(name, id, replica, prefix);
  }

  /** Empties it. */
  take(): { readonly facts: readonly Fact[]; readonly replicas: readonly string[] } {
    const facts = this.#facts.map((fact) => fact.map((field) => (field instanceof PromptPrefix ? chainText(field) : field)));
    const replicas = [...this.#replicas.keys()];
    this.clear();
    return { facts: facts as unknown as readonly Fact[], replicas };
  }

  clear(): void {
    this.#facts = [];
    this.#chains = 0;
    this.#replicas.clear();
  }
}
