/** Pauses from a tenth of a second to a day; a bucket is a fifth longer than the one before. */
const FIRST_MS = 100;
const GROWTH = 1.2;
const BUCKETS = 75;
/** The table is made anew when so much of what it was made of has changed. */
const CHANGED_SHARE = 1 / 16;

/** One pause in all that is as likely in each bucket: it counts while nothing is known, and where nothing ever comes back. */
const EQUAL = new Float64Array(BUCKETS).fill(1 / BUCKETS);
const EDGES_MS = Float64Array.from({ length: BUCKETS + 1 }, (_, edge) => (edge === 0 ? 0 : FIRST_MS * GROWTH ** (edge - 1)));

/**
 * How soon sessions come back: the pauses between a turn's end and the next one's beginning, and those that nobody has ended yet. For a
 * pause that has lasted for some time it tells what keeping a session's prompt saves, in prompts of that size per millisecond: the chance
 * of a return within some further time, divided by the time that the prompt is kept for it, for the further time that makes this largest.
 * What is kept longer than that is worth less. One that comes back to no place displaces another one, which loses as much: so that
 * chance counts once more.
 */
export class Pauses {
  /** Pauses that ended with a turn, by length, and those that ended otherwise: nobody knows how long they would have been. */
  readonly #returned = new Float64Array(BUCKETS);
  readonly #lost = new Float64Array(BUCKETS);
  readonly #rates = new Float64Array(BUCKETS);
  readonly #wider: Pauses | undefined;
  #count = 0;
  #countAtTable = Number.NEGATIVE_INFINITY;

  /** `wider`: those of which these are some. One pause as they have them counts as seen here. */
  constructor(wider?: Pauses) {
    this.#wider = wider;
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

  /** What keeping the prompt of a session saves that has paused for so long, in prompts per millisecond. */
  rate(pausedMs: number): number {
    const count = this.#count + (this.#wider === undefined ? 0 : this.#wider.#count);
    if (count - this.#countAtTable > count * CHANGED_SHARE) this.#fill(count);
    return this.#rates[bucketOf(pausedMs)]!;
  }

  #fill(count: number): void {
    this.#countAtTable = count;
    const hazards = this.#hazards();
    for (let from = 0; from < BUCKETS; from++) this.#rates[from] = savedBy(hazards, from);
  }

  /** By bucket: the share of the pauses that reach it which end in it with a turn. */
  #hazards(): Float64Array {
    const hazards = new Float64Array(BUCKETS);
    const first = this.#wider === undefined ? EQUAL : this.#wider.#lengths();
    let reached = 0;
    for (let bucket = BUCKETS - 1; bucket >= 0; bucket--) {
      const returned = this.#returned[bucket]! + first[bucket]!;
      reached += returned + this.#lost[bucket]!;
      // Of those that were lost in it, half were there for the most part of it.
      hazards[bucket] = returned / (reached - this.#lost[bucket]! / 2);
    }
    return hazards;
  }

  /** By bucket: the share of all pauses that end in it. */
  #lengths(): Float64Array {
    let left = 1;
    return this.#hazards().map((hazard) => {
      const back = left * hazard;
      left -= back;
      return back;
    });
  }
}

function savedBy(hazards: Float64Array, from: number): number {
  let bestRate = 0;
  let saved = 0;
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
    if (returned / keptMs <= bestRate) continue;
    bestRate = returned / keptMs;
    saved = bestRate * (1 + returned);
  }
  return saved;
}

function bucketOf(ms: number): number {
  if (!(ms > FIRST_MS)) return 0;
  return Math.min(BUCKETS - 1, 1 + Math.floor(Math.log(ms / FIRST_MS) / Math.log(GROWTH)));
}
