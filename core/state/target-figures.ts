import { blameOf } from "../contract/blame.ts";
import type { Outcome } from "../contract/outcome.ts";
import { printable } from "../contract/printable.ts";
import type { Estimate, TargetFigures } from "../contract/rollout.ts";
import { LogHistogram, Z95 } from "./log-histogram.ts";

/** What one request says about its target: it was served, the target failed, or nothing. */
export type TargetVerdict = "served" | "failed" | "unjudged";

/** Errors of the router that come from no replica being there for the target. */
const UNSERVED: ReadonlySet<string> = new Set(["no_ready_endpoint", "target_unavailable"]);

/** What clients got counts: an error that a retry made good is none. A client's error (4xx) says that the target serves. */
export function verdictOf(outcome: Pick<Outcome, "ending" | "status" | "error">): TargetVerdict {
  if (outcome.ending === "client-left") return "unjudged";
  switch (blameOf(outcome)) {
    case "replica":
      return "failed";
    case "router":
      return UNSERVED.has(outcome.error?.code ?? "") ? "failed" : "unjudged";
    default:
      return "served";
  }
}

const MOST_REASONS = 16;
const LONGEST_REASON = 64;

/** Counts the requests of one target. */
export class FigureCounts {
  readonly #sinceWallMs: number;
  #requests = 0;
  #unjudged = 0;
  #errors = 0;
  readonly #ttftMs = new LogHistogram();
  readonly #tokensPerSecond = new LogHistogram();
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
    if (verdict === "served" && outcome.status < 300) this.#addServed(outcome);
    this.#addReason(outcome.finishReason);
    const { promptTokens = Number.NaN, cachedTokens = Number.NaN } = outcome.usage ?? {};
    if (Number.isNaN(promptTokens) || Number.isNaN(cachedTokens)) return;
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
      ttftMs: this.#ttftMs.distribution(),
      tokensPerSecond: this.#tokensPerSecond.distribution(),
      finishReasons: Object.fromEntries(this.#finishReasons),
      cachedShare: this.#promptTokens === 0 ? null : this.#cachedTokens / this.#promptTokens,
    };
  }

  #addServed({ firstByteMs, times, outputTokens, request }: Outcome): void {
    this.#ttftMs.add(firstByteMs);
    const generatingMs = times.endMs - times.firstByteMs;
    // The first token came with the first byte.
    if (request?.isStream && outputTokens > 1 && generatingMs > 0)
      this.#tokensPerSecond.add((1000 * (outputTokens - 1)) / generatingMs);
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

/** The Wilson score interval of a rate (Wilson 1927, J. Am. Stat. Assoc. 22): it is within [0, 1] and holds near both ends. */
function wilson(errors: number, requests: number): Estimate {
  const value = errors / requests;
  const spread = Z95 ** 2 / requests;
  const middle = (value + spread / 2) / (1 + spread);
  const half = (Z95 * Math.sqrt((value * (1 - value)) / requests + spread / (4 * requests))) / (1 + spread);
  return { value, low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
}
