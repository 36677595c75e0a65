import type { ActiveConfig } from "../active-config.ts";
import type { LoadView } from "../contract/load-view.ts";
import type { OnDemand } from "../contract/request.ts";
import type { Facts } from "../state/facts.ts";

/** Longer names are nobody's adapters. */
const LONGEST_NAME = 512;
const PARENT_FOLDER = /(?:^|\/)\.\.(?:\/|$)/;

/** Whether the target may go to a replica that does not list it. */
export function onDemand(target: string, { targets, settings }: ActiveConfig, facts: Facts, load: LoadView): OnDemand {
  if (settings.unlisted === "none" || target === "") return "never";
  const isTarget = targets.has(target);
  if (!isTarget && settings.unlisted !== "any") return "never";
  if (target.length > LONGEST_NAME || escapesFolder(target)) return "never";
  // A base model that none of the ready replicas lists can't be loaded by them.
  if (!facts.served.has(target) && isBaseModel(target, facts, load)) return "never";
  return isTarget ? "configured" : "asked";
}

/** Engines that load adapters on demand append the name to a folder's path. A name that would leave the folder is never sent. */
function escapesFolder(name: string): boolean {
  return name.startsWith("/") || name.includes("\0") || (name.includes("..") && PARENT_FOLDER.test(name));
}

/** Whether an available replica may still be asked for a target that none lists. */
export function mayBeLoaded(target: string, config: ActiveConfig, facts: Facts, load: LoadView): boolean {
  if (onDemand(target, config, facts, load) === "never") return false;
  return facts.endpoints.some(({ isAvailable, slot }) => isAvailable && load.unlisted(slot, target)?.standing !== "refused");
}

/** True only if a model list distinguishes base models from adapters. */
function isBaseModel(target: string, { endpoints }: Facts, load: LoadView): boolean {
  return endpoints.some(({ slot, models }) => models.has(target) && load.adapters(slot)?.names?.has(target) === false);
}
