import { loadTexts } from "../../config/load.ts";
import { type EffectiveConfig, effectiveConfig } from "../../config/show/effective.ts";
import { builtIns } from "../../plugins/registry.ts";

/** What runs where a config says nothing but its endpoints. */
export async function defaultConfig(): Promise<EffectiveConfig> {
  const loaded = await loadTexts([], builtIns, ["http://127.0.0.1:9"]);
  if (loaded.problems !== undefined) throw new Error(JSON.stringify(loaded.problems));
  return effectiveConfig(loaded, {});
}
