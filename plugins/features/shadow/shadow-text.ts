import { whole } from "../../../core/report/number-text.ts";
import type { DecisionReport, ShadowReport } from "../../../core/report/report-schema.ts";
import type { ShadowStatus } from "./shadow-status.ts";

/** A row for the request that it decided too. */
export function shadowRows({ shadow }: DecisionReport): readonly (readonly [string, string])[] {
  return shadow === null ? [] : [["shadow", shadowText(shadow)]];
}

/** What the shadow profile would have done with a request, for people. */
export function shadowText({ profile, endpoint, refusal, isSame, differenceMs }: ShadowReport): string {
  const name = `the shadow profile ${profile} would`;
  if (refusal !== "") return `${name} have refused it${isSame ? " too" : ""} (${refusal})`;
  if (isSame) return `${name} have chosen the same`;
  return `${name} have chosen ${endpoint}${differenceMs === null ? "" : `: ${differenceText(differenceMs)}`}`;
}

function differenceText(ms: number): string {
  const difference = whole(Math.abs(ms));
  if (difference === "0") return "the same time expected";
  return `${difference} ms ${ms > 0 ? "longer" : "shorter"} expected`;
}

const laterText = (ms: number) => `${Math.abs(ms).toFixed(1)} ms ${ms < 0 ? "earlier" : "later"}`;

/** How the shadow profile differs; nothing without one. */
export function shadowLines({ shadow = null }: { readonly shadow?: ShadowStatus | null }): readonly string[] {
  if (shadow === null) return [];
  const { name, decisions, disagreements, meanDifferenceMs, faults, skipped } = shadow;
  const counts = [
    `would have chosen otherwise for ${disagreements} of ${decisions} requests`,
    meanDifferenceMs === null ? "" : `first token expected ${laterText(meanDifferenceMs)} on average`,
    faults === 0 ? "" : `${faults} faults`,
    skipped === 0 ? "" : `${skipped} not decided because it is slow`,
  ];
  return [`shadow ${name}: ${counts.filter((text) => text !== "").join("; ")}`];
}
