import { type LoadedConfig, loadTexts } from "../../../../config/load.ts";
import type { Definition } from "../../../../core/contract/plugin.ts";
import { builtIns } from "../../../../plugins/registry.ts";

/** The config with this spec, indented by two spaces; "" is the default one, with labels of two kinds. */
export async function loadSpec(spec: string, plugins: readonly Definition[] = [], documents = ""): Promise<LoadedConfig> {
  const registry = new Map([...builtIns, ...plugins.map((plugin) => [plugin.type, plugin] as const)]);
  const text = `apiVersion: signalbox/v1\nkind: Router\nspec:\n  pool: { endpoints: [ { url: "http://a:1", labels: { gpu: h100 } }, { url: "http://b:1" } ] }\n${spec}${documents}`;
  const loaded = await loadTexts([{ file: "test.yaml", text }], registry);
  if (loaded.problems !== undefined) throw new Error(JSON.stringify(loaded.problems));
  return loaded;
}
