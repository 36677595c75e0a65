import type { NameSet } from "./name-set.ts";
import type { HeaderView } from "./request.ts";

/**
 * Which target does the model name stand for? Asked in order; the first that returns a draw decides.
 *
 * @example
 * create: () => ({
 *   clientModels: ["fast"],
 *   draw: ({ model }) => (model === "fast" ? { target: "llama-8b", rule: "fast" } : undefined),
 * })
 */
export interface Rewriter {
  /** Names a client may ask for that no replica lists itself. */
  readonly clientModels: readonly string[];
  /** What it may turn names into, for people and metrics to show. */
  readonly mappings?: readonly TargetMapping[];
  /** Called once for each request that names a model, before filters run. */
  draw(asked: TargetQuestion): TargetDraw | undefined;
  dispose?(): void;
}

export interface TargetQuestion {
  readonly model: string;
  readonly headers: HeaderView;
  /** Models and adapters that available endpoints serve now. */
  readonly served: NameSet;
}

export interface TargetDraw {
  readonly target: string;
  /** Names the rule, for the decision. */
  readonly rule: string;
}

/** One rule of a rewriter, as it is shown. */
export interface TargetMapping {
  /** The rule's name; the `rule` of its draws. */
  readonly name: string;
  /** Names a client may ask for; empty means every name. */
  readonly models: readonly string[];
  /** The targets with their relative weights; a weight of 0 gets nothing. */
  readonly targets: readonly { readonly name: string; readonly weight: number }[];
  /** What becomes of requests whose target no available endpoint serves. */
  readonly onUnavailable: "refuse" | "redistribute";
}
