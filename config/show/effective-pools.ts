import type { PoolPlan } from "../../core/router-config.ts";
import type { LoadedConfig } from "../load.ts";
import { isOfPool } from "../pools/merged-document.ts";
import { shownFallback } from "../pools/schema.ts";
import { type ConfigDocument, readDocuments } from "../read/documents.ts";
import { sortByKind } from "../read/kinds.ts";
import { type Path, pathText, placeText } from "../read/problems.ts";
import { featuresOf, isWritten, leavesOf, pluginsOf, poolOf, profilesOf, shownPlugins } from "./effective-parts.ts";

/** A Pool document as it runs, and where each value comes from. */
export interface EffectivePool {
  readonly document: {
    readonly apiVersion: string;
    readonly kind: "Pool";
    readonly metadata: { readonly name: string };
    readonly spec: Readonly<Record<string, unknown>>;
  };
  /** As those of the Router document. What a Pool has from there has the place where it stands there. */
  readonly origins: Readonly<Record<string, string>>;
}

/** The Pool documents with every default filled in, and with what they have from the Router document. */
export function effectivePools(loaded: LoadedConfig): readonly EffectivePool[] {
  if (loaded.pools.length === 0) return [];
  const documents = loaded.texts.flatMap(({ file, text }) => sortByKind(readDocuments(file, text, [])).Pool);
  return loaded.pools.map((pool) =>
    effectivePool(
      pool,
      documents.find((document) => nameOf(document) === pool.name),
      loaded,
    ),
  );
}

function effectivePool(pool: PoolPlan, document: ConfigDocument | undefined, loaded: LoadedConfig): EffectivePool {
  const { name, models, headers, keys, fallback, plan } = pool;
  const plugins = pluginsOf(plan);
  const { name: _, ...replicas } = poolOf(plan.config);
  const spec = {
    ...(models.length > 0 && { models }),
    ...(headers.size > 0 && { headers: Object.fromEntries(headers) }),
    ...(keys.length > 0 && { keys }),
    ...(fallback.length > 0 && { fallback: fallback.map(shownFallback) }),
    pool: replicas,
    plugins: shownPlugins(plugins),
    profiles: profilesOf(plan),
    ...featuresOf(
      plan,
      loaded.sections.filter(({ section }) => section.inPools !== undefined),
    ),
    retries: plan.config.settings.retries,
  };
  const originOf = (path: Path): string => {
    const [, section, index] = path;
    if (section === "plugins") return placeText(plugins[Number(index)]?.position) ?? "default";
    // The default filters stand in front of what is written, and names of headers are in lower case here: the whole has one origin.
    const end = (section === "headers" ? 1 : path.indexOf("plugins")) + 1;
    const place = end === 0 ? path : path.slice(0, end);
    const from = document === undefined || !isOfPool(document, place) ? loaded : document;
    return (isWritten(from.positionOf, place) ? placeText(from.positionOf(place)) : undefined) ?? "default";
  };
  const origins = Object.fromEntries(leavesOf(spec, ["spec"]).map((path) => [pathText(path), originOf(path)]));
  return { document: { apiVersion: "signalbox/v1", kind: "Pool", metadata: { name }, spec }, origins };
}

function nameOf({ value }: ConfigDocument): string | undefined {
  return (value as { readonly metadata?: { readonly name?: string } }).metadata?.name;
}
