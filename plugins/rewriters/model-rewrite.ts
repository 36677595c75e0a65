import { z } from "../../core/contract/options.ts";
import { defineRewriter } from "../../core/contract/plugin.ts";
import type { TargetQuestion } from "../../core/contract/rewriter.ts";
import { drawShare, targetAt } from "./share-draw.ts";
import { shuffledTurn } from "./shuffled-turn.ts";
import { stickyPosition } from "./sticky-position.ts";

const target = z.strictObject({ name: z.string().min(1), weight: z.int().min(0).max(1_000_000) });

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
    const drawTarget = rules.map((rule) => targetDrawer(rule, draws, shuffled.includes(rule.name)));
    let isPruned = false;
    /** At the first draw, because until then this config may be refused, and the one before goes on counting. */
    const forgetOthers = () => {
      isPruned = true;
      const listed = new Set(rules.map(({ name }) => name));
      for (const name of draws.keys()) if (!listed.has(name)) draws.delete(name);
    };
    const clientModels = [...new Set(rules.flatMap(({ models }) => models))];
    const firstGeneric = rules.findIndex(({ models }) => models.length === 0);
    const firstExact = new Map<string, number>();
    for (const model of clientModels) {
      firstExact.set(
        model,
        rules.findIndex(({ models }) => models.length === 0 || models.includes(model)),
      );
    }
    return {
      clientModels,
      mappings: rules.map(({ name, models, targets, onUnavailable }) => ({ name, models, targets, onUnavailable })),
      draw(asked) {
        // A request without a model has no place for a target.
        if (asked.model === "") return undefined;
        const index = firstExact.get(asked.model) ?? firstGeneric;
        if (index === -1) return undefined;
        if (!isPruned) forgetOthers();
        return { target: drawTarget[index]!(asked), rule: rules[index]!.name };
      },
    };
  },
});

function targetDrawer(rule: Rule, draws: Map<string, number>, isShuffled: boolean): (asked: TargetQuestion) => string {
  const allWeights = weightsOf(rule.targets);
  const nextDraw = () => {
    const draw = draws.get(rule.name) ?? 0;
    draws.set(rule.name, draw + 1);
    return draw;
  };
  return (asked) => {
    const { headers } = asked;
    const targets = eligibleTargets(rule, asked);
    const weights = targets === rule.targets ? allWeights : weightsOf(targets);
    const pin = rule.stickyHeader === "" ? undefined : headers.get(rule.stickyHeader);
    if (pin) return targets[targetAt(weights, stickyPosition(rule.name, pin))]!.name;
    const draw = nextDraw();
    return targets[drawShare(weights, isShuffled ? shuffledTurn(rule.name, weights, draw) : draw)]!.name;
  };
}

function weightsOf(targets: readonly Target[]): readonly number[] {
  return targets.map(({ weight }) => weight);
}

/** With "redistribute", the targets that are served or may be loaded, or all if none is; with "refuse", all. */
function eligibleTargets({ targets, onUnavailable }: Rule, asked: TargetQuestion): readonly Target[] {
  if (onUnavailable === "refuse") return targets;
  const isAvailable = (name: string) => asked.served.has(name) || asked.mayBeLoaded(name);
  const available = targets.filter(({ name, weight }) => weight > 0 && isAvailable(name));
  return available.length > 0 ? available : targets;
}
