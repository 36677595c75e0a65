import type { GuardConfig } from "./guard-config.ts";
import type { Distribution, Estimate, TargetFigures } from "./rollout-shapes.ts";

/** Why a guard stopped its target, in a sentence with the numbers of both. */
export function stopReason(
  { target, against, worseBy, confidence }: GuardConfig,
  what: "errorRate" | "ttft",
  figures: TargetFigures,
  others: TargetFigures,
): string {
  const sure = `at confidence ${percent(confidence)}, after ${figures.requests} and ${others.requests} requests`;
  if (what === "errorRate") {
    const points = `${number((worseBy.errorRate ?? 0) * 100)} points`;
    return `${target} fails ${rateText(figures.errorRate)}, ${against} ${rateText(others.errorRate)}: worse by more than ${points} ${sure}.`;
  }
  return `The first byte of ${target} typically takes ${timeText(figures.ttftMs)}, that of ${against} ${timeText(others.ttftMs)}: slower by more than ${percent(worseBy.ttft ?? 0)} ${sure}.`;
}

function rateText(rate: Estimate | null): string {
  if (rate === null) return "0 %";
  return `${percent(rate.value)} (${percent(rate.low ?? 0)} to ${percent(rate.high ?? 1)})`;
}

function timeText(times: Distribution | null): string {
  return times === null ? "an unknown time" : `${number(times.p50.value)} ms`;
}

const percent = (share: number) => `${number(share * 100)} %`;
const number = (value: number) => String(Number(value.toPrecision(3)));
