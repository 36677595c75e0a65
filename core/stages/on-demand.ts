import type { ActiveConfig } from "../active-config.ts";
import type { Clock } from "../contract/clock.ts";
import type { OnDemand } from "../contract/request.ts";
import type { DataPlane } from "../data-plane.ts";
import type { LoadTable } from "../state/load.ts";
import type { UnlistedNames } from "../state/unlisted-names.ts";

/** Longer names are nobody's adapters. */
const LONGEST_NAME = 512;
const PARENT_FOLDER = /(?:^|\/)\.\.(?:\/|$)/;

/** What is known of the names that replicas serve and load. */
export interface NamesPlane extends Pick<DataPlane, "facts"> {
  readonly load: { readonly adapters: LoadTable["adapters"]; readonly unlisted: Pick<UnlistedNames, "at"> };
  readonly clock: Pick<Clock, "now">;
}

type NamesConfig = { readonly targets: ActiveConfig["targets"]; readonly settings: Pick<ActiveConfig["settings"], "unlisted"> };

/** Whether the target may go to a replica that does not list it. */
export function onDemand(
  target: string,
  { targets, settings }: NamesConfig,
  { facts, load }: Pick<NamesPlane, "facts" | "load">,
): OnDemand {
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
export function mayBeLoaded(target: string, config: NamesConfig, plane: NamesPlane): boolean {
  if (onDemand(target, config, plane) === "never") return false;
  const nowMs = plane.clock.now();
  const { unlisted } = plane.load;
  return plane.facts.endpoints.some(
    ({ isAvailable, slot }) => isAvailable && unlisted.at(slot, target, nowMs)?.standing !== "refused",
  );
}

/** True only if a model list distinguishes base models from adapters. */
function isBaseModel(target: string, { endpoints }: NamesPlane["facts"], { adapters }: NamesPlane["load"]): boolean {
  return endpoints.some(({ slot, models }) => models.has(target) && adapters[slot]?.names?.has(target) === false);
}
