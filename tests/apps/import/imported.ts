import { commandsIn } from "../../../apps/import/command-line.ts";
import { Draft } from "../../../apps/import/draft.ts";
import type { SourceText } from "../../../apps/import/source.ts";
import { sourceOf } from "../../../apps/import/sources.ts";
import { builtIns } from "../../../plugins/registry.ts";

export const sourceText = (text: string): SourceText => ({ file: "f", text, commands: commandsIn(text), registry: builtIns });

/** What becomes of a text: its kind, the spec, addresses, names, and the settings by effect. */
export async function imported(text: string, from?: string) {
  const draft = new Draft();
  const source = sourceText(text);
  const found = sourceOf(from, source);
  await found.read(source, draft);
  const by = (effect: string) => draft.findings.filter((each) => each.effect === effect).map(({ setting }) => setting);
  const aliases = Object.fromEntries([...draft.aliases].map(([model, targets]) => [model, Object.fromEntries(targets)]));
  return {
    kind: found.kind,
    spec: draft.spec,
    urls: draft.endpoints.map(({ url }) => url),
    endpoints: draft.endpoints,
    aliases,
    by,
    draft,
  };
}

export const profileOf = (spec: Record<string, unknown>) =>
  (spec["profiles"] as { plugins: { pluginRef: string }[] }[] | undefined)?.[0]?.plugins.map(({ pluginRef }) => pluginRef);
