/** Pauses from a tenth of a second to a day; a bucket is a fifth longer than the one before. */
const FIRST_MS = 100;
const GROWTH = 1.2;
const BUCKETS = 75;
/** The table is made anew when so much of what it was made of has changed. */
const CHANGED_SHARE = 1 / 16;

const EDGES_MS = Float64Array.from({ length: BUCKETS + 1 }, (_, edge) => (edge === 0 ? 0 : FIRST_MS * GROWTH ** (edge - 1)));

/**
 * How soon sessions come back: the pauses between a turn's end and the next one's beginning, and those that nobody has ended yet. For a
 * pause that has lasted for some time it tells the best rate at which a session's cached prompt is used again, per millisecond: the
 * chance of a return within some further time, divided by the time that the prompt is kept for it, for the further time that makes this
 * largest. What is kept longer than that is worth less.
 */
export class Pauses {
  /** Pauses that ended with a turn, by length, and those that ended otherwise: nobody knows how long they would have been. */
  readonly #returned = new Float64Array(BUCKETS);
  readonly #lost = new Float64Array(BUCKETS);
  readonly #rates = new Float64Array(BUCKETS);
  #count = 0;
  #countAtTable = Number.NEGATIVE_INFINITY;

  constructor() {
    // One pause in all that is as likely in each bucket: it counts while nothing is known, and where nothing ever comes back.
    this.#returned.fill(1 / BUCKETS);
  }

  returned(pauseMs: number): void {
    this.#returned[bucketOf(pauseMs)]! += 1;
    this.#count += 1;
  }

  /** The session's place went to another one, or the session is forgotten, after a pause of this length. */
  lost(pauseMs: number): void {
    this.#lost[bucketOf(pauseMs)]! += 1;
    this.#count += 1;
  }

  /** The best rate of return of a session that has paused for so long, per millisecond. */
  rate(pausedMs: number): number {
    if (this.#count - this.#countAtTable > this.#count * CHANGED_SHARE) this.#fill();
    return this.#rates[bucketOf(pausedMs)]!;
  }

  #fill(): void {
    this.#countAtTable = this.#count;
    const hazards = this.#hazards();
    for (let from = 0; from < BUCKETS; from++) this.#rates[from] = bestRate(hazards, from);
  }

  /** By bucket: the share of the pauses that reach it which end in it with a turn. */
  #hazards(): Float64Array {
    const hazards = new Float64Array(BUCKETS);
    let reached = 0;
    for (let bucket = BUCKETS - 1; bucket >= 0; bucket--) {
      reached += this.#returned[bucket]! + this.#lost[bucket]!;
      // Of those that were lost in it, half were there for the most part of it.
      hazards[bucket] = this.#returned[bucket]! / (reached - this.#lost[bucket]! / 2);
    }
    return hazards;
  }
}

function bestRate(hazards: Float64Array, from: number): number {
  let best = 0;
  let left = 1;
  let returned = 0;
  let keptMs = 0;
  for (let bucket = from; bucket < BUCKETS; bucket++) {
    const widthMs = EDGES_MS[bucket + 1]! - EDGES_MS[bucket]!;
    const back = left * hazards[bucket]!;
    returned += back;
    // Those that come back do so in the middle of the bucket.
    keptMs += (left - back / 2) * widthMs;
    left -= back;
    best = Math.max(best, returned / keptMs);
  }
  return best;
}

function bucketOf(ms: number): number {
  if (!(ms > FIRST_MS)) return 0;
  return Math.min(BUCKETS - 1, 1 + Math.floor(Math.log(ms / FIRST_MS) / Math.log(GROWTH)));
}
