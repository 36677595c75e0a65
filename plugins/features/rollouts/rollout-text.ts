import { percent, whole } from "../../../core/report/number-text.ts";
import type { Distribution, Estimate, GuardState, RolloutStatus, TargetFigures } from "./rollout-shapes.ts";

/** What a guard judges. */
const NAMES = { errorRate: "error rate", ttft: "first byte" } as const;

type ShownTarget = Partial<RolloutStatus>;

/** What stands behind a target in the status. */
export function guardMark({ guard }: ShownTarget): string {
  return guard?.state === "stopped" ? " (stopped by its guard)" : "";
}

/** What became of a target's requests, and what its guard knows. */
export function targetLines({ figures = null, guard = null }: ShownTarget): readonly string[] {
  return [figuresText(figures), guard === null ? "" : guardText(guard)].filter((text) => text !== "");
}

/** What became of a target's requests, in one line; "" before the first. */
export function figuresText(figures: TargetFigures | null): string {
  if (figures === null || figures.requests === 0) return "";
  const { requests, errorRate, ttftMs, tokensPerSecond, finishReasons, cachedShare } = figures;
  const reasons = Object.entries(finishReasons).sort(([, one], [, other]) => other - one);
  const parts = [
    `${whole(requests)} requests`,
    errorRate === null ? "" : `errors ${rateText(errorRate)}`,
    ttftMs === null ? "" : `ttft ${distributionText(ttftMs, "ms")}`,
    tokensPerSecond === null ? "" : `tokens/s ${distributionText(tokensPerSecond, "")}`,
    reasons.length === 0 ? "" : `ended by ${reasons.map(([reason, count]) => `${reason} ${count}`).join(", ")}`,
    cachedShare === null ? "" : `cached ${percent(cachedShare)}`,
  ];
  return parts.filter((part) => part !== "").join("; ");
}

/** What a guard knows, in one line. */
export function guardText({ against, state, text, stoppedAt, requests, minRequests, tests }: GuardState): string {
  if (state === "stopped") return `stopped by its guard at ${stoppedAt}: ${text}`;
  if (state === "blocked") return `its guard would stop it. ${text}`;
  if (state === "idle") return `guarded against ${against}. ${text}`;
  const shown = tests.map(({ what, evidence, needed }) => `${NAMES[what]} ${percent(evidence / needed)}`);
  return `guarded against ${against}; ${requests} requests judged, at least ${minRequests} before a stop; evidence that it is worse, of what stops it: ${shown.join(", ")}`;
}

function rateText({ value, low, high }: Estimate): string {
  return `${percent(value)} (${percent(low ?? 0)} to ${percent(high ?? 1)})`;
}

function distributionText({ mean, p50, p95 }: Distribution, unit: string): string {
  const shown = [`mean ${estimateText(mean)}`, `p50 ${estimateText(p50)}`, `p95 ${estimateText(p95)}`];
  return `${shown.join(", ")}${unit === "" ? "" : ` ${unit}`}`;
}

function estimateText({ value, low, high }: Estimate): string {
  return low === null || high === null ? number(value) : `${number(value)} (${number(low)} to ${number(high)})`;
}

/** With three digits. */
function number(value: number): string {
  return value >= 1000 ? whole(value) : String(Number(value.toPrecision(3)));
}
