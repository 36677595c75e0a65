import assert from "node:assert/strict";
import { type LoadedConfig, loadTexts } from "../../config/load.ts";
import { defaultTypes } from "../../config/plugins/instances.ts";
import { formatProblem } from "../../config/read/problems.ts";
import { z } from "../../core/contract/options.ts";
import { type Definition, defineDiscovery, defineParser, type PluginKind } from "../../core/contract/plugin.ts";
import type { RouterConfig } from "../../core/router-config.ts";
import { builtIns } from "../../plugins/registry.ts";
import { FEATURES } from "../support/section-modules.ts";

const anything = z.looseObject({});
const neverMade = () => {
  throw new Error("Loading a config makes no plugin but parsers");
};

function fake(kind: PluginKind, type: string, options: z.ZodType = z.strictObject({})): Definition {
  return { kind, type, summary: `A ${kind}.`, options, create: neverMade };
}

/** A parser of one path, which has its type in its name; with `isBroken` none can be made. */
const fakeParser = (type: string) =>
  defineParser({
    type,
    summary: "A parser.",
    options: z.looseObject({ isBroken: z.boolean().optional() }),
    create({ isBroken }) {
      if (isBroken) throw new Error("isBroken is set");
      return {
        routes: [{ method: "POST", path: `/v1/${type}` }],
        dialect: "openai",
        keys: [],
        parse: neverMade,
      };
    },
  }) as Definition;

const cacheOptions = z.strictObject({
  blockBytes: z.int().min(16).default(256),
  hash: z.enum(["xxh64", "murmur"]).default("xxh64"),
  tiers: z.array(z.strictObject({ name: z.string(), share: z.number() })).default([]),
});

/** Those that run by default, by the kinds and names of the real ones. */
const DEFAULTS = defaultTypes(builtIns).map(
  ({ kind, type }): Definition => ({
    ...(kind === "parser" ? fakeParser(type) : fake(kind, type, anything)),
    runsByDefault: true,
  }),
);

/** Types with the names of the real defaults, and some more; none but parsers can be created. */
export const registry: ReadonlyMap<string, Definition> = new Map(
  [
    ...DEFAULTS,
    fake("parser", "passthrough", z.strictObject({ paths: z.array(z.string()) })),
    fake("authenticator", "keys", anything),
    fake("rewriter", "model-rewrite", anything),
    fake("filter", "ready"),
    fake("filter", "serves-model"),
    fake("filter", "label-selector", z.strictObject({ matchLabels: z.record(z.string(), z.string()) })),
    fake("scorer", "outstanding-work"),
    fake("scorer", "queue"),
    fake("scorer", "prefix-cache", cacheOptions),
    fake("picker", "max-score"),
    fake("picker", "random"),
    fake("discovery", "static", anything),
    defineDiscovery({ type: "dns", summary: "Asks DNS.", options: z.strictObject({ host: z.string() }), create: neverMade }),
    ...FEATURES,
  ].map((definition) => [definition.type, definition]),
);

/** A Router document with these lines as its spec, starting on line 4. */
export function router(spec: string): string {
  return `apiVersion: signalbox/v1\nkind: Router\nspec:\n${spec}`;
}

/** A complete minimal spec. */
export const POOL = "  pool: { name: llama, endpoints: [{ url: http://gpu1:8000 }] }\n";

export async function loaded(text: string, urls: readonly string[] = []): Promise<LoadedConfig> {
  const result = await loadTexts([{ file: "a.yaml", text }], registry, urls);
  if (result.problems !== undefined) assert.fail(result.problems.map(formatProblem).join("\n"));
  return result;
}

export async function configOf(text: string, urls: readonly string[] = []): Promise<RouterConfig> {
  return (await loaded(text, urls)).config;
}

/** The problems in some texts, as lines. A single text is called "a.yaml", and its lines start with the position. */
export async function problemsOf(
  texts: string | Readonly<Record<string, string>>,
  urls: readonly string[] = [],
): Promise<readonly string[]> {
  const named = typeof texts === "string" ? { "a.yaml": texts } : texts;
  const result = await loadTexts(
    Object.entries(named).map(([file, text]) => ({ file, text })),
    registry,
    urls,
  );
  const lines = (result.problems ?? []).map(formatProblem);
  return typeof texts === "string" ? lines.map((line) => line.replace(/^a\.yaml:/, "")) : lines;
}
