import type { Clock } from "../../contract/clock.ts";
import type { Endpoint } from "../../contract/endpoint.ts";
import type { Facts } from "../../state/facts.ts";

/** How long the program waits for the first results of probes, so that its first line says how many replicas are ready. */
const LONGEST_MS = 2_000;
/** A wait as long as this is noticed, so it gets a line of its own. */
const NOTICED_MS = 500;
const LOOK_EVERY_MS = 10;

/** What is asked of a router here. */
export interface ProbedRouter {
  readonly pool: { readonly facts: Facts };
  readonly control: { probeFailure(endpoint: Endpoint): string };
}

/**
 * Resolves once each replica's first probe has a result and there is at least one replica, at the latest after two seconds, or when
 * `interrupted` settles: to false in that case, else to true. `noticed` is called when it takes long enough to be noticed, with the number of replicas waited for.
 */
export async function firstProbes(
  router: ProbedRouter,
  clock: Clock,
  interrupted: Promise<void>,
  noticed: (waitedFor: number) => void,
): Promise<boolean> {
  let isInterrupted = false;
  void interrupted.then(() => {
    isInterrupted = true;
  });
  const startMs = clock.now();
  let isNoticed = false;
  while (!isInterrupted && clock.now() - startMs < LONGEST_MS) {
    const waitedFor = unprobed(router);
    if (waitedFor === 0 && router.pool.facts.endpoints.length > 0) break;
    if (!isNoticed && clock.now() - startMs >= NOTICED_MS) {
      isNoticed = true;
      noticed(waitedFor);
    }
    await new Promise<void>((resolve) => clock.after(LOOK_EVERY_MS, resolve));
  }
  return !isInterrupted;
}

/** Replicas whose first probe has no result yet. */
function unprobed({ pool, control }: ProbedRouter): number {
  return pool.facts.endpoints.filter((endpoint) => endpoint.phase === "starting" && control.probeFailure(endpoint) === "").length;
}
