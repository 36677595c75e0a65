import { whole } from "../../../core/report/number-text.ts";
import type { DecisionReport } from "../../../core/report/report-schema.ts";
import type { SessionsStatus } from "./sessions-status.ts";

/** A row for a request that is a turn of a session. */
export function sessionRows({ session }: DecisionReport): readonly (readonly [string, string])[] {
  if (session === null) return [];
  const { name, source, turn, pausedMs, endpoint } = session;
  const pause = pausedMs === null ? "" : `, ${whole(pausedMs)} ms after the turn before`;
  const place = endpoint === "" ? "" : `; that one was on ${endpoint}`;
  return [["session", `turn ${turn} of ${name} (known by ${source})${pause}${place}`]];
}

/** How many sessions are where; nothing where nobody looks for them. */
export function sessionLines({ sessions = null }: { readonly sessions?: SessionsStatus | null }): readonly string[] {
  if (sessions === null) return [];
  const { known, underWay, waiting, byEndpoint } = sessions;
  const places = byEndpoint.map((row) => `${row.sessions} on ${row.endpoint} (${whole(row.tokens)} tokens)`);
  return [
    `sessions: ${known} known, ${underWay} with a turn under way${waiting > 0 ? `, ${waiting} of them wait for a place` : ""}${places.length > 0 ? `; ${places.join(", ")}` : ""}`,
  ];
}
