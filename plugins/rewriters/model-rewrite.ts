import { z } from "../../core/contract/options.ts";
import { defineRewriter } from "../../core/contract/plugin.ts";
import type { TargetDraw, TargetQuestion } from "../../core/contract/rewriter.ts";
import { drawShare, targetAt } from "./share-draw.ts";
import { shuffledTurn } from "./shuffled-turn.ts";
import { stickyPosition } from "./sticky-position.ts";

const target = z.strictObject({
  name: z.string().min(1),
  weight: z.int().min(0).max(1_000_000),
  pool: z.string().exactOptional(),
});

const rule = z.strictObject({
  name: z.string().min(1),
  models: z.array(z.string().min(1)),
  targets: z
    .array(target)
    .min(1)
    .refine((targets) => targets.some(({ weight }) => weight > 0), { error: "At least one target needs a weight above 0" }),
  stickyHeader: z.string().toLowerCase().default(""),
  onUnavailable: z.enum(["refuse", "redistribute"]).default("refuse"),
});

type Rule = z.infer<typeof rule>;
type Target = z.infer<typeof target>;

const options = z.strictObject({
  /** In order of precedence: the first rule that lists the model, or has an empty list, decides. */
  rules: z.array(rule),
  /** Names of rules whose draws are in a random order, because their targets are compared with each other. */
  shuffled: z.array(z.string()).optional(),
});

export default defineRewriter({
  type: "model-rewrite",
  summary: "Maps the model a client asks for to weighted targets.",
  options,
  create({ rules, shuffled = [] }, host) {
    /** Number of draws so far, by rule. A reload continues the count, so shares stay exact across it. */
    const draws = host.keep(1, () => new Map<string, number>());
    const drawers = rules.map((rule) => targetDrawer(rule, shuffled.includes(rule.name)));
    let isPruned = false;
    /** At the first draw, because until then this config may be refused, and the one before goes on counting. */
    const forgetOthers = () => {
      isPruned = true;
      const listed = new Set(rules.map(({ name }) => name));
      for (const name of draws.keys()) if (!listed.has(name)) draws.delete(name);
    };
    const firstGeneric = rules.findIndex(({ models }) => models.length === 0);
    const firstExact = firstRules(rules, firstGeneric);
    const clientModels = [...firstExact.keys()];
    /** Index of the rule that decides; -1 for none. A request without a model has no place for a target. */
    const ruleFor = ({ model }: TargetQuestion) => (model === "" ? -1 : (firstExact.get(model) ?? firstGeneric));
    return {
      clientModels,
      mappings: rules.map(({ name, models, targets, onUnavailable }) => ({ name, models, targets, onUnavailable })),
      draw(asked) {
        const index = ruleFor(asked);
        if (index === -1) return undefined;
        if (!isPruned) forgetOthers();
        const { name } = rules[index]!;
        const count = draws.get(name) ?? 0;
        const drawn = drawers[index]!(asked, count);
        // A sticky request is no turn of the shares.
        if (drawn.method?.by === "share") draws.set(name, count + 1);
        return drawn;
      },
      preview(asked) {
        const index = ruleFor(asked);
        return index === -1 ? undefined : drawers[index]!(asked, draws.get(rules[index]!.name) ?? 0);
      },
    };
  },
});

/** By model, the index of the first rule for it: one that lists it, or the first that is for all. */
function firstRules(rules: readonly Rule[], firstGeneric: number): ReadonlyMap<string, number> {
  const first = new Map<string, number>();
  rules.forEach(({ models }, index) => {
    const applies = firstGeneric === -1 ? index : Math.min(index, firstGeneric);
    for (const model of models) if (!first.has(model)) first.set(model, applies);
  });
  return first;
}

/** Draws a target of the rule; `count` is the number of its shares drawn before. */
type TargetDrawer = (asked: TargetQuestion, count: number) => TargetDraw;

function targetDrawer(rule: Rule, isShuffled: boolean): TargetDrawer {
  const { name, targets: all, stickyHeader: header } = rule;
  const allWeights = weightsOf(all);
  const usual = { share: { by: "share", header: "", targets: all }, header: { by: "header", header, targets: all } } as const;
  const turnOf = (weights: readonly number[], count: number) => (isShuffled ? shuffledTurn(name, weights, count) : count);
  return (asked, count) => {
    const targets = eligibleTargets(rule, asked);
    const weights = targets === all ? allWeights : weightsOf(targets);
    const pin = header === "" ? undefined : asked.headers.get(header);
    const index = pin ? targetAt(weights, stickyPosition(name, pin)) : drawShare(weights, turnOf(weights, count));
    const by = pin ? "header" : "share";
    const method = targets === all ? usual[by] : { ...usual[by], targets };
    const { name: target, pool } = targets[index]!;
    return { target, rule: name, method, ...(pool !== undefined && { pool }) };
  };
}

const weightsOf = (targets: readonly Target[]) => targets.map(({ weight }) => weight);

/** With "redistribute", the targets that are served or may be loaded, or all if none is; with "refuse", all. */
function eligibleTargets({ targets, onUnavailable }: Rule, asked: TargetQuestion): readonly Target[] {
  if (onUnavailable === "refuse") return targets;
  const isAvailable = (target: Target) =>
    asked.isAvailable?.(target) ?? (asked.served.has(target.name) || asked.mayBeLoaded(target.name));
  const available = targets.filter((target) => target.weight > 0 && isAvailable(target));
  return available.length > 0 ? available : targets;
}
