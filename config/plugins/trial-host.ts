import { systemClock } from "../../core/contract/clock.ts";
import { silentLog } from "../../core/contract/log.ts";
import type { PluginHost } from "../../core/contract/plugin.ts";
import { secretAt } from "../../core/control/secret-at.ts";
import type { PluginEntry } from "../../core/router-config.ts";

/** The host of a plugin that is made for a moment, to look at it: what the plugin logs, prints or asks for goes nowhere. */
export function trialHost(
  { name, folder, secrets }: PluginEntry,
  signal: AbortSignal,
  plugins: PluginHost["plugins"] = () => [],
): PluginHost {
  return {
    name,
    folder,
    clock: systemClock,
    random: Math.random,
    log: silentLog,
    output: { print: () => {}, isTerminal: false },
    signal,
    keep: (_version, make) => make(),
    secret: (from) => secretAt(from, secrets),
    plugins,
    usePrefixIndex: () => {},
  };
}
