import type { NamedPlugin, OwnPlugin } from "../../core/contract/plugin.ts";
import { thrownMessage } from "../../core/contract/thrown-text.ts";
import { makePlugin } from "../../core/control/make-plugin.ts";
import type { Position, RouterPlan } from "../../core/router-config.ts";
import { type Problem, problemAt } from "../read/problems.ts";
import { trialHost } from "./trial-host.ts";

/**
 * What keeps plugins of one's own from being made: each is made for a moment, as a router makes it when it starts, behind those that
 * stand before it.
 */
export function problemsOfOwn({ config, definitions }: RouterPlan): readonly Problem[] {
  const ending = new AbortController();
  const made: { readonly kind: string; readonly named: NamedPlugin<OwnPlugin>; readonly position: Position }[] = [];
  const plugins = (kind: string) => made.filter((each) => each.kind === kind).map(({ named }) => named);
  const problems: Problem[] = [];
  const tried = (position: Position, act: () => void) => {
    try {
      act();
    } catch (thrown) {
      problems.push(problemAt(position, [], { found: `a plugin that can't run: ${thrownMessage(thrown)}` }));
    }
  };
  for (const entry of config.plugins) {
    const { name, from, position } = entry;
    const definition = definitions.get(name);
    if (from === undefined || definition === undefined || position === undefined) continue;
    const host = trialHost(entry, ending.signal, plugins);
    tried(position, () =>
      made.push({ kind: definition.kind, named: { name, plugin: makePlugin(definition, entry, host) }, position }),
    );
  }
  ending.abort();
  for (const { named, position } of made.reverse()) tried(position, () => named.plugin.dispose?.());
  return problems;
}
