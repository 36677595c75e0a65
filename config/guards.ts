import { GUARDS } from "./defaults.ts";
import type { LoadedConfig } from "./load.ts";

/** The guards that the profile lacks; they are left out only where it is `unguarded`. */
export function missingGuards({ config, definitions }: LoadedConfig): readonly string[] {
  const types = new Set(config.profile.plugins.map(({ pluginRef }) => definitions.get(pluginRef)?.type));
  return GUARDS.filter((type) => !types.has(type));
}
