import type { Named, Profile } from "../active-config.ts";
import type { Clock } from "../contract/clock.ts";
import type { Log } from "../contract/log.ts";
import type { PluginTime } from "../contract/router-view.ts";
import { resourceUsage, workMs } from "../runtime/work-time.ts";

/** A plugin that takes more time per request than it may; `meanMs`: in the latest requests that were timed, on average. */
export interface SlowPlugin extends PluginTime {
  readonly meanMs: number;
}

/** One request in so many is timed, and one in so many milliseconds where there are few. */
const TIMED_REQUESTS = 64;
const TIMED_MS = 100;
/** A plugin is slow when so many of its last 16 times are over the budget, and slow no more when so few are. */
const MOST_OVER = 8;
const FEWEST_OVER = 2;
/** How long a scorer may be slow before it loses its vote. */
const PATIENCE_MS = 10_000;
/** Weight of the latest time in the average. */
const LATEST = 0.125;

/**
 * Times the filters, scorers and pickers of a profile in a few requests. Most times must be over the budget, not their average:
 * a process that waits for a processor now and then must not look like a slow plugin. Once a time was over it, the next ones are without
 * the waits for a processor, so that a busy machine alone makes no plugin slow. A scorer that stays slow loses its vote: it
 * is only asked in timed requests, and its scores count again when it is quick enough.
 */
export class PluginTimes {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #usage: typeof resourceUsage;
  #budgetMs = Number.POSITIVE_INFINITY;
  #profile: Profile | undefined;
  /** The profile's plugins, wrapped. */
  #timed: Profile | undefined;
  /** The profile without the scorers that have no vote. */
  #plain: Profile | undefined;
  #watched: Watched[] = [];
  #requests = 0;
  #timedAtMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, log: Log, usage = resourceUsage) {
    this.#clock = clock;
    this.#log = log;
    this.#usage = usage;
  }

  get slow(): readonly SlowPlugin[] {
    return this.#watched.filter(({ isSlow }) => isSlow);
  }

  get timed(): readonly PluginTime[] {
    return this.#watched;
  }

  /** Times this profile from now on, with that budget; what was measured of the one before is forgotten. */
  follow(profile: Profile, budgetMs: number): void {
    this.#budgetMs = budgetMs;
    this.#watch(profile);
  }

  /**
   * The profile to decide a request with: the same plugins, some requests with a clock around them. A profile other than the one
   * that is timed belongs to a request that began before it, and is not timed.
   */
  profileFor(profile: Profile, nowMs: number): Profile {
    if (profile !== this.#profile) return profile;
    this.#requests += 1;
    if (this.#requests % TIMED_REQUESTS !== 0 && nowMs - this.#timedAtMs < TIMED_MS) return this.#plain ?? profile;
    this.#timedAtMs = nowMs;
    return this.#timed ?? profile;
  }

  /** The profile that decides now, without the scorers that have no vote; not timed and not counted. */
  untimed(profile: Profile): Profile {
    return profile === this.#profile ? (this.#plain ?? profile) : profile;
  }

  #watch(profile: Profile): void {
    const { filters, scorers, picker } = profile;
    this.#watched = [];
    const around = (kind: SlowPlugin["kind"], { name }: Named<unknown>) => {
      const watched: Watched = {
        ...{ kind, name, meanMs: 0, timedRequests: 0, timedMs: 0 },
        ...{ hasNoVote: false, isSlow: false, over: 0, slowSinceMs: 0 },
      };
      this.#watched.push(watched);
      return watched;
    };
    this.#profile = profile;
    this.#plain = profile;
    this.#timed = {
      ...profile,
      filters: filters.map((named) => this.#timedFilter(named, around("filter", named))),
      scorers: scorers.map((named) => this.#timedScorer(named, around("scorer", named))),
      picker: this.#timedPicker(picker, around("picker", picker)),
    };
  }

  #timedFilter(named: Profile["filters"][number], watched: Watched): Profile["filters"][number] {
    const { plugin } = named;
    const filter: typeof plugin.filter = (...given) => this.#time(watched, () => plugin.filter(...given));
    const timed = {
      // An author's plugin may fail to say it.
      get expresses() {
        return plugin.expresses ?? "need";
      },
      filter,
    };
    return {
      ...named,
      plugin: plugin.refuse === undefined ? timed : Object.assign(timed, { refuse: plugin.refuse.bind(plugin) }),
    };
  }

  #timedScorer(named: Profile["scorers"][number], watched: Watched): Profile["scorers"][number] {
    const { plugin } = named;
    const score: typeof plugin.score = (...given) => {
      const scores = this.#time(watched, () => plugin.score(...given));
      return watched.hasNoVote ? null : scores;
    };
    const { confidence } = plugin;
    return { ...named, plugin: confidence === undefined ? { score } : { score, confidence: confidence.bind(plugin) } };
  }

  #timedPicker(named: Profile["picker"], watched: Watched): Profile["picker"] {
    const { plugin } = named;
    return { ...named, plugin: { pick: (...given) => this.#time(watched, () => plugin.pick(...given)) } };
  }

  #time<Result>(watched: Watched, run: () => Result): Result {
    const from = watched.over === 0 ? undefined : this.#usage();
    const fromMs = this.#clock.now();
    try {
      return run();
    } finally {
      const nowMs = this.#clock.now();
      const tookMs = nowMs - fromMs;
      this.#took(watched, from === undefined ? tookMs : workMs(tookMs, from, this.#usage()), nowMs);
    }
  }

  #took(watched: Watched, tookMs: number, nowMs: number): void {
    watched.meanMs += LATEST * (tookMs - watched.meanMs);
    watched.timedRequests += 1;
    watched.timedMs += tookMs;
    watched.over = ((watched.over << 1) | (tookMs > this.#budgetMs ? 1 : 0)) & 0xffff;
    const over = onesIn(watched.over);
    if (!watched.isSlow && over >= MOST_OVER) {
      watched.isSlow = true;
      watched.slowSinceMs = nowMs;
      this.#log.warn("A plugin takes more time per request than it may", this.#fieldsOf(watched));
    } else if (watched.isSlow && over <= FEWEST_OVER) {
      watched.isSlow = false;
      this.#log.info("A plugin is within its time again", this.#fieldsOf(watched));
      if (watched.hasNoVote) this.#vote(watched, true);
    } else if (watched.isSlow && watched.kind === "scorer" && !watched.hasNoVote && nowMs - watched.slowSinceMs >= PATIENCE_MS) {
      this.#log.warn("A scorer that takes too much time loses its vote until it is faster", this.#fieldsOf(watched));
      this.#vote(watched, false);
    }
  }

  #vote(watched: Watched, hasVote: boolean): void {
    watched.hasNoVote = !hasVote;
    const profile = this.#profile;
    if (profile === undefined) return;
    const silent = new Set(this.#watched.filter(({ hasNoVote }) => hasNoVote).map(({ name }) => name));
    this.#plain = { ...profile, scorers: profile.scorers.filter(({ name }) => !silent.has(name)) };
  }

  #fieldsOf({ kind, name, meanMs }: Watched) {
    return { plugin: name, kind, meanMs: Math.round(meanMs * 100) / 100, budgetMs: this.#budgetMs };
  }
}

type Watched = { -readonly [Field in keyof PluginTime]: PluginTime[Field] } & {
  meanMs: number;
  /** Of the last 16 times, the latest in the lowest bit: 1 where it was over the budget. */
  over: number;
  slowSinceMs: number;
};

function onesIn(bits: number): number {
  let count = 0;
  for (let left = bits; left !== 0; left &= left - 1) count += 1;
  return count;
}
