import { formatProblem } from "../../config/problems.ts";
import type { Endpoint } from "../contract/endpoint.ts";
import type { RouterView } from "../contract/router-view.ts";
import { mirrorWarnings } from "./beside-status.ts";
import type { ShownConfig, ShownRouter } from "./router-view.ts";
import type { RewriteStatus } from "./status.ts";

/** What the warnings are made of. */
interface Warned extends Pick<ShownRouter, "isPanicking" | "slowPlugins"> {
  readonly running: Pick<ShownConfig, "lastReload" | "loaded">;
  readonly endpoints: readonly Endpoint[];
  readonly available: readonly Endpoint[];
  readonly rewrites: readonly RewriteStatus[];
  readonly view: RouterView;
}

/** What needs an operator's attention, as sentences. */
export function warningsOf({
  running,
  endpoints,
  available,
  rewrites,
  isPanicking,
  slowPlugins,
  view,
}: Warned): readonly string[] {
  return [
    ...reloadWarnings(running),
    ...poolWarnings(endpoints, available, rewrites, isPanicking),
    ...idleGuardWarnings(running),
    ...rewrites.flatMap(guardWarnings),
    ...keyWarnings(endpoints, view),
    ...(available.length === 0 ? [] : mirrorWarnings(view)),
    ...slowPlugins.map(slowWarning),
  ];
}

function reloadWarnings({ lastReload }: Pick<ShownConfig, "lastReload">): readonly string[] {
  if (lastReload === undefined || lastReload.isApplied) return [];
  const [first = "", ...others] = lastReload.problems;
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  return [`The changed config can't run, so the one before goes on: ${first}${more}`];
}

/** Replicas that refuse the router's probes for want of a key. */
function keyWarnings(endpoints: readonly Endpoint[], view: RouterView): readonly string[] {
  const names = endpoints.filter((endpoint) => /^status 40[13]$/.test(view.probeFailure(endpoint))).map(({ name }) => name);
  if (names.length === 0) return [];
  const shown = `${names.slice(0, 3).join(", ")}${names.length > 3 ? ` and ${names.length - 3} more` : ""}`;
  return [
    `Probes of ${shown} are refused with 401 or 403: name the replicas' key in spec.pool.auth, such as { bearer: env:NAME }.`,
  ];
}

function poolWarnings(
  endpoints: readonly Endpoint[],
  available: readonly Endpoint[],
  rewrites: readonly RewriteStatus[],
  isPanicking: boolean,
): readonly string[] {
  if (available.length === 0) return [nobodyReady(endpoints.length)];
  const ejected = endpoints.filter(({ ejection }) => ejection !== undefined).map(({ name }) => name);
  return [
    ...(ejected.length > 0 && !isPanicking ? [`Ejected for what their responses were: ${ejected.join(", ")}.`] : []),
    ...(isPanicking ? [PANIC] : []),
    ...rewrites.flatMap(targetWarnings),
  ];
}

const PANIC =
  "More replicas fail than may be ejected, so all that are up are used: the list of replicas says why each was ejected.";

function nobodyReady(poolSize: number): string {
  return poolSize === 0
    ? "The pool has no replicas: add some to the config, or wait until they are found."
    : "No replica is ready, so requests get 503: see the list of replicas for why their probes fail.";
}

function slowWarning({ kind, name, meanMs, hasNoVote }: ShownRouter["slowPlugins"][number]): string {
  const now = hasNoVote ? " It has no vote until it is faster." : "";
  return `The ${kind} "${name}" takes ${meanMs.toFixed(1)} ms per request, more than limits.pluginMs.${now}`;
}

function targetWarnings({ name, targets, onUnavailable }: RewriteStatus): readonly string[] {
  const what = onUnavailable === "refuse" ? "get 503" : "go to its other targets";
  return targets
    .filter(({ weight, readyEndpoints }) => weight > 0 && readyEndpoints === 0)
    .map(
      (target) =>
        `No ready replica serves "${target.name}", a target of the rewrite ${name}: its requests ${what}, unless a replica loads it when asked. Load it or set its weight to 0.`,
    );
}

/** Guards of what is not there: the config's other warnings are for whoever writes it, these are about what is not watched now. */
function idleGuardWarnings({ loaded }: Pick<ShownConfig, "loaded">): readonly string[] {
  return loaded.warnings.filter(({ path }) => path.startsWith("spec.guards[")).map(formatProblem);
}

function guardWarnings({ targets }: RewriteStatus): readonly string[] {
  return targets.flatMap(({ name, guard }) => {
    if (guard?.state === "stopped") return [`A guard stopped ${name}: ${guard.text}`];
    return guard?.state === "blocked" ? [`A guard would stop ${name}. ${guard.text}`] : [];
  });
}
