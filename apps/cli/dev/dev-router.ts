import type { Input } from "../../../config/command.ts";
import { loadConfig } from "../../../config/load.ts";
import { systemClock } from "../../../core/contract/clock.ts";
import type { Definition } from "../../../core/contract/plugin.ts";
import { numberOf } from "../frame/command.ts";
import type { Front } from "../start/front.ts";
import { HTTP, startFront } from "../start/start.ts";
import { sendRequests } from "./own-requests.ts";
import { watchPlugins } from "./plugin-view.ts";
import { reportVersions } from "./report-versions.ts";

/** Files are looked at so often: a change counts when two looks have found the same. */
const LOOK_MS = 50;
/** Whoever waits for the program to answer wants it back soon: two seconds after the plugin that does not return was named. */
const MOST_STUCK_MS = 3_000;

/**
 * The router of `signalbox dev`. It runs like that of `start`, takes what is saved at once, sends requests if nobody else does, and says
 * what the plugins made of each. Returns the exit code.
 */
export async function runDevRouter(input: Input, registry: ReadonlyMap<string, Definition>): Promise<number> {
  const reportServed = reportVersions();
  const hasDemo = input.has("demo") || (await needsReplicas(input.all("file"), registry, input.words));
  const perSecond = numberOf(input, "requests", 0, 1000) ?? (hasDemo ? 1 : 0);
  const front: Front = {
    ...HTTP,
    lookMs: LOOK_MS,
    mostStuckMs: MOST_STUCK_MS,
    hasDemo,
    showsRequests: true,
    running(router, url, say) {
      const stopWatching = watchPlugins(router, systemClock, say, reportServed);
      const stopSending = perSecond > 0 ? sendRequests(router, url, 1000 / perSecond, systemClock) : () => {};
      return () => {
        stopSending();
        stopWatching();
      };
    },
  };
  return startFront(front, input, registry);
}

/** Whether a replica is all that the config lacks. */
async function needsReplicas(
  files: readonly string[],
  registry: ReadonlyMap<string, Definition>,
  urls: readonly string[],
): Promise<boolean> {
  if (urls.length > 0 || (await loadConfig(files, registry)).problems === undefined) return false;
  return (await loadConfig(files, registry, ["http://127.0.0.1:1"])).problems === undefined;
}
