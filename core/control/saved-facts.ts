import type { ActiveConfig, Named } from "../active-config.ts";
import type { Clock } from "../contract/clock.ts";
import type { Facts } from "../state/facts.ts";
import { type FactsDocument, writeFacts } from "../state/facts-document.ts";
import type { LoadTable } from "../state/load.ts";
import type { TokenScale } from "../state/token-scale.ts";
import type { KeptState } from "./kept-state.ts";

/** What of the pool is saved. */
interface Saved {
  readonly facts: Facts;
  readonly load: LoadTable;
  readonly tokenScale: TokenScale;
}

/** Built-in plugins whose state decides and names only rules and endpoints. Any other may keep what must not leave the process. */
const KEEPERS: ReadonlySet<string> = new Set(["model-rewrite", "round-robin", "no-hit-lru"]);

/** What a decision reads now, but for what is known of prompts. */
export function savedFacts(
  config: ActiveConfig,
  kept: KeptState,
  { facts, load, tokenScale }: Saved,
  clock: Clock,
): FactsDocument {
  const { rewriters, profile } = config;
  const plugins: readonly Named<unknown>[] = [...rewriters, ...profile.filters, ...profile.scorers, profile.picker];
  const saved = kept.saved(plugins.filter(({ type, file = "" }) => file === "" && KEEPERS.has(type)));
  const isLost = (plugin: Named<unknown>) => kept.has(plugin) && !saved.some(({ name }) => name === plugin.name);
  return writeFacts(facts, load.at(clock.now()), {
    savedAt: new Date(clock.wall()).toISOString(),
    tokenFactors: tokenScale.factors(),
    partTokens: tokenScale.parts.perUnit(),
    kept: saved,
    lost: plugins.filter(isLost).map(({ name }) => name),
    targets: config.targets,
  });
}
