import { NO_OVERLAY } from "../../config/rewrites/overlay.ts";
import type { ActiveConfig } from "../../core/active-config.ts";
import type { ShownConfig, ShownRouter } from "../../core/admin/router-view.ts";
import type { Endpoint } from "../../core/contract/endpoint.ts";
import { silentLog } from "../../core/contract/log.ts";
import { nameSet } from "../../core/contract/name-set.ts";
import type { TargetMapping } from "../../core/contract/rewriter.ts";
import type { RouterView } from "../../core/contract/router-view.ts";
import { makeLoad } from "../../core/contract/test-kit.ts";
import { Adapters } from "../../core/control/adapters.ts";
import { Intents } from "../../core/control/intents.ts";
import { KeptState } from "../../core/control/kept-state.ts";
import { savedFacts } from "../../core/control/saved-facts.ts";
import { NO_JUDGE } from "../../core/features/judge.ts";
import { LiveFeatures } from "../../core/features/live-features.ts";
import { DEFAULT_SETTINGS } from "../../core/settings.ts";
import { factsOf } from "../../core/state/facts.ts";
import { LoadTable } from "../../core/state/load.ts";
import { RequestFigures } from "../../core/state/request-figures.ts";
import { TokenScale } from "../../core/state/token-scale.ts";
import { FakeClock } from "./fake-clock.ts";

const STARTED_AT_S = Date.UTC(2030, 0, 1) / 1000;

const NO_USAGE = {
  ...{ cpuSeconds: 0, residentBytes: 0, heapUsedBytes: 0, heapBytes: 0 },
  ...{ openFiles: Number.NaN, maxOpenFiles: Number.NaN },
};

const NO_MEMORY = { limitBytes: 1000, bodyBytes: 0, unreadBytes: 0, refusals: 0 };

const NO_RELOADS = { applied: 0, unchanged: 0, refused: 0 };

/** A config as it was at the start. */
export const UNCHANGED: ShownConfig = {
  generation: 1,
  overlay: NO_OVERLAY,
  loaded: { warnings: [] },
  lastReload: undefined,
  restored: undefined,
  confirmedAtMs: STARTED_AT_S * 1000,
  reloads: NO_RELOADS,
};

/** Some members of some parts of a view. */
type ViewChanges = { readonly [Part in Exclude<keyof RouterView, "clock" | "families">]?: Partial<RouterView[Part]> } & Partial<
  Pick<RouterView, "clock" | "families">
>;

/** A router at rest, started at its clock's beginning, over these endpoints, as an observer's page sees it. */
export function makeView(endpoints: readonly Endpoint[] = [], changes: ViewChanges = {}): RouterView {
  return {
    clock: changes.clock ?? new FakeClock(),
    config: {
      ...{ generation: 1, isLastReloadApplied: true, confirmedAtS: STARTED_AT_S, reloads: NO_RELOADS, mappings: [] },
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

/** The same as the admin port has it. */
export function makeShownRouter(endpoints: readonly Endpoint[] = [], config: Partial<ActiveConfig> = {}): ShownRouter {
  const clock = new FakeClock();
  const load = new LoadTable();
  const facts = factsOf(endpoints);
  const shown = { ...makeConfig(), ...config };
  return {
    config: shown,
    pool: {
      facts,
      load,
      prefixStats: undefined,
      connectionsTo: () => 0,
      leftOpenAt: () => 0,
      figures: new RequestFigures(clock),
    },
    control: {
      intents: new Intents(new FakeClock(), () => {}),
      judge: NO_JUDGE,
      discoveryTroubles: new Map(),
      probeFailure: () => "",
      unreadableSources: () => [],
      timesOf: () => ({ phaseSinceMs: 0, lastCheckMs: Number.NaN, nextCheckMs: Number.NaN }),
    },
    gate: { memory: NO_MEMORY },
    plugins: { times: { slow: [], timed: [] }, faults: { counts: new Map(), lately: [] } },
    features: new LiveFeatures({
      services: { clock, random: Math.random, log: silentLog },
      faults: { report() {} },
      memory: { giveUpSpare() {} },
      load,
      facts: () => facts,
      nextTurn: (run) => run(),
    }),
    identity: { startedAtS: STARTED_AT_S },
    dryRun() {
      throw new Error("There is no router here");
    },
    savedFacts: () => savedFacts(shown, new KeptState(), { facts, load, tokenScale: new TokenScale() }, clock),
    adapters: new Adapters({
      clock,
      load,
      facts: () => facts,
      targets: () => shown.targets,
      // e0's replica does what it is told, the others refuse.
      post: ({ url: { port } }) =>
        Promise.resolve(port === 8000 ? { status: 200, body: "Success" } : { status: 404, body: '{"error":{"message":"No."}}' }),
      adapterChanged() {},
    }),
  };
}

function makeConfig(): ActiveConfig {
  return {
    pool: "llama",
    routes: new Map(),
    rewriters: [],
    targets: nameSet(),
    profile: {
      name: "default",
      filters: [],
      scorers: [],
      picker: { name: "max-score", type: "max-score", plugin: { pick: (candidates) => candidates } },
      chosen: [],
      responseHeaders: [],
    },
    others: new Map(),
    admission: undefined,
    features: new Map(),
    observers: [],
    settings: DEFAULT_SETTINGS,
  };
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
