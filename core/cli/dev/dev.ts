import { loadConfig } from "../../../config/load.ts";
import { systemClock } from "../../contract/clock.ts";
import type { Definition } from "../../contract/plugin.ts";
import { type Input, numberOf } from "../frame/command.ts";
import { UsageError } from "../frame/usage.ts";
import { type Front, HTTP, startFront } from "../start/start.ts";
import { sendRequests } from "./own-requests.ts";
import { watchPlugins } from "./plugin-view.ts";

/** Files are looked at so often: a change counts when two looks have found the same. */
const LOOK_MS = 50;

/**
 * `signalbox dev`: a router for the work on plugins. It runs like `start`, takes what is saved at once, sends requests if nobody else
 * does, and says what the plugins made of each. Returns the exit code.
 */
export async function dev(input: Input, registry: ReadonlyMap<string, Definition>): Promise<number> {
  const files = input.all("file");
  if (files.length === 0) throw new UsageError("Name the config that loads your plugin: signalbox dev -f signalbox.yaml");
  const hasDemo = input.has("demo") || (await needsReplicas(files, registry, input.words));
  const perSecond = numberOf(input, "requests", 0, 1000) ?? (hasDemo ? 1 : 0);
  const front: Front = {
    ...HTTP,
    lookMs: LOOK_MS,
    hasDemo,
    running(router, url, say) {
      const stopWatching = watchPlugins(router, say);
      const stopSending = perSecond > 0 ? sendRequests(url, 1000 / perSecond, systemClock) : () => {};
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
