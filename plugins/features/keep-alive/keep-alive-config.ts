import { type ParserMade, parsersMade } from "../../../config/plugins/parser-made.ts";
import { didYouMean, type Finding, problemAt, quoted } from "../../../config/read/problems.ts";
import { section, writtenOf } from "../../../config/schema/section.ts";
import { urlPath } from "../../../config/schema/values.ts";
import type { ConfigAround, Section } from "../../../config/section.ts";
import { z } from "../../../core/contract/options.ts";
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
  read(written: Config, around): Config {
    const { listed } = around;
    // Not while a plugin has problems, because the path may be that one's.
    const isKnown = !listed.hasNamelessBroken && listed.brokenNames.size === 0;
    if (written !== undefined && isKnown) checkPaths(written, around);
    return written;
  },
  written: (config) => config && writtenOf(KEEP_ALIVE, config),
} satisfies Section<Config, Config> & { readonly of: unknown };

/**
 * Reports every path of `spec.keepAlive` that no parser serves: nothing would ever be sent there. Warns of one whose responses are no event
 * streams, and of one where no head can be sent early.
 */
function checkPaths(keepAlive: KeepAliveSettings, { instances, router, warnings }: ConfigAround): void {
  const parsers = parsersMade(instances());
  if (parsers === undefined) return;
  // The last one that serves a path has it.
  const served = new Map(parsers.flatMap((parser) => parser.routes.map(({ path }) => [path, parser] as const)));
  for (const [index, path] of keepAlive.paths.entries()) {
    const parser = served.get(path);
    const at = ["spec", "keepAlive", "paths", index];
    if (parser === undefined) {
      const finding = { found: `${quoted(path)}, which no parser serves`, wanted: `one of: ${[...served.keys()].join(", ")}` };
      router.report(at, { ...finding, hint: didYouMean(path, served.keys()) });
      continue;
    }
    const finding = uselessAt(path, parser, keepAlive);
    if (finding !== undefined) warnings.push(problemAt(router.positionOf(at), at, finding));
  }
}

function uselessAt(path: string, { responses, instance }: ParserMade, { beforeHeadMs }: KeepAliveSettings): Finding | undefined {
  if (responses?.[path]?.events !== undefined) return undefined;
  const wanted = "a path with event streams, such as /v1/chat/completions";
  if (responses?.[path] !== undefined) return { found: `${quoted(path)}, whose responses are no event streams`, wanted };
  if (beforeHeadMs === 0) return undefined;
  const found = `beforeHeadMs for ${quoted(path)}, of whose responses the parser ${quoted(instance.entry.name)} knows nothing, so that no head is sent early there`;
  return { found, wanted };
}
