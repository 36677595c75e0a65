import type { SharedFact, SharedFacts } from "../../../core/contract/slots/shared.ts";
import type { NamedFeature } from "../../../core/slots.ts";
import type { Outbox } from "./outbox.ts";

/** A fact that names its feature, and has the feature's own fields behind it. */
export const OF_FEATURE = "of";
/** Of all features in one message; what does not fit waits for the next one. */
const MOST_CHARS = 200_000;
/** A longer fact is not sent. */
const MOST_FACT_CHARS = 4_000;
/** Nor one with more fields: a message with 16 in one fact is not read. */
const MOST_FIELDS = 13;

/** What the other features have to tell, and who of them takes what other routers tell. */
export class FeatureFacts {
  #all: ReadonlyMap<string, SharedFacts> = new Map();
  /** Facts that were too long. */
  dropped = 0;

  /** Follows the features of a config; `soon` is called when one of them has something to say. None: nobody listens any more. */
  follow(features: readonly NamedFeature[], soon: () => void): void {
    const before = [...this.#all.values()];
    this.#all = new Map(features.flatMap(({ name, plugin: { shared } }) => (shared === undefined ? [] : [[name, shared]])));
    const now = new Set(this.#all.values());
    for (const facts of before) if (!now.has(facts)) facts.listen(undefined);
    for (const facts of now) if (!before.includes(facts)) facts.listen(soon);
  }

  /** Puts into the outbox what is to be said. Returns whether something is left for the next message. */
  say(outbox: Outbox): boolean {
    let isLeft = false;
    for (const [name, facts] of this.#all) {
      let left = MOST_CHARS / this.#all.size;
      for (const fact of facts.say()) {
        const chars = JSON.stringify(fact).length;
        if (chars > MOST_FACT_CHARS || fact.length > MOST_FIELDS) this.dropped += 1;
        else outbox.add(OF_FEATURE, name, ...fact);
        left -= chars;
        if (left > 0) continue;
        isLeft = true;
        break;
      }
    }
    return isLeft;
  }

  repeat(ms: number): void {
    for (const facts of this.#all.values()) facts.repeat(ms);
  }

  /** False where no feature here has this name. Throws BadFact for what can't be read. */
  hear(name: unknown, fact: SharedFact, router: string, isOwn: boolean): boolean {
    const facts = this.#all.get(String(name));
    facts?.hear(fact, { router, isOwn });
    return facts !== undefined;
  }

  gone(router: string): void {
    for (const facts of this.#all.values()) facts.gone(router);
  }
}
