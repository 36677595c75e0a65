import type { Endpoint } from "../../core/contract/endpoint.ts";
import type { Filter } from "../../core/contract/filter.ts";
import { z } from "../../core/contract/options.ts";
import { defineFilter } from "../../core/contract/plugin.ts";
import { fail, faultOf, reject, throwUnprintable } from "./plugin-faults.ts";

type Fault = (candidates: readonly Endpoint[]) => unknown;

/** What it does instead of keeping all. The request must be refused with 500 `plugin_fault`: nobody knows who may serve it. */
export const FILTER_FAULTS: ReadonlyMap<string, Fault> = new Map<string, Fault>([
  ["filter-throws", fail],
  ["filter-throws-unprintable", throwUnprintable],
  ["filter-rejects", reject],
  ["filter-invents", (candidates) => candidates.map((endpoint) => ({ ...endpoint }))],
]);

export default defineFilter({
  type: "faulty-filter",
  summary: "Keeps all candidates, and breaks the contract where a request's id asks for it.",
  options: z.strictObject({}),
  create: () => ({
    filter: ({ id }, candidates) =>
      (FILTER_FAULTS.get(faultOf(id)) ?? ((all) => all))(candidates) as ReturnType<Filter["filter"]>,
  }),
});
