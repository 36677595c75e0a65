import type { EngineTimes } from "../engine/engine-times.ts";
import type { EventQueue } from "./events.ts";
import type { Job, Offer, OfferSource } from "./job.ts";

/** Longer than a request waits for its turn: vLLM renews its lease of 30 s while the answer's engine waits for the blocks. */
const KEPT_MS = 480_000;
/** How long vLLM takes to find that nobody has what a request names. */
export const LOST_MS = 5_000;

/** How the cache of prompts moves between modelled replicas: each has one link, which carries one prompt at a time. */
export class Transfers {
  readonly #clock: EventQueue;
  readonly #times: Pick<EngineTimes, "transferMs" | "transferTokensPerS">;
  readonly #offers = new Map<string, Offer>();
  /** Until when each replica's link is busy. */
  readonly #busyUntilMs = new WeakMap<OfferSource, number>();
  #count = 0;

  constructor(clock: EventQueue, times: Pick<EngineTimes, "transferMs" | "transferTokensPerS">) {
    this.#clock = clock;
    this.#times = times;
  }

  /** The prompt of a finished request may be fetched. Returns the name by which its response tells that. */
  offer(source: OfferSource, job: Job): string {
    this.#count += 1;
    const name = `transfer-${this.#count}`;
    this.#offers.set(name, { source, job });
    this.#clock.after(KEPT_MS, () => {
      this.#offers.delete(name);
      source.release(job);
    });
    return name;
  }

  /** Whoever takes an offer releases it. Undefined where nobody has it any more. */
  take(name: string): Offer | undefined {
    const offer = this.#offers.get(name);
    this.#offers.delete(name);
    return offer?.source.keeps(offer.job) ? offer : undefined;
  }

  /** Moves so many tokens, at least one, then calls `ended`: `isWhole` is false where the source has lost them meanwhile. */
  fetch({ source, job }: Offer, to: OfferSource, tokens: number, ended: (isWhole: boolean) => void): void {
    const { transferMs, transferTokensPerS } = this.#times;
    const startMs = Math.max(this.#clock.now(), this.#busyUntil(source), this.#busyUntil(to));
    const endMs = startMs + (1000 * tokens) / transferTokensPerS;
    for (const replica of [source, to]) this.#busyUntilMs.set(replica, endMs);
    this.#clock.at(endMs + transferMs, () => ended(source.keeps(job)));
  }

  #busyUntil(replica: OfferSource): number {
    return this.#busyUntilMs.get(replica) ?? 0;
  }
}
