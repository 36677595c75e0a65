import { z } from "../../../core/contract/options.ts";
import { AT, type Counter, measuresOf, WIDTH } from "./counts.ts";

/** Each span has as many steps; a longer one has longer steps. */
const STEPS = 120;
const STEPS_MS = { "10m": 5_000, "2h": 60_000, "24h": 720_000 } as const;

type Span = keyof typeof STEPS_MS;

export const SPANS = Object.keys(STEPS_MS) as readonly Span[];

export const isSpan = (text: string): text is Span => Object.hasOwn(STEPS_MS, text);

const rates = z.array(z.number());
const measures = z.array(z.number().nullable());

export const trafficHistory = z
  .object({
    stepS: z.number(),
    requestsPerS: rates.describe("Requests a second that ended."),
    errorsPerS: rates.describe("Those of them that failed through the router or a replica."),
    clientErrorsPerS: rates.describe("Those of them that failed through their client."),
    ttftP50Ms: measures.describe("Median time to the first token, right to 5 %; null where no stream was served."),
    ttftP95Ms: measures,
    hitRate: measures.describe(
      "Share of the prompt tokens that the replicas' caches held, as they report it; null where none did.",
    ),
    leastServing: rates.describe("The smallest number of replicas that served at one moment of the step."),
  })
  .describe(
    `Arrays begin with the oldest step that the router has seen; at most ${STEPS}. The present step is left out: it is not over.`,
  );

/** Plain JSON. */
export type TrafficHistory = z.infer<typeof trafficHistory>;

/** What the pool's requests met in the last day, in three spans. Its memory is bounded, some 24 KB, whatever the load. */
export class TrafficHistories implements Counter {
  readonly #series: readonly Series[];

  constructor(nowMs: number) {
    this.#series = SPANS.map((span) => new Series(STEPS_MS[span], nowMs));
  }

  add(place: number, amount: number, nowMs: number): void {
    if (amount >= 0) for (const series of this.#series) series.add(place, amount, nowMs);
  }

  /** So many replicas serve from now on. */
  serving(count: number, nowMs: number): void {
    for (const series of this.#series) series.serving(count, nowMs);
  }

  shown(span: Span, nowMs: number): TrafficHistory {
    return this.#series[SPANS.indexOf(span)]!.shown(nowMs);
  }
}

/** What is kept of a step that is over, by its place; NaN for what is not known. */
const KEPT = {
  requestsPerS: 0,
  errorsPerS: 1,
  clientErrorsPerS: 2,
  ttftP50Ms: 3,
  ttftP95Ms: 4,
  hitRate: 5,
  leastServing: 6,
} as const;
const KEPT_WIDTH = 7;

/** Counts the present step, and keeps a few numbers of each of the last ones. */
class Series {
  readonly #stepMs: number;
  readonly #steps = new Float64Array(STEPS * KEPT_WIDTH);
  readonly #counts = new Float64Array(WIDTH);
  /** Steps that are over. */
  #over = 0;
  #beganAtMs = 0;
  #endsAtMs = 0;
  #serving = 0;
  #leastServing = 0;

  constructor(stepMs: number, nowMs: number) {
    this.#stepMs = stepMs;
    this.#begin(nowMs);
  }

  add(place: number, amount: number, nowMs: number): void {
    this.#advance(nowMs);
    this.#counts[place]! += amount;
  }

  serving(count: number, nowMs: number): void {
    this.#advance(nowMs);
    this.#serving = count;
    this.#leastServing = Math.min(this.#leastServing, count);
  }

  shown(nowMs: number): TrafficHistory {
    this.#advance(nowMs);
    const length = Math.min(STEPS, this.#over);
    const kept = (place: number) =>
      Array.from({ length }, (_, index) => this.#steps[((this.#over - length + index) % STEPS) * KEPT_WIDTH + place]!);
    const measured = (place: number) => kept(place).map((value) => (Number.isNaN(value) ? null : value));
    return {
      stepS: this.#stepMs / 1000,
      requestsPerS: kept(KEPT.requestsPerS),
      errorsPerS: kept(KEPT.errorsPerS),
      clientErrorsPerS: kept(KEPT.clientErrorsPerS),
      ttftP50Ms: measured(KEPT.ttftP50Ms),
      ttftP95Ms: measured(KEPT.ttftP95Ms),
      hitRate: measured(KEPT.hitRate),
      leastServing: kept(KEPT.leastServing),
    };
  }

  #advance(nowMs: number): void {
    // Almost every call ends here.
    if (nowMs < this.#endsAtMs) return;
    this.#endStep();
    // After a long silence, only those steps are made that are kept.
    const oldestMs = (Math.floor(nowMs / this.#stepMs) - STEPS) * this.#stepMs;
    if (this.#beganAtMs < oldestMs) this.#begin(oldestMs);
    while (nowMs >= this.#endsAtMs) this.#endStep();
  }

  #begin(atMs: number): void {
    this.#beganAtMs = atMs;
    this.#endsAtMs = (Math.floor(atMs / this.#stepMs) + 1) * this.#stepMs;
    this.#leastServing = this.#serving;
  }

  #endStep(): void {
    const { ttftP50Ms, ttftP95Ms, hitRate } = measuresOf(this.#counts);
    // The first step of all may have begun in the middle, or right before its end.
    const seconds = Math.max(1, (this.#endsAtMs - this.#beganAtMs) / 1000);
    const at = (this.#over % STEPS) * KEPT_WIDTH;
    this.#steps[at + KEPT.requestsPerS] = this.#counts[AT.requests]! / seconds;
    this.#steps[at + KEPT.errorsPerS] = (this.#counts[AT.routerErrors]! + this.#counts[AT.replicaErrors]!) / seconds;
    this.#steps[at + KEPT.clientErrorsPerS] = this.#counts[AT.clientErrors]! / seconds;
    this.#steps[at + KEPT.ttftP50Ms] = ttftP50Ms ?? Number.NaN;
    this.#steps[at + KEPT.ttftP95Ms] = ttftP95Ms ?? Number.NaN;
    this.#steps[at + KEPT.hitRate] = hitRate ?? Number.NaN;
    this.#steps[at + KEPT.leastServing] = this.#leastServing;
    this.#over += 1;
    this.#counts.fill(0);
    this.#begin(this.#endsAtMs);
  }
}
