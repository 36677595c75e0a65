import { whole } from "../../../core/report/number-text.ts";
import type { DecisionReport } from "../../../core/report/report-schema.ts";
import type { PairsStatus } from "./pairs-status.ts";

/** What pairs have done; nothing without any. */
export function pairsLines({ pairs = null }: { readonly pairs?: PairsStatus | null }): readonly string[] {
  if (pairs === null) return [];
  const { transfer, prefill, decode, paired, alone, unpairable, failed, causes } = pairs;
  const why = Object.entries(causes).map(([cause, count]) => `${cause} ${count}`);
  return [
    `pairs by ${transfer}: ${prefill.length} prefill, ${decode.length} decode; ${paired} requests by pairs, ${alone} by one endpoint, ` +
      `${unpairable} that no pair can serve, ${failed} after a pair failed${why.length === 0 ? "" : ` (${why.join(", ")})`}`,
  ];
}

/** Rows of an explanation: what the decider weighed, where the prompt went and why, and what became of it. */
export function pairRows({ pairing, prefillLeg, prefill }: DecisionReport): readonly (readonly [string, string])[] {
  const rows: (readonly [string, string])[] = [];
  if (pairing !== null) rows.push(["pair", `${pairing.isPaired ? "yes" : "no"}: ${pairing.why}`]);
  if (prefillLeg !== null) rows.push(["prefill", prefillLeg.why]);
  if (prefill !== null) rows.push(["transfer", transferText(prefill)]);
  return rows;
}

function transferText({
  transfer,
  endpoint,
  end,
  cause,
  tookMs,
  transferMs,
  expectedTransferMs,
  attempts,
}: NonNullable<DecisionReport["prefill"]>): string {
  const tries = attempts.map((attempt) => `${attempt.endpoint} (${attempt.result})`).join(", then ");
  const prompt = `prompt at ${tries || endpoint}${tookMs === null ? "" : ` in ${whole(tookMs)} ms`}`;
  if (end === "alone") return `${prompt}; the answer's endpoint did all of it: ${cause}`;
  if (end === "") return `${prompt}; no answer came`;
  const expected = expectedTransferMs === null ? "" : `, ${whole(expectedTransferMs)} ms expected`;
  return `${prompt}; ${transfer}${transferMs === null ? "" : `, first token ${whole(transferMs)} ms later${expected}`}`;
}
