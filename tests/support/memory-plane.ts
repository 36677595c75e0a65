import type { ActiveConfig, Profile } from "../../core/active-config.ts";
import { readJsonBody } from "../../core/body/json-body.ts";
import { MemoryBudget } from "../../core/body/memory-budget.ts";
import { ScanTurns } from "../../core/body/scan-turns.ts";
import type { Endpoint } from "../../core/contract/endpoint.ts";
import { type Log, silentLog } from "../../core/contract/log.ts";
import { nameSet } from "../../core/contract/name-set.ts";
import type { Outcome } from "../../core/contract/outcome.ts";
import type { DataPlane } from "../../core/data-plane.ts";
import type { Incoming } from "../../core/intake/incoming.ts";
import { DEFAULT_SETTINGS, type Limits, type RetrySettings } from "../../core/settings.ts";
import { type Admission, admitAll } from "../../core/stages/admit.ts";
import { Mirroring } from "../../core/stages/mirroring.ts";
import { PluginFaults } from "../../core/stages/plugin-faults.ts";
import { PluginTimes } from "../../core/stages/plugin-times.ts";
import { Shadowing } from "../../core/stages/shadowing.ts";
import { type Facts, factsOf } from "../../core/state/facts.ts";
import { LoadTable } from "../../core/state/load.ts";
import { PrefixIndex } from "../../core/state/prefix-index.ts";
import { RetryBudget } from "../../core/state/retry-budget.ts";
import { TokenScale } from "../../core/state/token-scale.ts";
import { UNWATCHED } from "../../core/state/traffic.ts";
import { ClientCounts } from "../../core/wire/client-counts.ts";
import { Deadlines } from "../../core/wire/deadlines.ts";
import chatCompletions from "../../plugins/parsers/chat-completions.ts";
import { makeEndpoints, seededRandom } from "./endpoints.ts";
import { FakeClock } from "./fake-clock.ts";
import { MemoryUpstream } from "./memory-upstream.ts";
import { createPlugin } from "./plugins.ts";
import { requestHead } from "./wire-heads.ts";

export interface MemoryPlaneOptions {
  /** Default one. */
  readonly endpoints?: readonly Endpoint[];
  /** Over one without filters and scorers that tries the candidates in their order. */
  readonly profile?: Partial<Profile>;
  readonly limits?: Partial<Limits>;
  readonly admission?: Admission;
  readonly rewriters?: ActiveConfig["rewriters"];
  /** Over no pause before a retry, and budget for many. */
  readonly retries?: Partial<RetrySettings>;
  /** Default one that keeps the outcomes. */
  readonly observers?: ActiveConfig["observers"];
}

const SWEEP_MS = 10;
const CHAT = { name: "chat", type: "chat-completions", plugin: createPlugin(chatCompletions) };

/** A data plane over replicas in memory; it keeps what it is told. */
export class MemoryPlane implements DataPlane {
  config: ActiveConfig;
  facts: Facts;
  readonly clock = new FakeClock();
  readonly admission: Admission;
  readonly load: LoadTable;
  readonly clients: ClientCounts;
  readonly memory: MemoryBudget;
  /** What is to run in the next turn of the event loop; the test runs it. */
  readonly turns: (() => void)[] = [];
  readonly scanTurns = new ScanTurns(this.clock, (run) => void this.turns.push(run));
  readonly prefixIndex = new PrefixIndex({ blockBytes: 64, maxBytes: 2 ** 20, secret: [1, 2, 3, 4, 5, 6] });
  readonly tokenScale = new TokenScale();
  readonly random = seededRandom(1);
  readonly startedAtS = 0;
  readonly isStopping = false;
  readonly traffic = UNWATCHED;
  readonly figures = { ended() {} };
  readonly pluginTimes: PluginTimes;
  readonly pluginFaults: PluginFaults;
  readonly mirroring = new Mirroring();
  readonly shadowing: Shadowing;
  readonly retryBudget: RetryBudget;
  /** Names of endpoints that could not be connected to. */
  readonly connectFailures: string[] = [];
  /** Names of endpoints whose list of models was contradicted. */
  readonly modelChecks: string[] = [];
  readonly checkModels = ({ name }: Endpoint): void => void this.modelChecks.push(name);
  readonly outcomes: Outcome[] = [];
  /** What the operator was told: the message, then its fields. */
  readonly logged: unknown[][] = [];
  readonly log: Log;
  readonly #deadlines = new Deadlines(this.clock, SWEEP_MS);
  readonly silences = this.#deadlines;
  readonly #upstreams = new Map<string, MemoryUpstream>();
  /** Requests that have taken the config and not given it back. */
  configsTaken = 0;
  #requests = 0;

  constructor(options: MemoryPlaneOptions = {}) {
    const { endpoints = makeEndpoints(1), profile, limits, retries, admission = admitAll, rewriters = [], observers } = options;
    const recorder = {
      name: "recorder",
      type: "recorder",
      plugin: { finished: (each: Outcome) => void this.outcomes.push(each) },
    };
    this.config = {
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
      shadow: undefined,
      observers: observers ?? [recorder],
      settings: {
        ...DEFAULT_SETTINGS,
        limits: { ...DEFAULT_SETTINGS.limits, ...limits },
        retries: { ...DEFAULT_SETTINGS.retries, backoffMs: 0, budgetLeast: 1_000, ...retries },
      },
    };
    this.retryBudget = new RetryBudget(this.config.settings.retries);
    this.facts = factsOf(endpoints);
    this.admission = admission;
    this.clients = new ClientCounts(this.config.settings.limits.perClientRequests);
    const { memoryBytes } = this.config.settings.limits;
    this.memory = new MemoryBudget(memoryBytes === 0 ? 2 ** 30 : memoryBytes, this.clock);
    this.load = new LoadTable();
    const write: Log["info"] = (message, fields) => void this.logged.push([message, ...Object.values(fields ?? {})]);
    this.pluginTimes = new PluginTimes(this.clock, silentLog);
    this.pluginTimes.follow(this.config.profile, this.config.settings.limits.pluginMs);
    this.log = { info: write, warn: write, error: write };
    this.pluginFaults = new PluginFaults(this.clock, this.log);
    this.shadowing = new Shadowing(this.clock, this.pluginFaults);
  }

  upstreamOf(endpoint: Endpoint): MemoryUpstream {
    const known = this.#upstreams.get(endpoint.name);
    if (known !== undefined) return known;
    const upstream = new MemoryUpstream(endpoint, this.config.settings.limits, this.#deadlines);
    this.#upstreams.set(endpoint.name, upstream);
    return upstream;
  }

  takeConfig(): ActiveConfig {
    this.configsTaken += 1;
    return this.config;
  }

  giveBack(): void {
    this.configsTaken -= 1;
  }

  poolOf(endpoint: Endpoint): MemoryUpstream {
    return this.upstreamOf(endpoint);
  }

  connectFailed({ name }: Endpoint): void {
    this.connectFailures.push(name);
  }

  nextRequestId(): string {
    this.#requests += 1;
    return `req-${this.#requests}`;
  }
}

/** A chat request as the pipeline gets it. */
export function makeIncoming(json: string, lines: readonly string[] = []): Incoming {
  const path = "/v1/chat/completions";
  return {
    id: "request-1",
    headAtMs: 0,
    head: requestHead(lines, `POST ${path} HTTP/1.1`),
    method: "POST",
    path,
    query: "",
    peer: "",
    parser: CHAT,
    body: readJsonBody(Buffer.from(json), CHAT.plugin, 64),
  };
}
