import type { ActiveConfig } from "../active-config.ts";
import { RouterError } from "../contract/errors.ts";
import type { NameSet } from "../contract/name-set.ts";
import type { ParsedBody } from "../contract/request.ts";
import type { TargetDraw, TargetQuestion } from "../contract/rewriter.ts";
import type { Incoming } from "../intake/incoming.ts";
import { mayBeLoaded, type NamesPlane } from "./on-demand.ts";

/** Asks the rewriters in order for the target of the model name; the first draw counts. Undefined if no rewriter has a rule. */
export function drawTarget(
  parsed: ParsedBody,
  incoming: Incoming,
  config: Pick<ActiveConfig, "rewriters" | "targets" | "settings">,
  plane: NamesPlane,
): TargetDraw | undefined {
  if (parsed.modelSpan[0] < 0 || config.rewriters.length === 0) return undefined;
  const asked = new Question(parsed.model, incoming.head, config, plane);
  for (const { name, plugin } of config.rewriters) {
    const draw = plugin.draw(asked);
    if (draw === undefined) continue;
    if (draw.target === "") throw new RouterError("plugin_fault", `The rewriter "${name}" drew an empty target; fix the plugin.`);
    return draw;
  }
  return undefined;
}

type NamesConfig = Pick<ActiveConfig, "targets" | "settings">;

/** A class, because a closure made for each request costs more than the draw. */
class Question implements TargetQuestion {
  readonly model: string;
  readonly headers: TargetQuestion["headers"];
  readonly served: NameSet;
  readonly #config: NamesConfig;
  readonly #plane: NamesPlane;

  constructor(model: string, headers: TargetQuestion["headers"], config: NamesConfig, plane: NamesPlane) {
    this.model = model;
    this.headers = headers;
    this.served = plane.facts.served;
    this.#config = config;
    this.#plane = plane;
  }

  mayBeLoaded(target: string): boolean {
    return mayBeLoaded(target, this.#config, this.#plane);
  }
}
