import { listed } from "../../../config/read/differences.ts";
import type { Resource } from "../../../config/read/fit.ts";
import { reportIssues } from "../../../config/read/issues.ts";
import { didYouMean, type Finding, type Path, problemAt, quoted, type Report } from "../../../config/read/problems.ts";
import { nameInRules, type PlacedRule } from "../../../config/rewrites/read.ts";
import { GUARD_ANNOTATION, type RewriteDocument } from "../../../config/rewrites/schema.ts";
import { orElse } from "../../../config/schema/section.ts";
import type { ConfigAround, Section } from "../../../config/section.ts";
import { z } from "../../../core/contract/options.ts";
import { targetLabel } from "../../../core/report/target-label.ts";
import type { FeatureConfigs } from "../../../core/settings.ts";
import { type GuardSpec, guardSchema } from "./guard-schema.ts";

/** When one target of a rule is stopped, with every default filled in. Plain data. */
export interface GuardConfig {
  /** The rule's and the target's names, such as "food-review/0 food-review-v2". */
  readonly name: string;
  readonly rule: string;
  readonly target: string;
  /** The target that it is compared with. */
  readonly against: string;
  /** Where the rule is: its resource, and its index there. */
  readonly place: { readonly namespace: string; readonly resource: string; readonly index: number };
  /** Header whose value pins a client to one target; "" for none. */
  readonly stickyHeader: string;
  /** How much worse than the other one it may be: points of the error rate, part of the time to the first byte. */
  readonly worseBy: { readonly errorRate: number | undefined; readonly ttft: number | undefined };
  /** 1 minus the probability that it ever stops a target that is not worse; in (0, 1). */
  readonly confidence: number;
  /** Requests to the target before which it is not stopped. */
  readonly minRequests: number;
  /** It is written in an annotation of the rewrite. */
  readonly isAnnotation: boolean;
}

/** `spec.guards`, and the rewrites' annotations. */
export const guardSection = {
  key: "guards",
  schema: orElse<readonly GuardSpec[]>(
    z.array(guardSchema).describe("Targets of rewrites that are stopped when they are worse than another target of their rule."),
    [],
  ),
  of: (features: FeatureConfigs) => (features.get("guards") ?? []) as readonly GuardConfig[],
  read(written: readonly GuardSpec[], around) {
    const guards = readGuards(written, around);
    for (const { rule } of guards) around.shuffle(rule);
    return guards;
  },
  /** Annotations are printed with their rewrites. */
  written(config) {
    const own = config.filter(({ isAnnotation }) => !isAnnotation);
    return own.length === 0 ? undefined : own.map(specOfGuard);
  },
  summary: (config) => (config.length === 0 ? undefined : [`guards    ${config.length}`, config.map(guardText)]),
  changes: (before, after) => listed("guard", before, after),
} satisfies Section<readonly GuardSpec[], readonly GuardConfig[]> & { readonly of: unknown };

function specOfGuard({ rule, target, against, worseBy, confidence, minRequests }: GuardConfig) {
  return { rule, target, against, worseBy, confidence, minRequests };
}

function guardText({ rule, target, against, worseBy, confidence, minRequests }: GuardConfig): string {
  const { errorRate, ttft } = worseBy;
  const margins = [
    ...(errorRate === undefined ? [] : [`error rate by ${percent(errorRate).replace("%", " points")}`]),
    ...(ttft === undefined ? [] : [`first byte by ${percent(ttft)}`]),
  ];
  const when = `worse than ${against} (${margins.join(", ")}) at confidence ${percent(confidence)}`;
  return `${rule} stops ${target} when it is ${when}, after ${minRequests} requests at the earliest`;
}

const percent = (share: number) => `${Math.round(share * 1000) / 10}%`;

type RewriteResource = Resource<RewriteDocument>;

/** A guard as it was written, and its place. */
interface WrittenGuard {
  readonly spec: GuardSpec;
  readonly isAnnotation: boolean;
  /** For what is wrong in the guard itself. */
  readonly refuse: (key: keyof GuardSpec, finding: Finding) => void;
  /** For what it names and is not there. */
  readonly miss: (key: keyof GuardSpec, finding: Finding) => void;
}

/**
 * All guards, of the Router document and of the rewrites' annotations. A guard of the Router document that names a rule or a target
 * that is not there guards nothing, which is a warning only: a rollout that is taken back by removing its target must not be
 * refused because of the guard.
 */
function readGuards(specs: readonly GuardSpec[], around: ConfigAround): readonly GuardConfig[] {
  const { resources, rules } = around;
  const written = [...routerGuards(specs, around), ...resources.flatMap((resource) => annotatedGuards(resource, resources))];
  const found = new Map<string, GuardConfig>();
  for (const guard of written) {
    for (const config of resolved(guard, rules)) {
      if (!found.has(config.name)) found.set(config.name, config);
      else
        guard.refuse("target", { found: `a second guard of ${quoted(config.target)} in the rule ${config.rule}`, wanted: "one" });
    }
  }
  return [...found.values()];
}

function routerGuards(specs: readonly GuardSpec[], { router, warnings }: ConfigAround): readonly WrittenGuard[] {
  const { positionOf, report } = router;
  return specs.map((spec, index) => {
    const at = (key: keyof GuardSpec): Path => ["spec", "guards", index, key];
    return {
      spec,
      isAnnotation: false,
      refuse: (key, finding) => report(at(key), finding),
      miss: (key, finding) => warnings.push(problemAt(positionOf(at(key)), at(key), finding)),
    };
  });
}

/** Such as "target=v2 errorRate=2% rule=0; target=v3": `rule` is an index, and may be left out for all rules that have the target. */
function annotatedGuards(resource: RewriteResource, resources: readonly RewriteResource[]): readonly WrittenGuard[] {
  const { metadata } = resource.document;
  const { annotations = {} } = metadata;
  const path: Path = ["metadata", "annotations", GUARD_ANNOTATION];
  refuseSimilarKeys(Object.keys(annotations), resource.report);
  const text = annotations[GUARD_ANNOTATION];
  // What is missing in a resource with problems may be what had them.
  if (text === undefined || resource.wasCut(path) || resource.wasCut(["spec"])) return [];
  const refuse = (_: keyof GuardSpec, finding: Finding) => resource.report(path, finding);
  const name = nameInRules(resource, resources);
  return text
    .split(/[;\n]/)
    .filter((part) => part.trim() !== "")
    .flatMap((part) => {
      const spec = specOf(part, name, (finding) => resource.report(path, finding));
      return spec === undefined ? [] : [{ spec, isAnnotation: true, refuse, miss: refuse }];
    });
}

function refuseSimilarKeys(keys: readonly string[], report: Report): void {
  for (const key of keys) {
    if (!key.startsWith("signalbox/") || key === GUARD_ANNOTATION) continue;
    const finding = {
      found: `the unknown annotation ${quoted(key)}`,
      wanted: quoted(GUARD_ANNOTATION),
      hint: didYouMean(key, [GUARD_ANNOTATION]),
    };
    report(["metadata", "annotations", key], finding, "key");
  }
}

const WORDS = ["target", "against", "errorRate", "ttft", "confidence", "minRequests", "rule"];

/** The guard that one part of an annotation describes; undefined if it is reported. */
function specOf(part: string, resourceName: string, refuse: (finding: Finding) => void): GuardSpec | undefined {
  const values = new Map<string, string | number>();
  for (const word of part.trim().split(/\s+/)) {
    const at = word.indexOf("=");
    const key = at === -1 ? word : word.slice(0, at);
    if (at === -1 || !WORDS.includes(key) || values.has(key)) {
      const hint = at === -1 ? "Write KEY=VALUE." : didYouMean(key, WORDS);
      refuse({ found: `${quoted(word)} in a guard`, wanted: `each of ${WORDS.join(", ")} once at most, as KEY=VALUE`, hint });
      return undefined;
    }
    const value = word.slice(at + 1);
    values.set(key, /^\d+(\.\d+)?$/.test(value) && !["target", "against", "rule"].includes(key) ? Number(value) : value);
  }
  const { rule, errorRate, ttft, ...others } = Object.fromEntries(values);
  const worseBy = { ...(errorRate !== undefined && { errorRate }), ...(ttft !== undefined && { ttft }) };
  const value = {
    ...others,
    rule: rule === undefined ? resourceName : `${resourceName}/${rule}`,
    ...(Object.keys(worseBy).length > 0 && { worseBy }),
  };
  const parsed = guardSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  reportIssues(parsed.error.issues, {
    schema: guardSchema,
    value,
    base: [],
    report: (path, { found, ...finding }) => refuse({ ...finding, found: `${found} for ${path.join(".")} in a guard` }),
  });
  return undefined;
}

/** The guards of all rules that it means. */
function resolved(guard: WrittenGuard, rules: readonly PlacedRule[]): readonly GuardConfig[] {
  const { spec, refuse, miss } = guard;
  if (spec.against === spec.target) {
    refuse("against", { found: `${quoted(spec.target)} against itself`, wanted: "another target of the rule, or none" });
    return [];
  }
  const named = rules.filter(({ rule, resourceName }) => spec.rule === rule.name || spec.rule === resourceName);
  if (named.length === 0) {
    const names = rules.flatMap(({ rule, resourceName }) => [resourceName, rule.name]);
    const hint = () => didYouMean(spec.rule, names) || "The guard guards nothing.";
    miss("rule", {
      found: `${quoted(spec.rule)}, which is no rewrite`,
      wanted: "the name of a rewrite, or of one of its rules",
      hint,
    });
    return [];
  }
  const withTarget = named.filter(({ rule }) => rule.targets.some((each) => targetLabel(each) === spec.target));
  if (withTarget.length === 0) {
    miss(
      "target",
      unknownTarget(
        spec.target,
        named.flatMap(({ rule }) => rule.targets),
      ),
    );
    return [];
  }
  return withTarget.flatMap((placed) => guardOf(guard, placed) ?? []);
}

function guardOf({ spec, isAnnotation, miss }: WrittenGuard, { rule, resource, index }: PlacedRule): GuardConfig | undefined {
  const { target, worseBy, confidence, minRequests } = spec;
  const others = rule.targets.filter((each) => targetLabel(each) !== target);
  const [first] = others;
  if (first === undefined) {
    const found = `${quoted(target)}, the only target of the rule ${rule.name}`;
    miss("target", { found, wanted: "a rule with another target that can serve instead", hint: "The guard guards nothing." });
    return undefined;
  }
  if (spec.against !== undefined && !others.some((each) => targetLabel(each) === spec.against)) {
    miss("against", unknownTarget(spec.against, others));
    return undefined;
  }
  const largest = others.reduce((best, other) => (other.weight > best.weight ? other : best), first);
  const { metadata } = resource.document;
  return {
    name: `${rule.name} ${target}`,
    rule: rule.name,
    target,
    against: spec.against ?? targetLabel(largest),
    place: { namespace: metadata.namespace ?? "default", resource: metadata.name, index },
    stickyHeader: rule.stickyHeader,
    worseBy,
    confidence,
    minRequests,
    isAnnotation,
  };
}

function unknownTarget(name: string, targets: PlacedRule["rule"]["targets"]): Finding {
  const names = [...new Set(targets.map(targetLabel))];
  const hint = () => didYouMean(name, names) || "The guard guards nothing.";
  return { found: `${quoted(name)}, which is no such target`, wanted: `one of: ${names.join(", ")}`, hint };
}
