import { percent, whole } from "../../../core/report/number-text.ts";
import { type Column, columnTable } from "../../../core/report/table.ts";
import { widthOf, wrapped } from "../../../core/report/text-width.ts";
import type { EndpointStatus } from "../../admin/endpoint-schema.ts";

/** The worst come first, as on the page (apps/admin/page/replicas.js). */
const SEVERITY: Readonly<Record<string, number>> = {
  "not-ready": 5,
  ejected: 4,
  starting: 3,
  asleep: 2,
  cordoned: 2,
  draining: 2,
  ready: 0,
};
const UNKNOWN_PHASE = 9;

const MODELS_SHOWN = 4;

const columnsWith = (phase: (row: EndpointStatus) => string): readonly Column<EndpointStatus>[] => [
  ["replica", ({ name, pool }) => (pool === undefined ? name : `${pool}/${name}`), "name"],
  ["phase", phase, "left"],
  ["in flight", ({ inFlight }) => String(inFlight)],
  ["prefill tokens", ({ prefillTokens }) => whole(prefillTokens)],
  ["waiting", ({ waiting }) => scraped(waiting)],
  ["running", ({ running }) => scraped(running)],
  ["KV cache", ({ kvUsage }) => (kvUsage === null ? "-" : percent(kvUsage))],
  ["connections", ({ connections }) => String(connections)],
  ["models", ({ models }) => modelsText(models), "name"],
];

const WIDE = columnsWith(phaseText);
const NARROW = columnsWith(({ phase }) => phase);

/** A table with a line for each endpoint. Where it does not fit `columns`, why a replica is in its phase stands below the replica. */
export function endpointLines(endpoints: readonly EndpointStatus[], columns = Number.POSITIVE_INFINITY): readonly string[] {
  const wide = columnTable(WIDE, endpoints);
  if (columns === Number.POSITIVE_INFINITY || wide.every((line) => widthOf(line) <= columns)) return wide;
  const lines = columnTable(NARROW, endpoints, columns);
  const heads = lines.length - endpoints.length;
  return [
    ...lines.slice(0, heads),
    ...endpoints.flatMap((endpoint, index) => [lines[heads + index]!, ...reasonLines(endpoint, columns)]),
  ];
}

/** Why an endpoint is in its phase, in lines that stand below its own; none where there is nothing to explain. */
export function reasonLines(endpoint: EndpointStatus, columns: number): readonly string[] {
  const text = phaseText(endpoint);
  return text === endpoint.phase ? [] : wrapped(`  ${text}`, columns, 4);
}

/** The worst come first; those that are alike keep their order. */
export function badFirst(endpoints: readonly EndpointStatus[]): readonly EndpointStatus[] {
  return [...endpoints].sort((one, other) => severity(other) - severity(one));
}

/** A router of another version may have other phases, and no `why`. */
function severity({ phase, isAvailable, why = "" }: EndpointStatus): number {
  return (SEVERITY[phase] ?? UNKNOWN_PHASE) + (isAvailable ? 0 : 0.5) + (why === "" ? 0 : 0.1);
}

/** Its phase and why; a router of another version may only tell the phase. */
export function phaseText({ phase, state }: EndpointStatus): string {
  return state ?? phase;
}

function modelsText(models: readonly string[]): string {
  const hidden = models.length - MODELS_SHOWN;
  return models.slice(0, MODELS_SHOWN).join(", ") + (hidden > 0 ? ` and ${hidden} more` : "");
}

const scraped = (value: number | null) => (value === null ? "-" : whole(value));
