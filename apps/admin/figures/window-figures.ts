import { z } from "../../../core/contract/options.ts";
import { SlidingWindow } from "../../../core/state/sliding-window.ts";
import { AT, type Counter, measuresOf, ratio, WIDTH } from "./counts.ts";

/** Figures cover the last five minutes; the oldest tenth of them is forgotten at once. */
const BUCKETS = 10;
const BUCKET_MS = 30_000;

/** The buckets that reach back a minute at least. */
const LATELY = 3;

const measured = z.number().nullable();

/** What happened in the last minutes; null where nothing is known. */
export const figures = z.object({
  windowS: z.number().describe("So many seconds are covered: at most 300, and less for what is younger."),
  requests: z.number().describe("Requests whose last try was here."),
  clientErrors: z.number().describe("Those that could not succeed (4xx), and those whose client left before the end."),
  clientsLeft: z.number().describe("Those whose client left before the end."),
  ttftP50Ms: measured.describe("Median time to the first token, right to 5 %."),
  ttftP95Ms: measured,
  hitRate: measured.describe("Share of the prompt tokens that the replica's cache held, as it reports it, in [0, 1]."),
  outputTokensPerS: measured.describe("Generated tokens a second, all requests together; null if no response told any."),
  streamTokensPerS: measured.describe("Generated tokens a second in one stream, as a mean."),
});

export type Figures = z.infer<typeof figures>;

/** Counts, sums and times of the last minutes. Times are on the router's clock. */
export class WindowFigures implements Counter {
  readonly #window = new SlidingWindow(BUCKET_MS, BUCKETS, WIDTH);
  readonly #beganAtMs: number;

  constructor(nowMs: number) {
    this.#beganAtMs = nowMs;
  }

  add(place: number, amount: number, nowMs: number): void {
    if (amount >= 0) this.#window.add(place, amount, nowMs);
  }

  total(place: number, nowMs: number): number {
    return this.#window.sum(place, nowMs);
  }

  /** In the last minute, or a little longer. */
  lately(place: number, nowMs: number): number {
    let sum = this.#window.numbers[this.#window.at(nowMs) + place]!;
    for (let ago = 1; ago < LATELY; ago++) sum += this.#window.numbers[this.#window.before(ago) + place]!;
    return sum;
  }

  shown(nowMs: number): Figures {
    const sums = this.#window.sums(nowMs);
    const oldestMs = (Math.floor(nowMs / BUCKET_MS) - BUCKETS + 1) * BUCKET_MS;
    const windowMs = nowMs - Math.max(this.#beganAtMs, oldestMs);
    return {
      windowS: Math.round(windowMs / 1000),
      requests: sums[AT.requests]!,
      clientErrors: sums[AT.clientErrors]!,
      clientsLeft: sums[AT.clientsLeft]!,
      ...measuresOf(sums),
      outputTokensPerS:
        sums[AT.requests]! > 0 && sums[AT.outputTokens] === 0 ? null : (sums[AT.outputTokens]! * 1000) / Math.max(1000, windowMs),
      streamTokensPerS: ratio(sums[AT.streamTokens]! * 1000, sums[AT.streamMs]!),
    };
  }
}
