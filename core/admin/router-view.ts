import type { Clock } from "../contract/clock.ts";
import type { RouterView } from "../contract/router-view.ts";
import type { Router } from "../router.ts";

/** The parts of a router that the admin port shows. */
export type ShownRouter = Pick<
  Router,
  "config" | "facts" | "load" | "startedAtS" | "prefixIndex" | "connectionsTo" | "ejectionsOf" | "isPanicking" | "probeFailure"
>;

/** The current state of the router, for the pages of observers. */
export function viewOf(router: ShownRouter, clock: Clock): RouterView {
  const { config, facts, load, startedAtS, prefixIndex } = router;
  return {
    clock,
    startedAtS,
    endpoints: facts.endpoints,
    load: load.at(clock.now()),
    mappings: config.rewriters.flatMap(({ plugin }) => plugin.mappings ?? []),
    prefixIndex: prefixIndex && {
      entries: prefixIndex.entries,
      maxEntries: prefixIndex.maxEntries,
      bytes: prefixIndex.bytes,
    },
    connectionsTo: (endpoint) => router.connectionsTo(endpoint),
    ejectionsOf: (endpoint) => router.ejectionsOf(endpoint),
    probeFailure: (endpoint) => router.probeFailure(endpoint),
  };
}
