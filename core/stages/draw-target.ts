import type { ActiveConfig } from "../active-config.ts";
import { RouterError } from "../contract/errors.ts";
import type { ParsedBody } from "../contract/request.ts";
import type { TargetDraw } from "../contract/rewriter.ts";
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
  const asked = {
    model: parsed.model,
    headers: incoming.head,
    served: plane.facts.served,
    mayBeLoaded: (target: string) => mayBeLoaded(target, config, plane),
  };
  for (const { name, plugin } of config.rewriters) {
    const draw = plugin.draw(asked);
    if (draw === undefined) continue;
    if (draw.target === "") throw new RouterError("plugin_fault", `The rewriter "${name}" drew an empty target; fix the plugin.`);
    return draw;
  }
  return undefined;
}
