import { Bounds, Histogram } from "../../../core/contract/histogram.ts";
import type { Outcome } from "../../../core/contract/outcome.ts";
import { printable } from "../../../core/contract/printable.ts";
import { blameOf, saidStatusOf, wasServed } from "../../../core/report/blame.ts";
import { cachedTokensOf } from "../../../core/report/cached-tokens.ts";
import { distributionOf, wilson } from "./estimates.ts";
import type { TargetFigures } from "./rollout-shapes.ts";

/** What one request says about its target: it was served, the target failed, or nothing. */
export type TargetVerdict = "served" | "failed" | "unjudged";

/**
 * What clients got counts: an error that a retry made good is none. A client's error (4xx) says that the target serves. What the
 * router refuses by itself says nothing of the target, unless others are served and no ready replica has this one. `isProbed`: the
 * first probes may have ended, so that it is known what is served.
 */
export function verdictOf(outcome: Outcome, isProbed = true): TargetVerdict {
  // 501: the replica does not have the path.
  if (outcome.ending === "client-left" || saidStatusOf(outcome) === 501) return "unjudged";
  switch (blameOf(outcome)) {
    case "replica":
      return "failed";
    case "router":
      return outcome.error?.code === "target_unavailable" && isProbed ? "failed" : "unjudged";
    default:
      return "served";
  }
}

/** Larger values count as this: what replicas report is not always true. */
const MOST = 1e7;
/** Each bucket ends 5 % above the one before, so a quantile is off by 2.5 % at most. */
const BOUNDS = Bounds.growing(0.01, MOST, 1.05);

const MOST_REASONS = 16;
const LONGEST_REASON = 64;

interface ServedFigures {
  readonly ttftMs: Histogram;
  readonly tokensPerSecond: Histogram;
}

/** Counts the requests of one target. */
export class FigureCounts {
  readonly #sinceWallMs: number;
  #requests = 0;
  #unjudged = 0;
  #errors = 0;
  /** Made with the first request that is served: a config may have many targets that get none. */
  #served: ServedFigures | undefined;
  readonly #finishReasons = new Map<string, number>();
  #promptTokens = 0;
  #cachedTokens = 0;

  constructor(sinceWallMs: number) {
    this.#sinceWallMs = sinceWallMs;
  }

  add(outcome: Outcome, verdict: TargetVerdict): void {
    this.#requests += 1;
    if (verdict === "unjudged") this.#unjudged += 1;
    if (verdict === "failed") this.#errors += 1;
    if (verdict === "served" && wasServed(outcome)) this.#addServed(outcome);
    this.#addReason(outcome.finishReason);
    const { promptTokens = Number.NaN } = outcome.usage ?? {};
    const cachedTokens = cachedTokensOf(outcome);
    if (cachedTokens === undefined || Number.isNaN(promptTokens)) return;
    this.#promptTokens += promptTokens;
    this.#cachedTokens += Math.min(cachedTokens, promptTokens);
  }

  shown(): TargetFigures {
    const judged = this.#requests - this.#unjudged;
    return {
      since: new Date(this.#sinceWallMs).toISOString(),
      requests: this.#requests,
      unjudged: this.#unjudged,
      errors: this.#errors,
      errorRate: judged === 0 ? null : wilson(this.#errors, judged),
      ttftMs: this.#served === undefined ? null : distributionOf(this.#served.ttftMs),
      tokensPerSecond: this.#served === undefined ? null : distributionOf(this.#served.tokensPerSecond),
      finishReasons: Object.fromEntries(this.#finishReasons),
      cachedShare: this.#promptTokens === 0 ? null : this.#cachedTokens / this.#promptTokens,
    };
  }

  #addServed({ firstByteMs, times, outputTokens, request }: Outcome): void {
    this.#served ??= { ttftMs: new Histogram(BOUNDS), tokensPerSecond: new Histogram(BOUNDS) };
    this.#served.ttftMs.add(Math.min(MOST, firstByteMs));
    const generatingMs = times.endMs - times.firstByteMs;
    // The first token came with the first byte.
    if (request?.isStream && outputTokens > 1 && generatingMs > 0)
      this.#served.tokensPerSecond.add(Math.min(MOST, (1000 * (outputTokens - 1)) / generatingMs));
  }

  #addReason(said: string): void {
    if (said === "") return;
    const count = this.#finishReasons.get(said);
    if (count !== undefined) {
      this.#finishReasons.set(said, count + 1);
      return;
    }
    const reason = printable(said.slice(0, LONGEST_REASON));
    const isKnown = this.#finishReasons.has(reason) || this.#finishReasons.size < MOST_REASONS - 1;
    const key = isKnown ? reason : "other";
    this.#finishReasons.set(key, (this.#finishReasons.get(key) ?? 0) + 1);
  }
}
