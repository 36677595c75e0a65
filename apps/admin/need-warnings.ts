import { isLabelled, needsOf, type PluginNeed } from "../../config/plugins/unmet-needs.ts";
import type { Named } from "../../core/active-config.ts";
import type { Authenticator } from "../../core/contract/authenticator.ts";
import { type Endpoint, isServing } from "../../core/contract/endpoint.ts";
import type { LoadView } from "../../core/contract/load-view.ts";
import type { Observer } from "../../core/contract/observer.ts";
import { printable } from "../../core/contract/printable.ts";
import { thrownMessage } from "../../core/contract/thrown-text.ts";
import type { ViewedSite } from "./site.ts";

/** Filters and scorers that can't do their work, because no replica that serves has what they go by. Where none does, another warning says that. */
export function needWarnings({ router, running: { loaded }, clock }: ViewedSite): readonly string[] {
  const { pool } = router;
  const name = router.config.pool;
  const plan = loaded.config.pool.name === name ? loaded : loaded.pools.find((each) => each.name === name)?.plan;
  const endpoints = pool.facts.endpoints.filter(isServing);
  if (plan === undefined || endpoints.length === 0) return [];
  const load = pool.load.at(clock.now());
  return needsOf(plan)
    .filter((one) => !endpoints.some((endpoint) => isMet(one, endpoint, load)))
    .map(({ kind, name, need }) => `The ${kind} "${name}" can't do its work: ${need.lack}.`);
}

/** Plugins that say of themselves that they can't do their work: an issuer's keys can't be read, nobody takes spans. */
export function troubleWarnings({ router: { config } }: ViewedSite): readonly string[] {
  return [
    ...(config.authenticators ?? []).flatMap((plugin) => troubleOf("authenticator", plugin)),
    ...config.observers.flatMap((plugin) => troubleOf("observer", plugin)),
  ];
}

function troubleOf(kind: string, { name, plugin }: Named<Authenticator | Observer>): readonly string[] {
  let trouble = "";
  try {
    trouble = plugin.trouble?.() ?? "";
  } catch (thrown) {
    trouble = `it can't say how it is (${printable(thrownMessage(thrown))})`;
  }
  return trouble === "" ? [] : [`The ${kind} "${name}" can't do its work: ${trouble}.`];
}

function isMet({ need, attribute }: PluginNeed, { slot, labels }: Endpoint, load: LoadView): boolean {
  if (attribute !== undefined) return load.attributes(slot).has(attribute);
  if (need.reported !== undefined) return need.reported.some((number) => !Number.isNaN(load[number](slot)));
  return isLabelled(need, labels);
}
