import type { Instance } from "../../../config/plugins/listed.ts";
import { trialHost } from "../../../config/plugins/trial-host.ts";
import { didYouMean, quoted, type Report } from "../../../config/read/problems.ts";
import { section, writtenOf } from "../../../config/schema/section.ts";
import { urlPath } from "../../../config/schema/values.ts";
import type { Section } from "../../../config/section.ts";
import { z } from "../../../core/contract/options.ts";
import type { Parser } from "../../../core/contract/parser.ts";
import { thrownMessage } from "../../../core/contract/thrown-text.ts";
import { seconds, time, type ValuesOf } from "../../../core/settings/row.ts";
import type { FeatureConfigs } from "../../../core/settings.ts";

const KEEP_ALIVE = {
  // Less than the shortest idle timeout that load balancers commonly have, half a minute.
  periodMs: seconds("periodSeconds", 15_000, "How long a stream may be silent before the client gets an event without meaning."),
  beforeHeadMs: time(
    0,
    "A request for a stream that has no response after so long gets status 200 and comments; what fails later is an error event. 0: never. docs/failures.md says what it costs.",
    0,
  ),
};

/** What is sent to clients while a replica is silent. */
export interface KeepAliveSettings extends ValuesOf<typeof KEEP_ALIVE> {
  /** Paths whose streams get them. */
  readonly paths: readonly string[];
}

const keepAlive = section({
  ...KEEP_ALIVE,
  paths: z
    .array(urlPath.describe("A path that a parser serves, such as /v1/chat/completions."))
    .min(1, "at least one path")
    .describe("Paths whose event streams get them: a comment, or a ping on paths of the Anthropic API."),
});

type Config = KeepAliveSettings | undefined;

/** `spec.keepAlive`. */
export const keepAliveSection = {
  key: "keepAlive",
  schema: keepAlive
    .describe("What clients get while a replica is silent inside an event stream, or before one. Default nothing.")
    .optional() as z.ZodType<Config>,
  of: (features: FeatureConfigs) => features.get("keepAlive") as Config,
  read(written: Config, { listed, instances, router }): Config {
    // Not while a plugin has problems, because the path may be that one's.
    const isKnown = !listed.hasNamelessBroken && listed.brokenNames.size === 0;
    if (written !== undefined && isKnown) checkPaths(written, instances(), router.report);
    return written;
  },
  written: (config) => config && writtenOf(KEEP_ALIVE, config),
} satisfies Section<Config, Config> & { readonly of: unknown };

/** Reports every path of `spec.keepAlive` that no parser serves: nothing would ever be sent there. */
function checkPaths(keepAlive: KeepAliveSettings, instances: readonly Instance[], report: Report): void {
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
  try {
    const parser = definition.create(entry.parameters, trialHost(entry, stopping.signal)) as Parser;
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
