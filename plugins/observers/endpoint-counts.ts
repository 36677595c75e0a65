import type { AttemptFailure } from "../../core/contract/outcome.ts";
import { STATUS_CLASSES } from "./traffic-table.ts";

/** Where each failure of a try is among the results, behind the classes of statuses. */
const FAILURES: Readonly<Record<AttemptFailure, number>> = {
  ...{ "connect-failed": 6, "connect-timeout": 7, stale: 8, reset: 9, timeout: 10, gone: 11 },
  ...{ wedged: 12, invalid: 13, aborted: 14, saturated: 15, removed: 16, malformed: 17 },
};

/** What a try can come to, in words. */
export const RESULTS: readonly string[] = [...STATUS_CLASSES, ...Object.keys(FAILURES)];

/** The place of a try's result among them. */
export function resultIndex(result: number | AttemptFailure): number {
  return typeof result === "number" ? statusIndex(result) : FAILURES[result];
}

/** The place of a status's class. */
export function statusIndex(status: number): number {
  const index = Math.floor(status / 100);
  return index < STATUS_CLASSES.length ? index : 0;
}

/** Where each count of one endpoint is in its row. Results take as many places as there are of them. */
export const ENDPOINT_AT = {
  results: 0,
  ttftEstimates: 18,
  ttftExpectedS: 19,
  ttftSeenS: 20,
  ttftErrorS: 21,
  /** Relative errors: of those that came late, then of the others. */
  ttftRatios: 22,
} as const;
export const ENDPOINT_COUNTS = 24;
