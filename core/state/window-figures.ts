import { Bounds } from "../contract/histogram.ts";
import { z } from "../contract/options.ts";
import { SlidingWindow } from "./sliding-window.ts";

/** Figures cover the last five minutes; the oldest tenth of them is forgotten at once. */
const BUCKETS = 10;
const BUCKET_MS = 30_000;

/** Times are counted in steps of 9 %, from 1 ms to 17 minutes. */
const TIMES = Bounds.growing(1, 2 ** 20, 2 ** (1 / 8));

/** What is counted and summed, by its place in a bucket; times come after these. */
export const AT = {
  ...{ requests: 0, clientErrors: 1, clientsLeft: 2, routerErrors: 3, replicaErrors: 4, overloads: 5 },
  ...{ promptTokens: 6, cachedTokens: 7, outputTokens: 8, streamTokens: 9, streamMs: 10 },
} as const;
const FIRST_TIME = 11;
const WIDTH = FIRST_TIME + TIMES.ends.length + 1;

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
  outputTokensPerS: z.number().describe("Generated tokens a second, all requests together."),
  streamTokensPerS: measured.describe("Generated tokens a second in one stream, as a mean."),
});

export type Figures = z.infer<typeof figures>;

/** Counts, sums and times of the last minutes. Times are on the router's clock. */
export class WindowFigures {
  readonly #window = new SlidingWindow(BUCKET_MS, BUCKETS, WIDTH);
  readonly #beganAtMs: number;

  constructor(nowMs: number) {
    this.#beganAtMs = nowMs;
  }

  /** Adds to the number at a place of `AT`; NaN and what is below 0 change nothing. */
  add(place: number, amount: number, nowMs: number): void {
    if (amount >= 0) this.#window.add(place, amount, nowMs);
  }

  /** A time to the first token, in milliseconds; NaN and what is below 0 change nothing. */
  time(ms: number, nowMs: number): void {
    if (ms >= 0) this.#window.add(FIRST_TIME + TIMES.bucketOf(ms), 1, nowMs);
  }

  total(place: number, nowMs: number): number {
    return this.#window.sum(place, nowMs);
  }

  shown(nowMs: number): Figures {
    const sums = this.#window.sums(nowMs);
    const oldestMs = (Math.floor(nowMs / BUCKET_MS) - BUCKETS + 1) * BUCKET_MS;
    const windowMs = nowMs - Math.max(this.#beganAtMs, oldestMs);
    const [ttftP50Ms = null, ttftP95Ms = null] = quantiles(sums.subarray(FIRST_TIME), [0.5, 0.95]);
    return {
      windowS: Math.round(windowMs / 1000),
      requests: sums[AT.requests]!,
      clientErrors: sums[AT.clientErrors]!,
      clientsLeft: sums[AT.clientsLeft]!,
      ttftP50Ms,
      ttftP95Ms,
      hitRate: ratio(sums[AT.cachedTokens]!, sums[AT.promptTokens]!),
      outputTokensPerS: ratio(sums[AT.outputTokens]! * 1000, Math.max(1000, windowMs)) ?? 0,
      streamTokensPerS: ratio(sums[AT.streamTokens]! * 1000, sums[AT.streamMs]!),
    };
  }
}

const ratio = (part: number, whole: number) => (whole > 0 ? part / whole : null);

/** In milliseconds, to a tenth; empty when no time was counted. */
function quantiles(times: Float64Array, shares: readonly number[]): readonly number[] {
  let count = 0;
  for (const one of times) count += one;
  if (count === 0) return [];
  return shares.map((share) => Math.round(TIMES.valueAtRank(times, Math.ceil(share * count)) * 10) / 10);
}
