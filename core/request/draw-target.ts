import type { ActiveConfig, Named } from "../active-config.ts";
import type { LoadView } from "../contract/load-view.ts";
import type { NameSet } from "../contract/name-set.ts";
import type { ParsedBody } from "../contract/request.ts";
import type { Rewriter, TargetDraw, TargetQuestion } from "../contract/rewriter.ts";
import { failedPlugin } from "../plugin-watch/plugin-faults.ts";
import type { Facts } from "../state/facts.ts";
import type { Head } from "../wire/head.ts";
import { mayBeLoaded } from "./on-demand.ts";

/** Asks the rewriters in order for the target of the model name; the first draw counts. Undefined if no rewriter has a rule. */
export function drawTarget(
  { model, modelSpan }: ParsedBody,
  head: Head,
  config: ActiveConfig,
  facts: Facts,
  load: LoadView,
  isAvailable?: TargetQuestion["isAvailable"],
): TargetDraw | undefined {
  if (modelSpan[0] < 0 || config.rewriters.length === 0) return undefined;
  const asked = new Question(model, head, config, facts, load, isAvailable);
  for (const rewriter of config.rewriters) {
    const draw = drawBy(rewriter, asked);
    if (draw === undefined) continue;
    if (draw.target === "") throw failedPlugin("rewriter", rewriter, "it drew an empty target", "drew an empty target");
    return draw;
  }
  return undefined;
}

function drawBy(rewriter: Named<Rewriter>, asked: TargetQuestion): TargetDraw | undefined {
  try {
    return rewriter.plugin.draw(asked);
  } catch (thrown) {
    throw failedPlugin("rewriter", rewriter, thrown);
  }
}

/** Whether the rule draws another target where the first one has nobody to serve it. */
export function redistributes(rule: string, { rewriters }: ActiveConfig): boolean {
  return rewriters.some(({ plugin }) =>
    plugin.mappings?.some(({ name, onUnavailable }) => name === rule && onUnavailable === "redistribute"),
  );
}

/** A class, because a closure made for each request costs more than the draw. */
class Question implements TargetQuestion {
  readonly model: string;
  readonly headers: TargetQuestion["headers"];
  readonly served: NameSet;
  readonly isAvailable: TargetQuestion["isAvailable"];
  readonly #config: ActiveConfig;
  readonly #facts: Facts;
  readonly #load: LoadView;

  constructor(
    model: string,
    headers: TargetQuestion["headers"],
    config: ActiveConfig,
    facts: Facts,
    load: LoadView,
    isAvailable: TargetQuestion["isAvailable"],
  ) {
    this.model = model;
    this.headers = headers;
    this.served = facts.served;
    this.#config = config;
    this.#facts = facts;
    this.#load = load;
    this.isAvailable = isAvailable;
  }

  mayBeLoaded(target: string): boolean {
    return mayBeLoaded(target, this.#config, this.#facts, this.#load);
  }
}
