import { systemClock } from "../../core/contract/clock.ts";
import { silentLog } from "../../core/contract/log.ts";
import type { Parser } from "../../core/contract/parser.ts";
import type { PluginHost } from "../../core/contract/plugin.ts";
import { thrownMessage } from "../../core/contract/thrown-text.ts";
import type { KeepAliveSettings } from "../../core/settings.ts";
import { didYouMean, quoted, type Report } from "../read/problems.ts";
import { secretAt } from "../read/secret.ts";
import type { Instance } from "./listed.ts";

/** Reports every path of `spec.keepAlive` that no parser serves: nothing would ever be sent there. */
export function checkKeepAlivePaths(keepAlive: KeepAliveSettings, instances: readonly Instance[], report: Report): void {
  // Only a parser itself knows its paths, so each one is made for a moment. One that can't be made is reported there.
  const routes = instances.filter(({ definition }) => definition.kind === "parser").map(routesOf);
  if (routes.includes(undefined)) return;
  const served = new Set(routes.flatMap((list = []) => list.map(({ path }) => path)));
  for (const [index, path] of keepAlive.paths.entries()) {
    if (served.has(path)) continue;
    const finding = { found: `${quoted(path)}, which no parser serves`, wanted: `one of: ${[...served].join(", ")}` };
    report(["spec", "keepAlive", "paths", index], { ...finding, hint: didYouMean(path, served) });
  }
}

function routesOf({ entry, definition, path, report }: Instance): Parser["routes"] | undefined {
  const stopping = new AbortController();
  const host: PluginHost = {
    name: entry.name,
    folder: entry.folder,
    clock: systemClock,
    random: Math.random,
    log: silentLog,
    output: { print: () => {}, isTerminal: false },
    signal: stopping.signal,
    keep: (_version, make) => make(),
    secret: (from) => secretAt(from, entry.secrets),
    usePrefixIndex: () => {},
  };
  try {
    const parser = definition.create(entry.parameters, host) as Parser;
    const { routes } = parser;
    parser.dispose?.();
    return routes;
  } catch (thrown) {
    report(path, { found: "a parser that can't be made", hint: thrownMessage(thrown) });
    return undefined;
  } finally {
    stopping.abort();
  }
}
