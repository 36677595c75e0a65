import { withComments } from "../../config/show/format.ts";
import { printable } from "../../core/contract/printable.ts";
import { counted } from "../../core/report/number-text.ts";
import type { Draft, DraftPool } from "./draft.ts";
import { EFFECTS, type Effect, type Finding } from "./finding.ts";

const MOST_LINES = 300;
const MOST_PLACES = 5;
/** So many settings of which the same is said are listed below it. */
const MANY = 3;
const WIDTH = 110;
const MOST_WEIGHT = 1_000_000;
const LARGEST_SCALE = 1000;

/** The config as YAML: a comment for each finding, then the Router document, then rewrites. */
export function configOf(draft: Draft, title: string): string {
  const { pool, ...spec } = draft.spec as { readonly pool?: object };
  const own = draft.endpoints.filter(({ url }) => !draft.pools.some(({ urls }) => urls.has(url)));
  const endpoints = own.length > 0 ? { endpoints: own } : {};
  const router = {
    apiVersion: "signalbox/v1",
    kind: "Router",
    spec: { ...spec, ...((pool !== undefined || own.length > 0) && { pool: { ...pool, ...endpoints } }) },
  };
  const commentOf = (path: string) => {
    const origin = draft.origins.get(path);
    return origin === undefined ? undefined : printable(`from ${origin}`);
  };
  const pools = draft.pools.map((each) => `---\n${withComments(escaped(poolDocumentOf(each, draft)), originIn(each))}`);
  const rewrites = rewritesOf(draft).map((document) => `---\n${withComments(escaped(document), () => undefined)}`);
  return [...headOf(draft.findings, title), withComments(escaped(router), commentOf), ...pools, ...rewrites].join("");
}

/** What each setting became, in lines of comment, by effect. */
function headOf(findings: readonly Finding[], title: string): readonly string[] {
  const parts = EFFECTS.flatMap((effect) => {
    const lines = linesOf(findings, effect, MANY);
    return lines.length === 0 ? [] : ["#", `# ${effect}:`, ...lines.map((line) => `#   ${line}`)];
  });
  return [`# Made of ${title} by signalbox import. What became of each setting:`, ...parts, ""].map((line) => `${line}\n`);
}

/**
 * The findings of one effect, a line each; those that say the same of one setting are in one line. If the same is said of `many` settings
 * or more, it is said once.
 */
export function linesOf(findings: readonly Finding[], effect: Effect, many = Number.POSITIVE_INFINITY): readonly string[] {
  const byWhy = new Map<string, Map<string, number[]>>();
  for (const finding of findings) {
    if (finding.effect !== effect) continue;
    const settings = byWhy.get(finding.why) ?? new Map<string, number[]>();
    byWhy.set(finding.why, settings);
    const lines = settings.get(finding.setting) ?? [];
    settings.set(finding.setting, lines);
    if (finding.line > 0) lines.push(finding.line);
  }
  const all = [...byWhy].flatMap(([why, settings]) => {
    const names = [...settings].map(([setting, lines]) => printable(`${setting}${placeText(lines)}`));
    return names.length < many ? names.map((name) => `${name}: ${printable(why)}`) : [`${printable(why)}:`, ...wrapped(names)];
  });
  return all.length <= MOST_LINES ? all : [...all.slice(0, MOST_LINES), `… and ${counted(all.length - MOST_LINES, "more line")}`];
}

/** Names in lines of a readable length. */
function wrapped(names: readonly string[]): readonly string[] {
  const lines: string[] = [];
  for (const name of names) {
    const last = lines.at(-1);
    if (last === undefined || last.length + name.length > WIDTH) lines.push(`  ${name}`);
    else lines[lines.length - 1] = `${last}, ${name}`;
  }
  return lines;
}

function placeText(lines: readonly number[]): string {
  const all = [...new Set(lines)];
  if (all.length === 0) return "";
  const more = all.length > MOST_PLACES ? `, … ${all.length} in all` : "";
  return ` (line ${all.slice(0, MOST_PLACES).join(", ")}${more})`;
}

/** The text where ${NAME} stands for no variable. */
export function asItStands(text: string): string {
  return text.replaceAll("${", () => "$${");
}

function poolDocumentOf({ name, urls, fallback }: DraftPool, { endpoints }: Draft): object {
  const pool = { endpoints: endpoints.filter(({ url }) => urls.has(url)) };
  const spec = { pool, ...(fallback.length > 0 && { fallback }) };
  return { apiVersion: "signalbox/v1", kind: "Pool", metadata: { name }, spec };
}

const originIn =
  ({ origin }: DraftPool) =>
  (path: string) =>
    path === "spec.fallback" && origin !== "" ? printable(`from ${origin}`) : undefined;

/** A rewrite for each name that is not the replica's own, or whose replicas are in a pool beside the router's own. */
function rewritesOf({ aliases, pools }: Draft): readonly object[] {
  const rules = [...aliases].flatMap(([model, all]) => {
    const [first, ...others] = [...all];
    const pool = pools.find(({ models }) => models.has(model))?.name;
    if (first === undefined || (pool === undefined && others.length === 0 && first[0] === model)) return [];
    const weights = wholeWeights([...all.values()]);
    const weighted = [...all.keys()].map((modelRewrite, index) => ({
      modelRewrite,
      ...(others.length > 0 && { weight: weights[index] }),
      ...(pool !== undefined && { pool }),
    }));
    return [{ matches: [{ model: { type: "Exact", value: model } }], targets: weighted }];
  });
  if (rules.length === 0) return [];
  return [
    {
      apiVersion: "llm-d.ai/v1alpha2",
      kind: "InferenceModelRewrite",
      metadata: { name: "imported" },
      spec: { poolRef: { name: "default" }, rules },
    },
  ];
}

/** The same shares in whole numbers that a rewrite takes: exactly where small ones say them. */
function wholeWeights(weights: readonly number[]): readonly number[] {
  const most = Math.max(...weights);
  if (most === 0) return weights.map(() => 1);
  for (let scale = 1; scale <= LARGEST_SCALE && most * scale <= MOST_WEIGHT; scale++) {
    const scaled = weights.map((weight) => weight * scale);
    if (scaled.every((each) => Math.abs(each - Math.round(each)) < 1e-6)) return scaled.map(Math.round);
  }
  return weights.map((weight) => Math.ceil((weight / most) * LARGEST_SCALE));
}

/** The same with texts that mean what they say: ${NAME} stands for no variable. */
function escaped(value: unknown): unknown {
  if (typeof value === "string") return asItStands(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(escaped);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, escaped(inner)]));
}
