import { whole } from "../../../core/report/number-text.ts";
import type { DecisionReport } from "../../../core/report/report-schema.ts";
import type { AdmissionStatus } from "./admission-status.ts";

/** A row for a request that had to wait. */
export function waitRows({ wait }: DecisionReport): readonly (readonly [string, string])[] {
  if (wait === null) return [];
  const { end, waitedMs, position, priority, tenant, reason } = wait;
  const who = `priority ${priority}${tenant === "" ? "" : `, tenant ${tenant}`}`;
  return [["waited", `${whole(waitedMs ?? 0)} ms for room (${end}), at place ${position} (${who}): ${reason}`]];
}

/** Who waits; nothing where nobody has to. */
export function lineLines({ admission = null }: { readonly admission?: AdmissionStatus | null }): readonly string[] {
  if (admission === null) return [];
  const { waiting, longestMs, drainPerS, byPriority } = admission;
  if (waiting === 0) return ["admission: nobody waits"];
  const parts = byPriority.map((each) => `${each.waiting} of priority ${each.priority}`).join(", ");
  return [
    `admission: ${waiting} ${waiting === 1 ? "waits" : "wait"} (${parts}), the first for ${whole(longestMs)} ms; ${drainPerS} a second go on`,
  ];
}
