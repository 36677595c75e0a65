import type { LoadedConfig } from "../../config/load.ts";
import type { ActiveConfig, Profile } from "../active-config.ts";
import type { Clock } from "../contract/clock.ts";
import type { Endpoint } from "../contract/endpoint.ts";
import { silentLog } from "../contract/log.ts";
import { nameSet } from "../contract/name-set.ts";
import type { PrefixSettings } from "../contract/plugin.ts";
import type { Random } from "../contract/profile-plugin.ts";
import type { Source } from "../contract/source.ts";
import { seededRandom } from "../contract/test-kit.ts";
import { shownStanding } from "../control/availability.ts";
import { parseEndpointUrl } from "../control/endpoint-url.ts";
import { KeptState } from "../control/kept-state.ts";
import { buildPluginSet } from "../control/plugin-set.ts";
import { type Facts, factsOf } from "../state/facts.ts";
import { LoadTable } from "../state/load.ts";
import { SECRET_WORDS } from "../state/prefix-hash.ts";
import { PrefixIndex } from "../state/prefix-index.ts";
import { TokenScale } from "../state/token-scale.ts";
import type { Trace } from "./trace.ts";

/** What a router has when its replicas have just come into service. */
export interface RouterSide {
  readonly rewriters: ActiveConfig["rewriters"];
  readonly profile: Profile;
  readonly facts: Facts;
  readonly sources: readonly Source[];
  readonly load: LoadTable;
  readonly prefixIndex: PrefixIndex | undefined;
  readonly tokenScale: TokenScale;
  readonly random: Random;
  dispose(): void;
}

export interface RouterSideOptions {
  readonly trace: Trace;
  readonly loaded: LoadedConfig;
  readonly replicas: number;
  readonly seed: number;
  readonly clock: Clock;
}

/** Makes the config's plugins and the state they read, on simulated time and with numbers drawn from the seed. */
export function makeRouterSide({ trace, loaded, replicas, seed, clock }: RouterSideOptions): RouterSide {
  const random = seededRandom(seed);
  const load = new LoadTable(clock);
  const output = { print: () => {}, isTerminal: false };
  const plugins = buildPluginSet(loaded, { clock, random, log: silentLog, output }, new KeptState());
  const endpoints = makeEndpoints(trace, loaded, replicas, load);
  return {
    rewriters: plugins.active.rewriters,
    profile: plugins.active.profile,
    facts: factsOf(endpoints),
    sources: plugins.sources.map(({ plugin }) => plugin),
    load,
    prefixIndex: plugins.prefixSettings && makePrefixIndex(plugins.prefixSettings, seed),
    tokenScale: new TokenScale(),
    random,
    dispose: plugins.dispose,
  };
}

/** Replicas that are ready and serve whatever may be asked for; labels are those of the config's endpoints, in turn. */
function makeEndpoints(trace: Trace, { config }: LoadedConfig, count: number, load: LoadTable): readonly Endpoint[] {
  const targets = config.rewrites.flatMap((rule) => rule.targets.map((target) => target.name));
  const models = nameSet([...trace.requests.map((request) => request.model), ...targets]);
  const { endpoints } = config.pool;
  return Array.from({ length: count }, (_, index) => {
    const name = `replica-${index + 1}`;
    const labels = endpoints[index % endpoints.length]?.labels ?? {};
    const slot = load.slotOf(name);
    return {
      name,
      slot,
      generation: load.generationOf(slot),
      url: parseEndpointUrl(`http://${name}`),
      labels,
      ...shownStanding("ready"),
      models,
    };
  });
}

/** The router's own index; its secret comes from the seed, so that a run can be repeated. */
function makePrefixIndex(settings: PrefixSettings, seed: number): PrefixIndex {
  const random = seededRandom(seed ^ 0x1de8);
  const secret = Array.from({ length: SECRET_WORDS }, () => Math.floor(random() * 2 ** 32));
  return new PrefixIndex({ ...settings, secret });
}
