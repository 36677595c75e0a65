import type { MirrorReport, ShadowReport } from "../contract/beside-report.ts";
import type { DecisionReport } from "../contract/decision-report.ts";
import type { MirrorSkip } from "../contract/mirror.ts";

/** Rows about what happened beside a request: what its mirrors' copies met, and what the shadow profile would have done. */
export function besideFacts({
  mirrors,
  shadow,
}: Pick<DecisionReport, "mirrors" | "shadow">): readonly (readonly [title: string, text: string])[] {
  return [
    ...mirrors.map((mirror) => ["mirror", mirrorText(mirror)] as const),
    ...(shadow === null ? [] : [["shadow", shadowText(shadow)] as const]),
  ];
}

const SKIPPED: Readonly<Record<MirrorSkip, string>> = {
  "same-target": "the request itself went to that target",
  "not-repeatable": "a second copy would leave a second result",
  "in-flight": "as many copies were under way as may be",
  memory: "memory for bodies was short",
  "no-endpoint": "no available replica could take it",
  connections: "the replica had few connections to spare",
  fault: "a plugin failed",
};

function mirrorText({ target, endpoint, skipped, status, firstByteMs, ending }: MirrorReport): string {
  if (skipped !== "") return `not mirrored as ${target}: ${SKIPPED[skipped]}`;
  const words = [
    status === 0 ? "" : `status ${status}`,
    firstByteMs === null ? "" : `first byte after ${Math.round(firstByteMs)} ms`,
    ending === "" ? "still under way" : ending === "complete" ? "" : ending,
  ];
  return `mirrored to ${endpoint} as ${target}: ${words.filter((word) => word !== "").join(", ")}`;
}

function shadowText({ profile, endpoint, refusal, isSame, differenceMs }: ShadowReport): string {
  const name = `the shadow profile ${profile} would`;
  if (refusal !== "") return `${name} have refused it${isSame ? " too" : ""} (${refusal})`;
  if (isSame) return `${name} have chosen the same`;
  return `${name} have chosen ${endpoint}${differenceMs === null ? "" : `: ${differenceText(differenceMs)}`}`;
}

function differenceText(ms: number): string {
  const whole = Math.round(Math.abs(ms));
  if (whole === 0) return "the same time expected";
  return `${whole.toLocaleString("en-US")} ms ${ms > 0 ? "longer" : "shorter"} expected`;
}
