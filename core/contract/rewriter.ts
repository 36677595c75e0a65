import type { NameSet } from "./name-set.ts";
import type { DrawMethod, HeaderView } from "./request.ts";

/**
 * Which target does the model name stand for? Rewriters are asked in order; the first that returns a draw decides.
 *
 * @example
 * create: () => ({
 *   clientModels: ["fast"],
 *   draw: ({ model }) => (model === "fast" ? { target: "llama-8b", rule: "fast" } : undefined),
 * })
 */
export interface Rewriter {
  /** Names that a client may ask for and that no replica needs to list. */
  readonly clientModels: readonly string[];
  /** The rules, to be shown in the status and the metrics. */
  readonly mappings?: readonly TargetMapping[];
  /** Called once for each request that names a model, before filters run. */
  draw(asked: TargetQuestion): TargetDraw | undefined;
  /** What `draw` would return now; changes nothing, not even a count. Without it `draw` itself must change nothing. */
  preview?(asked: TargetQuestion): TargetDraw | undefined;
  dispose?(): void;
}

export interface TargetQuestion {
  readonly model: string;
  readonly headers: HeaderView;
  /** Models and adapters that available endpoints serve now. */
  readonly served: NameSet;
  /** Whether a target that is not served may be sent to a replica that may load it, and not all of them have refused it lately. */
  mayBeLoaded(target: string): boolean;
  /** Whether a target's own pool serves it, or may load it; absent where there is one pool, of which the two above tell. */
  isAvailable?: ((target: DrawMethod["targets"][number]) => boolean) | undefined;
}

export interface TargetDraw {
  readonly target: string;
  /** Name of the rule, shown in the decision. */
  readonly rule: string;
  /** The pool that the target is in; absent: as for requests without a rule. */
  readonly pool?: string;
  /** How it was drawn, shown in the decision. */
  readonly method?: DrawMethod | undefined;
}

/** One rule of a rewriter, for display. */
export interface TargetMapping {
  /** The rule's name; the `rule` of its draws. */
  readonly name: string;
  /** Names that a client may ask for; empty means every name. */
  readonly models: readonly string[];
  /** The targets with their relative weights; a weight of 0 gets nothing. */
  readonly targets: DrawMethod["targets"];
  /** What happens when no available endpoint serves a target: refuse its requests, or draw among the other targets. */
  readonly onUnavailable: "refuse" | "redistribute";
}
