import type { ActiveConfig, Profile } from "../../core/active-config.ts";
import { readJsonBody } from "../../core/body/json-body.ts";
import { MemoryBudget } from "../../core/body/memory-budget.ts";
import { BodyBuffer } from "../../core/body/receive.ts";
import { ScanTurns } from "../../core/body/scan-turns.ts";
import type { Endpoint } from "../../core/contract/endpoint.ts";
import { type Log, silentLog } from "../../core/contract/log.ts";
import { nameSet } from "../../core/contract/name-set.ts";
import type { Outcome } from "../../core/contract/outcome.ts";
import { OwnRoutes } from "../../core/own-routes.ts";
import { PluginFaults } from "../../core/plugin-watch/plugin-faults.ts";
import { PluginTimes } from "../../core/plugin-watch/plugin-times.ts";
import { LivePool } from "../../core/pool/live-pool.ts";
import type { RouterAccess } from "../../core/router-host.ts";
import type { RouterParts } from "../../core/router-parts.ts";
import { Run } from "../../core/run.ts";
import type { Services } from "../../core/services.ts";
import { DEFAULT_SETTINGS, type Limits, type RetrySettings } from "../../core/settings.ts";
import { slotsOf } from "../../core/slots.ts";
import { factsOf } from "../../core/state/facts.ts";
import { type Traffic, UNWATCHED } from "../../core/state/traffic.ts";
import { Ticket } from "../../core/ticket.ts";
import { ClientCounts } from "../../core/wire/client-counts.ts";
import { Deadlines } from "../../core/wire/deadlines.ts";
import models from "../../plugins/features/models/feature.ts";
import chatCompletions from "../../plugins/parsers/chat-completions.ts";
import { makeActiveConfig } from "./active-config.ts";
import { makeEndpoints, seededRandom } from "./endpoints.ts";
import { FakeClock } from "./fake-clock.ts";
import { MemoryConnections } from "./memory-connections.ts";
import { MemoryUpstream } from "./memory-upstream.ts";
import { createPlugin } from "./plugins.ts";
import { RecordedResponse } from "./recorded-response.ts";
import { modulesOf } from "./section-modules.ts";
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
const chatParser = createPlugin(chatCompletions);
const CHAT = { name: "chat", type: "chat-completions", plugin: chatParser, keys: chatParser.keys };

/** A pool of replicas in memory; it keeps what it is told. */
export class MemoryPool extends LivePool<MemoryConnections<MemoryUpstream>> {
  /** Names of endpoints that could not be connected to. */
  readonly connectFailures: string[] = [];
  /** Names of endpoints that a gateway did without. */
  readonly doubts: string[] = [];
  /** Names of endpoints that make no progress. */
  readonly silent = new Set<string>();
  /** Names of endpoints whose list of models was contradicted. */
  readonly modelChecks: string[] = [];
  override readonly control = {
    traffic: UNWATCHED as Traffic,
    connectFailed: ({ name }: Endpoint) => void this.connectFailures.push(name),
    doubted: ({ name }: Endpoint) => void this.doubts.push(name),
    isSilent: ({ name }: Endpoint) => this.silent.has(name),
    checkModels: ({ name }: Endpoint) => void this.modelChecks.push(name),
  };

  constructor(endpoints: readonly Endpoint[], settings: ActiveConfig["settings"], services: Services) {
    const deadlines = new Deadlines(services.clock, SWEEP_MS);
    const upstreamOf = (endpoint: Endpoint) => new MemoryUpstream(endpoint, settings.limits, deadlines);
    super(settings, services, () => new MemoryConnections(upstreamOf), [1, 2, 3, 4, 5, 6]);
    this.prepare(settings, { blockBytes: 64, maxBytes: 2 ** 20, countGenerated: false })();
    this.publish(factsOf(endpoints));
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
    this.pool = new MemoryPool(options.endpoints ?? makeEndpoints(1), settings, this.services);
    const faults = new PluginFaults(clock, log);
    const times = new PluginTimes(clock, silentLog);
    times.follow(profile, limits.pluginMs);
    this.plugins = { times, faults };
    const { memory } = this.gate;
    const { load } = this.pool;
    const nextTurn = (run: () => void) => void this.turns.push(run);
    const router: Partial<RouterAccess> = {
      services: this.services,
      faults,
      memory,
      load,
      facts: () => this.pool.facts,
      nextTurn,
    };
    const modules = modulesOf(this.config.features, router);
    this.config = { ...this.config, modules, slots: slotsOf(modules) };
    for (const { plugin } of modules) plugin.configured?.(this.config);
  }

  upstreamOf(endpoint: Endpoint): MemoryUpstream {
    return this.pool.connections.of(endpoint);
  }
}

function makeConfig(
  { profile, rewriters = [], limits, retries, observers, admission, features = new Map() }: MemoryPartsOptions,
  outcomes: Outcome[],
): ActiveConfig {
  const recorder = { name: "recorder", type: "recorder", plugin: { finished: (each: Outcome) => void outcomes.push(each) } };
  const usual = makeActiveConfig();
  return {
    ...usual,
    pool: "memory",
    routes: new Map([["/v1/chat/completions", new Map([["POST", CHAT]])]]),
    rewriters,
    targets: nameSet(
      rewriters.flatMap(({ plugin }) => (plugin.mappings ?? []).flatMap(({ targets }) => targets.map(({ name }) => name))),
    ),
    profile: { ...usual.profile, ...profile },
    admission,
    features,
    ownRoutes: new OwnRoutes([{ name: "models", plugin: createPlugin(models) }]),
    observers: observers ?? [recorder],
    settings: {
      ...DEFAULT_SETTINGS,
      limits: { ...DEFAULT_SETTINGS.limits, ...limits },
      retries: { ...DEFAULT_SETTINGS.retries, backoffMs: 0, budgetLeast: 1_000, ...retries },
    },
  };
}

/** A chat request whose body has come, as the pipeline gets it. */
export function makeRun(parts: MemoryParts, json: string, lines: readonly string[] = []): Run {
  const path = "/v1/chat/completions";
  const ticket = new Ticket("request-1", "POST", parts.clock.now());
  ticket.path = path;
  const head = requestHead(lines, `POST ${path} HTTP/1.1`);
  const run = new Run(ticket, head, "", parts.config, parts, new RecordedResponse());
  const bytes = Buffer.from(json);
  run.parser = CHAT;
  run.buffer = new BodyBuffer(bytes.length, bytes.length, parts.gate.memory, { failed() {} });
  run.buffer.append(bytes, 0, bytes.length);
  run.body = readJsonBody(bytes, CHAT.plugin, 64);
  return run;
}
