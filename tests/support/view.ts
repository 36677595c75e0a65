import { RequestFigures } from "../../apps/admin/figures/request-figures.ts";
import type { StatusSite } from "../../apps/admin/site.ts";
import type { LoadedConfig } from "../../config/load.ts";
import { NO_OVERLAY } from "../../config/rewrites/overlay.ts";
import type { RunningConfig } from "../../config/running/running-config.ts";
import type { ActiveConfig } from "../../core/active-config.ts";
import type { Endpoint } from "../../core/contract/endpoint.ts";
import type { LoadView } from "../../core/contract/load-view.ts";
import { silentLog } from "../../core/contract/log.ts";
import type { TargetMapping } from "../../core/contract/rewriter.ts";
import type { RouterView } from "../../core/contract/router-view.ts";
import { makeLoad } from "../../core/contract/test-kit.ts";
import type { ControlPlane } from "../../core/control/control-plane.ts";
import { Intents } from "../../core/control/intents.ts";
import { KeptState } from "../../core/control/kept-state.ts";
import { type EndpointJudge, NO_JUDGE } from "../../core/judge.ts";
import type { PluginFaults } from "../../core/plugin-watch/plugin-faults.ts";
import type { PluginTimes } from "../../core/plugin-watch/plugin-times.ts";
import type { PoolConnections } from "../../core/pool/connections.ts";
import type { LivePool } from "../../core/pool/live-pool.ts";
import type { Router } from "../../core/router.ts";
import type { AdapterAccess, RouterAccess } from "../../core/router-host.ts";
import { RunningFeatures } from "../../core/running-features.ts";
import { slotsOf } from "../../core/slots.ts";
import { factsOf } from "../../core/state/facts.ts";
import { LoadTable } from "../../core/state/load.ts";
import { TokenScale } from "../../core/state/token-scale.ts";
import { makeActiveConfig } from "./active-config.ts";
import { FakeClock } from "./fake-clock.ts";
import { FEATURES, modulesOf } from "./section-modules.ts";

const STARTED_AT_S = Date.UTC(2030, 0, 1) / 1000;

const NO_USAGE = {
  ...{ cpuSeconds: 0, residentBytes: 0, heapUsedBytes: 0, heapBytes: 0 },
  ...{ openFiles: Number.NaN, maxOpenFiles: Number.NaN },
};

const NO_MEMORY = { limitBytes: 1000, bodyBytes: 0, unreadBytes: 0, refusals: 0 };

const NO_RELOADS = { applied: 0, unchanged: 0, refused: 0 };

/** A config as it was at the start, but for these members. It is shown only: nothing runs by it. */
export function makeShownConfig(changes: Partial<RunningConfig> = {}, warnings: LoadedConfig["warnings"] = []): RunningConfig {
  const shown: Partial<RunningConfig> = {
    generation: 1,
    overlay: NO_OVERLAY,
    loaded: { warnings, config: { pool: { name: "none of the test's" } }, pools: [] } as unknown as LoadedConfig,
    lastReload: undefined,
    restored: undefined,
    confirmedAtMs: STARTED_AT_S * 1000,
    reloads: NO_RELOADS,
    ...changes,
  };
  return shown as RunningConfig;
}

/** Some members of some parts of a view. */
type ViewChanges = {
  readonly [Part in Exclude<keyof RouterView, "clock" | "families" | "furtherPools">]?: Partial<RouterView[Part]>;
} & Partial<Pick<RouterView, "clock" | "families">>;

/** A router at rest, started at its clock's beginning, over these endpoints, as an observer's page sees it. */
export function makeView(endpoints: readonly Endpoint[] = [], changes: ViewChanges = {}): RouterView {
  return {
    clock: changes.clock ?? new FakeClock(),
    config: {
      ...{
        pool: "default",
        generation: 1,
        isLastReloadApplied: true,
        confirmedAtS: STARTED_AT_S,
        reloads: NO_RELOADS,
        mappings: [],
      },
      ...changes.config,
    },
    pool: {
      ...{ endpoints, load: makeLoad(endpoints.length), prefixIndex: undefined, isPanicking: false },
      ...{ connectionsTo: () => 0, ejectionsOf: () => 0, probeFailure: () => "" },
      discoveryTroubles: new Map(),
      ...changes.pool,
    },
    plugins: { faults: new Map(), times: [], ...changes.plugins },
    process: {
      ...{ startedAtS: STARTED_AT_S, droppedLogLines: 0, acceptPauses: 0, memory: NO_MEMORY, usage: () => NO_USAGE },
      ...changes.process,
    },
    tls: { certificates: [], failures: [], ...changes.tls },
    families: changes.families ?? (() => []),
  };
}

/** What is not at rest in a router. */
interface ShownParts {
  readonly config?: Partial<ActiveConfig>;
  readonly load?: LoadView;
  readonly pool?: Partial<LivePool>;
  readonly connections?: Partial<PoolConnections>;
  readonly control?: Partial<ControlPlane>;
  readonly judge?: Partial<EndpointJudge>;
  readonly times?: Partial<PluginTimes>;
  readonly faults?: Partial<PluginFaults>;
}

/** A router at rest over these endpoints, as the admin port shows it: it takes no requests. */
export function makeShownRouter(endpoints: readonly Endpoint[] = [], parts: ShownParts = {}): Router {
  const clock = new FakeClock();
  const load = new LoadTable();
  if (parts.load !== undefined) Object.assign(load, { at: () => parts.load });
  const facts = factsOf(endpoints);
  const services = { clock, random: Math.random, log: silentLog };
  const shown = { ...makeConfig({ services, load, facts: () => facts, nextTurn: (run) => run() }), ...parts.config };
  const adapters: AdapterAccess = {
    clock,
    load,
    facts: () => facts,
    targets: () => shown.targets,
    // e0's replica does what it is told, the others refuse.
    post: ({ url: { port } }) =>
      Promise.resolve(port === 8000 ? { status: 200, body: "Success" } : { status: 404, body: '{"error":{"message":"No."}}' }),
    adapterChanged() {},
  };
  const router = {
    config: shown,
    pool: {
      facts,
      load,
      prefixStats: undefined,
      tokenScale: new TokenScale(),
      countBy() {},
      ...parts.pool,
      connections: { openTo: () => 0, leftOpenAt: () => 0, ...parts.connections },
    },
    control: {
      intents: new Intents(new FakeClock(), () => {}),
      discoveryTroubles: new Map(),
      probeFailure: () => "",
      unreadableSources: () => [],
      leftOut: () => [],
      timesOf: () => ({ phaseSinceMs: 0, lastCheckMs: Number.NaN, nextCheckMs: Number.NaN }),
      ...parts.control,
      judge: { ...NO_JUDGE, ...parts.judge },
    },
    gate: { memory: NO_MEMORY },
    plugins: { times: { slow: [], timed: [], ...parts.times }, faults: { counts: new Map(), lately: [], ...parts.faults } },
    features: new RunningFeatures(() => shown),
    identity: { startedAtS: STARTED_AT_S },
    services,
    kept: new KeptState(),
    adapters,
  };
  return router as unknown as Router;
}

/** A router and the program around it, as status and health see them. */
export function makeSite(router: Router, changes: Partial<StatusSite> = {}): StatusSite {
  return {
    router,
    figures: new RequestFigures(router.services.clock),
    running: makeShownConfig(),
    sources: ["signalbox.yaml"],
    clock: new FakeClock(),
    commandLine: {},
    droppedLogLines: () => 0,
    log: silentLog,
    acceptPauses: () => 0,
    listen: { host: "127.0.0.1", port: 8080 },
    clientConnections: () => 7,
    ...changes,
  };
}

function makeConfig(router: Partial<RouterAccess>): ActiveConfig {
  const features = new Map(FEATURES.map(({ section: { key, schema } }) => [key, schema.parse(undefined)]));
  const modules = modulesOf(features, router);
  return makeActiveConfig({ features, modules, slots: slotsOf(modules) });
}

/** An exact rule over weighted targets. */
export function makeMapping(
  name: string,
  targets: Readonly<Record<string, number>>,
  overrides: Partial<TargetMapping> = {},
): TargetMapping {
  return {
    name,
    models: ["food-review"],
    targets: Object.entries(targets).map(([target, weight]) => ({ name: target, weight })),
    onUnavailable: "refuse",
    ...overrides,
  };
}

/** The part of a config whose rewriter has these rules. */
export function withMappings(...mappings: readonly TargetMapping[]): Partial<ActiveConfig> {
  const plugin = { clientModels: [], mappings, draw: () => undefined };
  return { rewriters: [{ name: "model-rewrite", type: "model-rewrite", plugin }] };
}
