import type { ProfileConfig } from "./config.ts";
import { GUARDS } from "./defaults.ts";
import type { LoadedConfig } from "./load.ts";

/** The guards that a profile lacks; they are left out only where it is `unguarded`. */
export function missingGuards({ plugins }: ProfileConfig, { definitions }: Pick<LoadedConfig, "definitions">): readonly string[] {
  const types = new Set(plugins.map(({ pluginRef }) => definitions.get(pluginRef)?.type));
  return GUARDS.filter((type) => !types.has(type));
}
