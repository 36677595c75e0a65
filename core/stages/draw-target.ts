import type { Snapshot } from "../active-config.ts";
import { RouterError } from "../contract/errors.ts";
import type { TargetDraw } from "../contract/plugin.ts";
import type { ParsedBody } from "../contract/request.ts";
import type { Incoming } from "../intake/incoming.ts";

/** Asks the rewriters which target the model name stands for; the first answer counts. */
export function drawTarget(parsed: ParsedBody, incoming: Incoming, snapshot: Snapshot): TargetDraw | undefined {
  if (parsed.modelSpan[0] < 0) return undefined;
  const asked = { model: parsed.model, headers: incoming.head, served: snapshot.served };
  for (const { name, plugin } of snapshot.rewriters) {
    const draw = plugin.draw(asked);
    if (draw === undefined) continue;
    if (draw.target === "") throw new RouterError("plugin_fault", `The rewriter "${name}" drew an empty target; fix the plugin.`);
    return draw;
  }
  return undefined;
}
