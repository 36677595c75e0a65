import type { Admission, Demand, Room, Waiting } from "../../core/contract/admission.ts";
import { z } from "../../core/contract/options.ts";
import { defineAdmission } from "../../core/contract/plugin.ts";
import { Band, FAIRNESS, ORDERS } from "./band.ts";
import { ceiling, makeCeiling } from "./ceiling.ts";

const options = z.strictObject({
  /** Between tenants and models of one priority: equal shares of tokens, of requests, or none, so that who came first goes first. */
  fairness: z.enum(FAIRNESS).default("tokens"),
  /** Inside a share: who came first, or whose first token is due first (header x-llm-d-slo-ttft-ms). */
  order: z.enum(ORDERS).default("arrival"),
  /** Who has waited so long gets some turns whatever the priority. */
  agingMs: z.int().min(1).max(86_400_000).default(10_000),
  /** Up to which saturation of the pool each priority may go on: lower ones leave room for higher ones that are to come. */
  ceiling: ceiling.default({ domain: "rank", minCeiling: 0.9, maxCeiling: 1 }),
});

/** One turn in so many is for those that have waited too long. */
const AGED_TURN = 16;

export default defineAdmission({
  type: "fair-queue",
  summary: "Higher priorities first; inside a priority, equal shares of tokens for tenants and models.",
  options,
  create: ({ fairness, order, agingMs, ceiling: chosen }) => {
    const queue = new FairQueue((priority) => new Band(priority, fairness, order), agingMs);
    return chosen === 1 ? queue : Object.assign(queue, { ceiling: makeCeiling(chosen) });
  },
});

/** Bands of requests of one priority each. */
class FairQueue implements Admission {
  readonly #makeBand: (priority: number) => Band;
  readonly #agingMs: number;
  /** Highest first; none is empty. */
  #bands: readonly Band[] = [];
  #turn = 0;

  constructor(makeBand: (priority: number) => Band, agingMs: number) {
    this.#makeBand = makeBand;
    this.#agingMs = agingMs;
  }

  join(request: Waiting): void {
    this.#bandOf(request.priority).join(request);
  }

  leave(request: Waiting): void {
    const band = this.#bands.find(({ priority }) => priority === request.priority);
    if (band === undefined) return;
    band.leave(request);
    this.#drop(band);
  }

  take(room: Room): Waiting | undefined {
    const aged = (this.#turn + 1) % AGED_TURN === 0 ? this.#agedOf(room) : undefined;
    for (const band of aged === undefined ? this.#bands : [aged]) {
      const taken = band.take(room);
      if (taken === undefined) continue;
      this.#turn += 1;
      this.#drop(band);
      return taken;
    }
    return undefined;
  }

  least(newcomer: Waiting): Waiting {
    const lowest = this.#bands.at(-1);
    if (lowest === undefined || lowest.priority > newcomer.priority) return newcomer;
    return lowest.least(newcomer);
  }

  spent(request: Demand, tokens: number): void {
    this.#bands.find(({ priority }) => priority === request.priority)?.spent(request, tokens);
  }

  /** The lowest band below the first with somebody who has waited too long and may go. */
  #agedOf(room: Room): Band | undefined {
    for (let at = this.#bands.length - 1; at > 0; at--) {
      if (this.#bands[at]!.hasWaitedSince(room.nowMs - this.#agingMs, room)) return this.#bands[at];
    }
    return undefined;
  }

  #bandOf(priority: number): Band {
    const known = this.#bands.find((band) => band.priority === priority);
    if (known !== undefined) return known;
    const band = this.#makeBand(priority);
    this.#bands = [...this.#bands, band].sort((one, other) => other.priority - one.priority);
    return band;
  }

  #drop(band: Band): void {
    if (band.size === 0) this.#bands = this.#bands.filter((each) => each !== band);
  }
}
