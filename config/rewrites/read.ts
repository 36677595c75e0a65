import type { RewriteRule } from "../../core/router-config.ts";
import type { Resource } from "../read/fit.ts";
import { type Path, type Problem, placeText, problemAt, quoted } from "../read/problems.ts";
import { checkPool, refuseDuplicates } from "./pool-resources.ts";
import type { RewriteDocument, RewriteDocumentRule } from "./schema.ts";

type RewriteResource = Resource<RewriteDocument>;

/** A rewrite of the files, or of a config that runs. */
interface Rewrite {
  readonly document: RewriteDocument;
}

/** A rule and its place. */
export interface PlacedRule {
  readonly rule: RewriteRule;
  readonly resource: RewriteResource;
  /** The first part of the rule's name. */
  readonly resourceName: string;
  /** Which one of its resource it is. */
  readonly index: number;
}

/** All rules in file order. Reports what is wrong with a resource. `pool` is undefined if the Router document has no valid pool name. */
export function readRules(resources: readonly RewriteResource[], pool: string | undefined): readonly PlacedRule[] {
  refuseDuplicates(resources);
  if (pool !== undefined) for (const resource of resources) checkPool(resource, pool);
  return resources.flatMap((resource) => rulesOf(resource, nameInRules(resource, resources)));
}

/**
 * The rules in the order in which they are matched: rules for named models before rules for every model, then by age of the resource
 * (oldest first), its name, and the place in its list. Resources without a creationTimestamp come last, in file order.
 */
export function inMatchingOrder(rules: readonly PlacedRule[], warnings: Problem[]): readonly RewriteRule[] {
  const byResource = [...rules].sort((one, other) => byAge(one.resource, other.resource));
  warnings.push(...shadowedMatches(byResource));
  const inOrder = byResource.map(({ rule }) => rule);
  return [...inOrder.filter(({ models }) => models.length > 0), ...inOrder.filter(({ models }) => models.length === 0)];
}

/** A warning for each match that an earlier rule takes, so that it never applies. */
function shadowedMatches(rules: readonly PlacedRule[]): readonly Problem[] {
  const takers = new Map<string, string>();
  /** Resources with a match that applies. */
  const winners = new Set<RewriteResource>();
  const shadowed = rules.flatMap((placed) =>
    matchesOf(placed).flatMap(({ model, at }) => {
      const { rule, resource } = placed;
      const what = model === undefined ? "every other model" : `the model ${quoted(model)}`;
      const position = resource.positionOf(at);
      const taker = takers.get(what);
      if (taker === undefined) {
        takers.set(what, `${rule.name} (${placeText(position)})`);
        winners.add(resource);
        return [];
      }
      const found = `a match for ${what}, which the rule ${taker} takes first`;
      const wanted = "one rule for each model: remove this match or that one";
      return [{ resource, problem: problemAt(position, at, { found, wanted }) }];
    }),
  );
  return shadowed.map(({ resource, problem }) => ({ ...problem, conflict: winners.has(resource) ? "part" : "whole" }));
}

/** A rule's matches with their places; the model is undefined where the rule matches every request. */
function matchesOf({ resource, index: at }: PlacedRule): readonly { readonly model: string | undefined; readonly at: Path }[] {
  const path = ["spec", "rules", at];
  if (resource.wasCut([...path, "matches"])) return [];
  const { matches = [] } = resource.document.spec.rules[at]!;
  if (matches.length === 0) return [{ model: undefined, at: path }];
  return matches.map(({ model: { value } }, index) => ({ model: value, at: [...path, "matches", index, "model", "value"] }));
}

/** Compares by age. Array.sort is stable, so equal ones stay in file order. */
function byAge({ document: { metadata: a } }: RewriteResource, { document: { metadata: b } }: RewriteResource): number {
  if (!a.creationTimestamp || !b.creationTimestamp) return Number(!a.creationTimestamp) - Number(!b.creationTimestamp);
  return Date.parse(a.creationTimestamp) - Date.parse(b.creationTimestamp) || compareText(a.name, b.name);
}

const compareText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** The resource's name in the names of its rules: with its namespace if another namespace has the same name. */
export function nameInRules({ document: { metadata } }: Rewrite, resources: readonly Rewrite[]): string {
  const isShared = resources.some(
    ({ document }) => document.metadata.name === metadata.name && document.metadata.namespace !== metadata.namespace,
  );
  return isShared ? `${metadata.namespace ?? "default"}/${metadata.name}` : metadata.name;
}

function rulesOf(resource: RewriteResource, resourceName: string): readonly PlacedRule[] {
  return resource.document.spec.rules.map((rule, index) => {
    checkWeights(rule.targets, ["spec", "rules", index, "targets"], resource);
    const read: RewriteRule = {
      name: `${resourceName}/${index}`,
      models: [...new Set((rule.matches ?? []).map(({ model }) => model.value))],
      targets: rule.targets.map(({ modelRewrite, weight = 1, pool }) => ({ name: modelRewrite, weight, ...(pool && { pool }) })),
      stickyHeader: rule.sticky?.header.toLowerCase() ?? "",
      onUnavailable: rule.onUnavailable ?? "refuse",
    };
    return { rule: read, resource, resourceName, index };
  });
}

function checkWeights(targets: RewriteDocumentRule["targets"], path: Path, { report, wasCut }: RewriteResource): void {
  if (wasCut(path)) return;
  const bare = targets.findIndex(({ weight }) => weight === undefined);
  if (bare !== -1 && targets.some(({ weight }) => weight !== undefined)) {
    report([...path, bare], {
      found: "a target without a weight beside one with",
      wanted: "a weight on every target, or on none",
    });
  } else if (targets.every(({ weight }) => weight === 0)) {
    report(path, { found: "only weights of 0", wanted: "at least one weight above 0" });
  }
}
