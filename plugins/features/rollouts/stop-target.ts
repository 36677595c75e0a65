import { type Overlay, type ResourceName, withChange } from "../../../config/rewrites/overlay.ts";
import { fileResources, rewriteResources } from "../../../config/rewrites/resources.ts";
import { labelOf, type RewriteDocument } from "../../../config/rewrites/schema.ts";
import { changeableConfig } from "../../../config/running/changeable-config.ts";
import type { Clock } from "../../../core/contract/clock.ts";
import type { StopTarget, TargetStop } from "./rollouts.ts";

/**
 * Stops targets by a change of their rewrite beside the files, as an operator would make it: it shows, it can be reverted, and it
 * outlives reloads until the files' resource is another one.
 */
export function stopThroughConfig(runningNow: () => object | undefined, clock: Clock): StopTarget {
  return async (stop) => {
    const running = changeableConfig(runningNow());
    if (running === undefined) return "nothing here can change the config";
    const { isApplied, problems } = await running.change((overlay) => {
      const inFiles = fileResources(running.loaded.texts);
      return stoppedIn(overlay, stop, {
        document: rewriteResources(running.loaded.texts, overlay).find((each) => isMeant(each, stop))?.document,
        inFiles: inFiles.find((each) => isMeant(each, stop))?.source.value,
        sinceMs: clock.wall(),
      });
    }, "guard");
    return isApplied ? "" : (problems[0] ?? "the config was refused");
  };
}

function isMeant(each: ResourceName, { guard: { place } }: TargetStop): boolean {
  return each.namespace === place.namespace && each.name === place.resource;
}

interface Found {
  /** As it runs. */
  readonly document: RewriteDocument | undefined;
  /** As it is in the files. */
  readonly inFiles: unknown;
  readonly sinceMs: number;
}

/** Throws an Error if the rule is gone, or its target is the only one with a weight. */
function stoppedIn(overlay: Overlay, { guard, reason }: TargetStop, { document, inFiles, sinceMs }: Found): Overlay {
  const { target, place } = guard;
  const rules = document?.spec.rules ?? [];
  const rule = rules[place.index];
  if (document === undefined || !rule?.targets.some((each) => labelOf(each) === target))
    throw new Error("its rule has changed meanwhile");
  const targets = rule.targets.map((each) => ({ ...each, weight: labelOf(each) === target ? 0 : (each.weight ?? 1) }));
  if (targets.every(({ weight }) => weight === 0)) throw new Error("no other target of the rule has a weight");
  const changed = rules.map((each, index) => (index === place.index ? { ...each, targets } : each));
  return withChange(overlay, {
    namespace: place.namespace,
    name: place.resource,
    document: { ...document, spec: { ...document.spec, rules: changed } },
    by: `guard ${guard.name}`,
    sinceMs,
    untilMs: undefined,
    reason,
    ...(inFiles !== undefined && { madeFor: inFiles }),
  });
}
