import type { EndpointStatus } from "./endpoint-schema.ts";
import type { PoolFigures } from "./figures/request-figures.ts";

const NAMES_SHOWN = 3;

/**
 * Whether all is well, and one line that says what is not. What was taken out on purpose, or put to sleep, is told, and is well; a
 * replica that was drained may also stop.
 */
export function summaryOf(endpoints: readonly EndpointStatus[], traffic: PoolFigures, warnings: readonly string[]) {
  const serving = endpoints.filter(({ isAvailable }) => isAvailable).length;
  const out = endpoints.filter(({ isAvailable }) => !isAvailable);
  const failed = traffic.routerErrors + traffic.replicaErrors;
  const isWell = isServingWell(endpoints, traffic) && warnings.length === 0;
  return { isWell, summary: `${servingText(endpoints.length, serving, out)}; ${failureText(traffic, failed)}.` };
}

/** Whether what the line says is well, whatever else needs attention. */
export function isServingWell(endpoints: readonly EndpointStatus[], { isFailing }: Pick<PoolFigures, "isFailing">): boolean {
  const isWanted = ({ isAvailable, phase, intent }: EndpointStatus) =>
    isAvailable || intent !== null || phase === "asleep" || phase === "draining";
  return endpoints.some(({ isAvailable }) => isAvailable) && endpoints.every(isWanted) && !isFailing;
}

function servingText(all: number, serving: number, out: readonly EndpointStatus[]): string {
  if (all === 0) return "The pool has no replicas";
  if (out.length === 0) return all === 1 ? "The replica serves" : `All ${all} replicas serve`;
  const named = out.slice(0, NAMES_SHOWN).map(({ name, phase }) => `${name} is ${phase}`);
  const more = out.length > NAMES_SHOWN ? `, and ${out.length - NAMES_SHOWN} more do not` : "";
  return `${serving} of ${all} replicas serve${serving === 1 ? "s" : ""}: ${named.join(", ")}${more}`;
}

function failureText({ requests, windowS, routerErrors, replicaErrors }: PoolFigures, failed: number): string {
  const time = windowS < 120 ? `${windowS} s` : `${Math.round(windowS / 60)} minutes`;
  if (requests === 0) return `no requests in the last ${time}`;
  if (failed === 0) return `none of ${requests} requests failed in the last ${time}`;
  const who = [
    ...(replicaErrors > 0 ? [`${replicaErrors} through replicas`] : []),
    ...(routerErrors > 0 ? [`${routerErrors} in the router`] : []),
  ];
  return `${failed} of ${requests} requests failed in the last ${time} (${who.join(", ")})`;
}
