/** Figures cover the last five minutes; the oldest tenth of them is forgotten at once. */
const BUCKETS = 10;
const BUCKET_MS = 30_000;

/** Times are counted in steps of 9 %, from 1 ms to 17 minutes. */
const STEPS_PER_OCTAVE = 8;
const STEPS = 20 * STEPS_PER_OCTAVE;

/** What is counted, by its place in a bucket. */
const COUNT = { requests: 0, clientErrors: 1, clientsLeft: 2, routerErrors: 3, replicaErrors: 4, overloads: 5 } as const;
const SUM = { promptTokens: 0, cachedTokens: 1, outputTokens: 2, streamTokens: 3, streamMs: 4 } as const;
const COUNTS = 6;
const SUMS = 5;

export type CountName = keyof typeof COUNT;
export type SumName = keyof typeof SUM;

/** What happened in the last minutes: plain JSON; null where nothing is known. */
export interface Figures {
  /** So many seconds are covered: at most 300, and less for what is younger. */
  readonly windowS: number;
  readonly requests: number;
  /** Requests that could not succeed (4xx), and those whose client left before the end. */
  readonly clientErrors: number;
  /** Those of them whose client left. */
  readonly clientsLeft: number;
  /** Median and 95th percentile of the time to the first token, in milliseconds, right to 5 %. */
  readonly ttftP50Ms: number | null;
  readonly ttftP95Ms: number | null;
  /** Share of the prompt tokens that the replicas' caches held, as they report it, in [0, 1]. */
  readonly hitRate: number | null;
  /** Generated tokens a second, all requests together. */
  readonly outputTokensPerS: number;
  /** Generated tokens a second in one stream, between its first token and its end, as a mean. */
  readonly streamTokensPerS: number | null;
}

/** Counts, sums and times of the last minutes, in one ring of buckets. Times are on the router's clock. */
export class WindowFigures {
  readonly #counts = new Uint32Array(BUCKETS * COUNTS);
  readonly #sums = new Float64Array(BUCKETS * SUMS);
  readonly #times = new Uint32Array(BUCKETS * STEPS);
  readonly #beganAtMs: number;
  #bucket: number;

  constructor(nowMs: number) {
    this.#beganAtMs = nowMs;
    this.#bucket = Math.floor(nowMs / BUCKET_MS);
  }

  count(name: CountName, nowMs: number): void {
    this.#counts[this.#turn(nowMs) * COUNTS + COUNT[name]]! += 1;
  }

  /** NaN changes nothing. */
  add(name: SumName, value: number, nowMs: number): void {
    if (value >= 0) this.#sums[this.#turn(nowMs) * SUMS + SUM[name]]! += value;
  }

  /** A time to the first token, in milliseconds; NaN changes nothing. */
  time(ms: number, nowMs: number): void {
    if (ms >= 0) this.#times[this.#turn(nowMs) * STEPS + stepOf(ms)]! += 1;
  }

  total(name: CountName, nowMs: number): number {
    this.#turn(nowMs);
    return sumOf(this.#counts, COUNTS, COUNT[name]);
  }

  shown(nowMs: number): Figures {
    this.#turn(nowMs);
    const sum = (name: SumName) => sumOf(this.#sums, SUMS, SUM[name]);
    const windowMs = nowMs - Math.max(this.#beganAtMs, (this.#bucket - BUCKETS + 1) * BUCKET_MS);
    const [ttftP50Ms = null, ttftP95Ms = null] = this.#quantiles([0.5, 0.95]);
    return {
      windowS: Math.round(windowMs / 1000),
      requests: this.total("requests", nowMs),
      clientErrors: this.total("clientErrors", nowMs),
      clientsLeft: this.total("clientsLeft", nowMs),
      ttftP50Ms,
      ttftP95Ms,
      hitRate: ratio(sum("cachedTokens"), sum("promptTokens")),
      outputTokensPerS: ratio(sum("outputTokens") * 1000, Math.max(1000, windowMs)) ?? 0,
      streamTokensPerS: ratio(sum("streamTokens") * 1000, sum("streamMs")),
    };
  }

  /** Empty when no time was counted. */
  #quantiles(shares: readonly number[]): readonly number[] {
    const counts = Array.from({ length: STEPS }, (_, step) => sumOf(this.#times, STEPS, step));
    const total = counts.reduce((sum, count) => sum + count, 0);
    if (total === 0) return [];
    return shares.map((share) => {
      let left = Math.ceil(share * total);
      const step = counts.findIndex((count) => {
        left -= count;
        return left <= 0;
      });
      return middleOf(step);
    });
  }

  /** Forgets the buckets that time has passed over; the index of the present one. */
  #turn(nowMs: number): number {
    const bucket = Math.floor(nowMs / BUCKET_MS);
    for (let passed = Math.max(this.#bucket + 1, bucket - BUCKETS + 1); passed <= bucket; passed++) {
      const index = passed % BUCKETS;
      this.#counts.fill(0, index * COUNTS, (index + 1) * COUNTS);
      this.#sums.fill(0, index * SUMS, (index + 1) * SUMS);
      this.#times.fill(0, index * STEPS, (index + 1) * STEPS);
    }
    this.#bucket = Math.max(this.#bucket, bucket);
    return this.#bucket % BUCKETS;
  }
}

function sumOf(numbers: Uint32Array | Float64Array, width: number, place: number): number {
  let sum = 0;
  for (let at = place; at < numbers.length; at += width) sum += numbers[at]!;
  return sum;
}

const ratio = (part: number, whole: number) => (whole > 0 ? part / whole : null);

function stepOf(ms: number): number {
  return Math.min(STEPS - 1, Math.floor(Math.log2(Math.max(1, ms)) * STEPS_PER_OCTAVE));
}

/** In milliseconds, to a tenth. */
function middleOf(step: number): number {
  return Math.round(2 ** ((step + 0.5) / STEPS_PER_OCTAVE) * 10) / 10;
}
