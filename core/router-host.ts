import { MemoryBudget } from "./body/memory-budget.ts";
import type { Clock } from "./contract/clock.ts";
import type { Endpoint } from "./contract/endpoint.ts";
import type { NameSet } from "./contract/name-set.ts";
import type { PluginHost } from "./contract/plugin.ts";
import type { EndpointJudge } from "./judge.ts";
import type { FaultReporter } from "./plugin-watch/plugin-faults.ts";
import type { Carrier } from "./pool/carrier.ts";
import type { EngineWire } from "./pool/engine-wire.ts";
import type { OperatorIntents } from "./pool/operator-intents.ts";
import type { Services } from "./services.ts";
import { type Facts, factsOf } from "./state/facts.ts";
import { LoadTable } from "./state/load.ts";
import type { PrefixIndex } from "./state/prefix-index.ts";
import type { HttpPost } from "./wire/http-get-result.ts";

/** What features that come with the router are made with, beside what every plugin gets. */
export interface RouterHost extends PluginHost, RouterAccess {}

/** The parts of a router that its features use. They outlive each config. */
export interface RouterAccess {
  readonly services: Services;
  readonly faults: FaultReporter;
  readonly memory: MemoryBudget;
  readonly load: LoadTable;
  facts(): Facts;
  /** Undefined when no plugin reads prefixes. */
  prefixIndex(): PrefixIndex | undefined;
  /** Who says which endpoints are not used; undefined where no replicas are. */
  control(): { readonly judge: EndpointJudge; readonly intents: OperatorIntents } | undefined;
  /** What carries messages to other routers, in place of what the config says. */
  readonly carrier?: Carrier;
  /** What carries events of engines' caches, in place of sockets. */
  readonly engines?: EngineWire;
  /** The same to the other workers of this program, where the config names no store. */
  readonly workers?: Carrier | undefined;
  /** Calls `run` in a later turn of the event loop. */
  nextTurn(run: () => void): void;
  /** Undefined where there are no replicas. */
  adapters(): AdapterAccess | undefined;
  /** What changes the config, which the core knows nothing of: `changeableConfig` of the config's room has its type. */
  running(): object | undefined;
}

/** What replicas are asked with to load and unload adapters; `Adapters` of core/control does it. */
export interface AdapterAccess {
  readonly clock: Clock;
  readonly load: LoadTable;
  readonly facts: () => Facts;
  /** The targets of the config's rewrites. */
  readonly targets: () => NameSet;
  readonly post: HttpPost;
  /** The endpoint's replica has loaded or unloaded it. */
  readonly adapterChanged: (endpoint: Endpoint, name: string, isLoaded: boolean) => void;
}

/** For features that are made where no router runs: nothing is in their pool, and nobody reads what they report. */
export function withoutRouter({ clock, random, log }: Services): RouterAccess {
  const facts = factsOf([]);
  return {
    services: { clock, random, log },
    faults: { report() {} },
    memory: new MemoryBudget(Number.POSITIVE_INFINITY, clock),
    load: new LoadTable(),
    facts: () => facts,
    prefixIndex: () => undefined,
    control: () => undefined,
    nextTurn: (run) => void clock.after(0, run),
    adapters: () => undefined,
    running: () => undefined,
  };
}
