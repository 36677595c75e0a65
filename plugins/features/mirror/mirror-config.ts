import { didYouMean, quoted, type Report } from "../../../config/read/problems.ts";
import { orElse, section, writtenOf } from "../../../config/schema/section.ts";
import type { Section } from "../../../config/section.ts";
import { z } from "../../../core/contract/options.ts";
import type { RewriteRule } from "../../../core/router-config.ts";
import { count, percent, seconds, type ValuesOf } from "../../../core/settings/row.ts";
import type { FeatureConfigs } from "../../../core/settings.ts";

const MIRROR = {
  percent: percent(100, "Of the rule's requests, how many are copied."),
  maxInFlight: count(16, "Most copies under way at the same time; requests beyond it are not copied.", 1, 1024),
  timeoutMs: seconds("timeoutSeconds", 60_000, "How long one copy may take before it is ended.", 1_000, 3_600_000),
};

/** How much a mirror copies. */
export type MirrorBounds = ValuesOf<typeof MIRROR>;

/** A share of a rule's requests is also sent to a target whose responses are thrown away. */
export interface MirrorSettings extends MirrorBounds {
  /** Name of the rewrite rule. */
  readonly rule: string;
  /** The model name that copies are sent with. */
  readonly target: string;
}

const mirrors = z
  .array(
    section({
      rule: z
        .string()
        .min(1, "the name of a rewrite rule")
        .describe("The rule whose requests are copied: the name of its resource, with /0, /1 … where that has several rules."),
      target: z
        .string()
        .min(1, "the name of a target")
        .describe("The model name that copies are sent with: a target of a rewrite rule, perhaps with the weight 0."),
      ...MIRROR,
    }),
  )
  .max(64, "at most 64 mirrors")
  .describe("Shares of rewrite rules' requests that are also sent to a target whose responses are thrown away. Default none.");

/** `spec.mirrors`. */
export const mirrorSection = {
  key: "mirrors",
  inPools: "own",
  schema: orElse<readonly MirrorSettings[]>(mirrors, []),
  of: (features: FeatureConfigs) => (features.get("mirrors") ?? []) as readonly MirrorSettings[],
  read: (written: readonly MirrorSettings[], { rewrites, router }) =>
    rewrites === undefined ? [] : resolveMirrors(written, rewrites, router.report),
  written: (config) => (config.length === 0 ? undefined : config.map((mirror) => writtenOf(MIRROR, mirror))),
  summary: (config) => (config.length === 0 ? undefined : [`mirrors   ${config.length}`, config.map(mirrorText)]),
} satisfies Section<readonly MirrorSettings[], readonly MirrorSettings[]> & { readonly of: unknown };

function mirrorText({ rule, target, percent, maxInFlight }: MirrorSettings): string {
  return `${percent}% of ${rule} also to ${target}, at most ${maxInFlight} at once`;
}

/**
 * The mirrors with the full names of their rules. Reports rules and targets that are not there, and a target that a rule is mirrored
 * to twice.
 */
function resolveMirrors(
  mirrors: readonly MirrorSettings[],
  rewrites: readonly RewriteRule[],
  report: Report,
): readonly MirrorSettings[] {
  const targets = new Set(rewrites.flatMap((rule) => rule.targets.map(({ name }) => name)));
  const seen = new Set<string>();
  return mirrors.flatMap((mirror, index) => {
    const path = ["spec", "mirrors", index];
    const rule = ruleNamed(mirror.rule, rewrites);
    if (rule === undefined) report([...path, "rule"], unknownRule(mirror.rule, rewrites));
    if (!targets.has(mirror.target)) report([...path, "target"], unknownTarget(mirror.target, targets));
    if (rule === undefined || !targets.has(mirror.target)) return [];
    const key = JSON.stringify([rule.name, mirror.target]);
    if (seen.has(key)) {
      const found = `a second mirror of ${quoted(rule.name)} to ${quoted(mirror.target)}`;
      report(path, { found, wanted: "one mirror for each rule and target" });
    }
    seen.add(key);
    return [{ ...mirror, rule: rule.name }];
  });
}

/** The rule of that name; the name of a resource stands for its only rule. */
function ruleNamed(name: string, rewrites: readonly RewriteRule[]): RewriteRule | undefined {
  const isOnly = !rewrites.some((rule) => rule.name === `${name}/1`);
  return rewrites.find((rule) => rule.name === name || (isOnly && rule.name === `${name}/0`));
}

function unknownRule(name: string, rewrites: readonly RewriteRule[]) {
  const names = rewrites.map((rule) => rule.name);
  const wanted = names.length === 0 ? "a document of kind InferenceModelRewrite beside it" : "the name of a rule";
  const own = names.filter((each) => each.startsWith(`${name}/`));
  const hint =
    own.length > 0
      ? `Its rules are ${own.slice(0, 3).join(", ")}${own.length > 3 ? " …" : ""}.`
      : didYouMean(name, [...names, ...names.map((each) => each.replace(/\/0$/, ""))]);
  return { found: `${quoted(name)}, which is not the name of a rewrite rule`, wanted, hint };
}

function unknownTarget(name: string, targets: ReadonlySet<string>) {
  const hint = didYouMean(name, targets) || "List it in the rule, with the weight 0 if clients are not to get it.";
  return { found: `${quoted(name)}, which no rewrite rule has as a target`, wanted: "the modelRewrite of a target", hint };
}
