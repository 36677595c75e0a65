import type { ActiveConfig, Profile } from "../../core/active-config.ts";
import { readJsonBody } from "../../core/body/json-body.ts";
import { MemoryBudget } from "../../core/body/memory-budget.ts";
import { ScanTurns } from "../../core/body/scan-turns.ts";
import type { Endpoint } from "../../core/contract/endpoint.ts";
import { type Log, silentLog } from "../../core/contract/log.ts";
import { nameSet } from "../../core/contract/name-set.ts";
import type { Outcome } from "../../core/contract/outcome.ts";
import { LiveFeatures } from "../../core/features/live-features.ts";
import { PluginFaults } from "../../core/plugin-watch/plugin-faults.ts";
import { PluginTimes } from "../../core/plugin-watch/plugin-times.ts";
import type { Pool } from "../../core/pool/pool.ts";
import type { Incoming } from "../../core/request/incoming.ts";
import type { RouterParts } from "../../core/router-parts.ts";
import { DEFAULT_SETTINGS, type Limits, type RetrySettings } from "../../core/settings.ts";
import { type Facts, factsOf } from "../../core/state/facts.ts";
import { LoadTable } from "../../core/state/load.ts";
import { PrefixIndex } from "../../core/state/prefix-index.ts";
import { RetryBudget } from "../../core/state/retry-budget.ts";
import { TokenScale } from "../../core/state/token-scale.ts";
import { type Traffic, UNWATCHED } from "../../core/state/traffic.ts";
import { ClientCounts } from "../../core/wire/client-counts.ts";
import { Deadlines } from "../../core/wire/deadlines.ts";
import chatCompletions from "../../plugins/parsers/chat-completions.ts";
import { makeEndpoints, seededRandom } from "./endpoints.ts";
import { FakeClock } from "./fake-clock.ts";
import { MemoryUpstream } from "./memory-upstream.ts";
import { createPlugin } from "./plugins.ts";
import { requestHead } from "./wire-heads.ts";

export interface MemoryPartsOptions {
  /** Default one. */
  readonly endpoints?: readonly Endpoint[];
  /** Over one without filters and scorers that tries the candidates in their order. */
  readonly profile?: Partial<Profile>;
  readonly limits?: Partial<Limits>;
  readonly rewriters?: ActiveConfig["rewriters"];
  /** Over no pause before a retry, and budget for many. */
  readonly retries?: Partial<RetrySettings>;
  /** Default one that keeps the outcomes. */
  readonly observers?: ActiveConfig["observers"];
  readonly admission?: ActiveConfig["admission"];
  /** What the config says to the features. Default nothing. */
  readonly features?: ActiveConfig["features"];
}

const SWEEP_MS = 10;
const CHAT = { name: "chat", type: "chat-completions", plugin: createPlugin(chatCompletions) };

/** A pool of replicas in memory; it keeps what it is told. */
export class MemoryPool implements Pool {
  facts: Facts;
  readonly load = new LoadTable();
  readonly prefixIndex = new PrefixIndex({ blockBytes: 64, maxBytes: 2 ** 20, secret: [1, 2, 3, 4, 5, 6] });
  readonly tokenScale = new TokenScale();
  readonly retryBudget: RetryBudget;
  readonly figures = { ended() {} };
  /** Names of endpoints that could not be connected to. */
  readonly connectFailures: string[] = [];
  /** Names of endpoints whose list of models was contradicted. */
  readonly modelChecks: string[] = [];
  readonly control = {
    traffic: UNWATCHED as Traffic,
    connectFailed: ({ name }: Endpoint) => void this.connectFailures.push(name),
    checkModels: ({ name }: Endpoint) => void this.modelChecks.push(name),
  };
  readonly #limits: Limits;
  readonly #deadlines: Deadlines;
  readonly #upstreams = new Map<string, MemoryUpstream>();

  constructor(endpoints: readonly Endpoint[], { limits, retries }: ActiveConfig["settings"], deadlines: Deadlines) {
    this.facts = factsOf(endpoints);
    this.retryBudget = new RetryBudget(retries);
    this.#limits = limits;
    this.#deadlines = deadlines;
  }

  connections(endpoint: Endpoint): MemoryUpstream {
    const known = this.#upstreams.get(endpoint.name);
    if (known !== undefined) return known;
    const upstream = new MemoryUpstream(endpoint, this.#limits, this.#deadlines);
    this.#upstreams.set(endpoint.name, upstream);
    return upstream;
  }
}

/** The parts of a router over replicas in memory; they keep what they are told. */
export class MemoryParts implements RouterParts {
  config: ActiveConfig;
  readonly clock = new FakeClock();
  /** What the operator was told: the message, then its fields. */
  readonly logged: unknown[][] = [];
  readonly services: { readonly clock: FakeClock; readonly random: () => number; readonly log: Log };
  /** Requests that have taken the config and not given it back. */
  configsTaken = 0;
  readonly configs = {
    take: (): ActiveConfig => {
      this.configsTaken += 1;
      return this.config;
    },
    giveBack: () => {
      this.configsTaken -= 1;
    },
  };
  /** What is to run in the next turn of the event loop; the test runs it. */
  readonly turns: (() => void)[] = [];
  readonly gate: RouterParts["gate"];
  readonly pool: MemoryPool;
  readonly plugins: RouterParts["plugins"];
  readonly features: LiveFeatures;
  readonly outcomes: Outcome[] = [];
  #requests = 0;
  readonly identity = {
    startedAtS: 0,
    isStopping: false,
    nextRequestId: () => {
      this.#requests += 1;
      return `req-${this.#requests}`;
    },
  };

  constructor(options: MemoryPartsOptions = {}) {
    this.config = makeConfig(options, this.outcomes);
    const { clock } = this;
    const { settings, profile } = this.config;
    const { limits } = settings;
    const write: Log["info"] = (message, fields) => void this.logged.push([message, ...Object.values(fields ?? {})]);
    const log = { info: write, warn: write, error: write };
    this.services = { clock, random: seededRandom(1), log };
    this.gate = {
      clients: new ClientCounts(limits.perClientRequests),
      memory: new MemoryBudget(limits.memoryBytes === 0 ? 2 ** 30 : limits.memoryBytes, clock),
      scanTurns: new ScanTurns(clock, (run) => void this.turns.push(run)),
    };
    this.pool = new MemoryPool(options.endpoints ?? makeEndpoints(1), settings, new Deadlines(clock, SWEEP_MS));
    const faults = new PluginFaults(clock, log);
    const times = new PluginTimes(clock, silentLog);
    times.follow(profile, limits.pluginMs);
    this.plugins = { times, faults };
    const { memory } = this.gate;
    const { load } = this.pool;
    const nextTurn = (run: () => void) => void this.turns.push(run);
    this.features = new LiveFeatures({ services: this.services, faults, memory, load, facts: () => this.pool.facts, nextTurn });
    this.features.use(this.config);
  }

  upstreamOf(endpoint: Endpoint): MemoryUpstream {
    return this.pool.connections(endpoint);
  }
}

function makeConfig(
  { profile, rewriters = [], limits, retries, observers, admission, features = new Map() }: MemoryPartsOptions,
  outcomes: Outcome[],
): ActiveConfig {
  const recorder = { name: "recorder", type: "recorder", plugin: { finished: (each: Outcome) => void outcomes.push(each) } };
  return {
    pool: "memory",
    routes: new Map([["/v1/chat/completions", new Map([["POST", CHAT]])]]),
    rewriters,
    targets: nameSet(
      rewriters.flatMap(({ plugin }) => (plugin.mappings ?? []).flatMap(({ targets }) => targets.map(({ name }) => name))),
    ),
    profile: {
      name: "default",
      filters: [],
      scorers: [],
      picker: { name: "in-order", type: "in-order", plugin: { pick: (candidates) => candidates } },
      chosen: [],
      responseHeaders: [],
      ...profile,
    },
    others: new Map(),
    admission,
    features,
    observers: observers ?? [recorder],
    settings: {
      ...DEFAULT_SETTINGS,
      limits: { ...DEFAULT_SETTINGS.limits, ...limits },
      retries: { ...DEFAULT_SETTINGS.retries, backoffMs: 0, budgetLeast: 1_000, ...retries },
    },
  };
}

/** A chat request as the pipeline gets it. */
export function makeIncoming(json: string, lines: readonly string[] = []): Incoming {
  const path = "/v1/chat/completions";
  return {
    id: "request-1",
    head: requestHead(lines, `POST ${path} HTTP/1.1`),
    path,
    query: "",
    peer: "",
    parser: CHAT,
    body: readJsonBody(Buffer.from(json), CHAT.plugin, 64),
  };
}
