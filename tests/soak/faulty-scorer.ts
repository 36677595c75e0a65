import { z } from "../../core/contract/options.ts";
import { defineScorer } from "../../core/contract/plugin.ts";
import type { Scorer } from "../../core/contract/scorer.ts";
import { beSlow, fail, faultOf, reject, throwUnprintable } from "./plugin-faults.ts";

/** What it does instead of having no opinion. The request must be served all the same. */
export const SCORER_FAULTS: ReadonlyMap<string, (candidates: number) => unknown> = new Map<
  string,
  (candidates: number) => unknown
>([
  ["scorer-throws", fail],
  ["scorer-throws-unprintable", throwUnprintable],
  ["scorer-rejects", reject],
  ["scorer-nan", (candidates) => new Array(candidates).fill(Number.NaN)],
  ["scorer-short", () => []],
  ["scorer-slow", beSlowAndWellBehaved],
]);

function beSlowAndWellBehaved(candidates: number): number[] {
  beSlow();
  return new Array<number>(candidates).fill(1);
}

export default defineScorer({
  type: "faulty-scorer",
  summary: "Has no opinion, and breaks the contract where a request's id asks for it.",
  options: z.strictObject({}),
  create: () => ({
    score: ({ id }, candidates) => (SCORER_FAULTS.get(faultOf(id))?.(candidates.length) ?? null) as ReturnType<Scorer["score"]>,
  }),
});
