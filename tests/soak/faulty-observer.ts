import { z } from "../../core/contract/options.ts";
import { defineObserver } from "../../core/contract/plugin.ts";
import { beSlow, fail, faultOf, reject, throwUnprintable } from "./plugin-faults.ts";

/** What it does instead of nothing. The request has ended by then, and must have been served. */
export const OBSERVER_FAULTS: ReadonlyMap<string, () => unknown> = new Map<string, () => unknown>([
  ["observer-throws", fail],
  ["observer-throws-unprintable", throwUnprintable],
  ["observer-rejects", reject],
  ["observer-slow", beSlow],
]);

export default defineObserver({
  type: "faulty-observer",
  summary: "Does nothing, and fails where a request's id asks for it.",
  options: z.strictObject({}),
  create: () => ({ finished: ({ id }) => OBSERVER_FAULTS.get(faultOf(id))?.() }),
});
