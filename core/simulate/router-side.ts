import type { LoadedConfig } from "../../config/load.ts";
import { type Snapshot, servedModels } from "../active-config.ts";
import type { Clock } from "../contract/clock.ts";
import type { Endpoint } from "../contract/endpoint.ts";
import { silentLog } from "../contract/log.ts";
import type { PrefixSettings, Random, Source } from "../contract/plugin.ts";
import { seededRandom } from "../contract/test-kit.ts";
import { parseEndpointUrl } from "../control/endpoint-url.ts";
import { buildPluginSet } from "../control/plugin-set.ts";
import { LoadTable } from "../state/load.ts";
import { SECRET_WORDS } from "../state/prefix-hash.ts";
import { PrefixIndex } from "../state/prefix-index.ts";
import { TokenScale } from "../state/token-scale.ts";
import type { Trace } from "./trace.ts";

/** What a router has when its replicas have just come into service. */
export interface RouterSide {
  readonly snapshot: Snapshot;
  readonly sources: readonly Source[];
  readonly load: LoadTable;
  readonly prefixIndex: PrefixIndex | undefined;
  readonly tokenScale: TokenScale;
  readonly random: Random;
}

export interface RouterSideOptions {
  readonly trace: Trace;
  readonly loaded: LoadedConfig;
  readonly replicas: number;
  readonly seed: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Makes the config's plugins and the state they read, on simulated time and with numbers drawn from the seed. */
export function makeRouterSide({ trace, loaded, replicas, seed, clock, signal }: RouterSideOptions): RouterSide {
  const random = seededRandom(seed);
  const load = new LoadTable(clock);
  const built = buildPluginSet(loaded, { clock, random, log: silentLog, print: () => {}, isTerminal: false }, signal);
  const endpoints = makeEndpoints(trace, loaded, replicas, load);
  return {
    snapshot: { ...built.active, endpoints, served: servedModels(endpoints) },
    sources: built.sources.map(({ plugin }) => plugin),
    load,
    prefixIndex: built.prefixSettings && makePrefixIndex(built.prefixSettings, seed),
    tokenScale: new TokenScale(),
    random,
  };
}

/** Replicas that are ready and serve whatever may be asked for; labels are those of the config's endpoints, in turn. */
function makeEndpoints(trace: Trace, { config }: LoadedConfig, count: number, load: LoadTable): readonly Endpoint[] {
  const targets = config.rewrites.flatMap((rule) => rule.targets.map((target) => target.name));
  const models = new Set([...trace.requests.map((request) => request.model), ...targets]);
  const { endpoints } = config.pool;
  return Array.from({ length: count }, (_, index) => {
    const name = `replica-${index + 1}`;
    const labels = endpoints[index % endpoints.length]?.labels ?? {};
    return { name, slot: load.slotOf(name), url: parseEndpointUrl(`http://${name}`), labels, phase: "ready", models };
  });
}

/** The router's own index; its secret comes from the seed, so that a run can be repeated. */
function makePrefixIndex(settings: PrefixSettings, seed: number): PrefixIndex {
  const random = seededRandom(seed ^ 0x1de8);
  const secret = Array.from({ length: SECRET_WORDS }, () => Math.floor(random() * 2 ** 32));
  return new PrefixIndex({ ...settings, secret });
}
