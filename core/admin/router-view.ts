import type { Clock } from "../contract/clock.ts";
import type { RouterView } from "../contract/router-view.ts";
import type { Router } from "../router.ts";

/** What the admin port shows of a router. */
export type ShownRouter = Pick<
  Router,
  | "config"
  | "facts"
  | "load"
  | "memory"
  | "startedAtS"
  | "prefixIndex"
  | "connectionsTo"
  | "ejectionsOf"
  | "isPanicking"
  | "slowPlugins"
  | "probeFailure"
>;

/** The router as it is now, for the pages of observers. */
export function viewOf(router: ShownRouter, clock: Clock, acceptPauses: number): RouterView {
  const { config, facts, load, memory, startedAtS, prefixIndex } = router;
  return {
    clock,
    startedAtS,
    acceptPauses,
    endpoints: facts.endpoints,
    load: load.at(clock.now()),
    mappings: config.rewriters.flatMap(({ plugin }) => plugin.mappings ?? []),
    prefixIndex: prefixIndex && {
      entries: prefixIndex.entries,
      maxEntries: prefixIndex.maxEntries,
      bytes: prefixIndex.bytes,
    },
    memory: {
      limitBytes: memory.limitBytes,
      bodyBytes: memory.bodyBytes,
      unreadBytes: memory.unreadBytes,
      refusals: memory.refusals,
    },
    connectionsTo: (endpoint) => router.connectionsTo(endpoint),
    ejectionsOf: (endpoint) => router.ejectionsOf(endpoint),
    probeFailure: (endpoint) => router.probeFailure(endpoint),
  };
}
