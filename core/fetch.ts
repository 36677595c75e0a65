import { loadConfig, loadTexts } from "../config/load.ts";
import { formatProblems, type Problem } from "../config/problems.ts";
import { builtIns } from "../plugins/registry.ts";
import { systemClock } from "./contract/clock.ts";
import { silentLog } from "./contract/log.ts";
import type { Definition } from "./contract/plugin.ts";
import type { HostServices } from "./control/plugin-set.ts";
import { exchange, type FetchExchange } from "./fetch/fetch-exchange.ts";
import { runRouter } from "./router.ts";
import { Deadlines, sweepPeriodMs } from "./wire/deadlines.ts";

/** Where a router's config comes from; what `listen` and `admin` say in it has no meaning here. */
export interface RouterOptions extends Partial<HostServices> {
  /** Config files, and folders of them. */
  readonly files?: readonly string[];
  /** The config itself, as YAML or JSON; instead of files. Paths in it start at the working directory. */
  readonly text?: string;
  /** Addresses of replicas, beside those of the config or without any. */
  readonly urls?: readonly string[];
  /** Plugin types of your own, which the config names like built-in ones. */
  readonly plugins?: readonly Definition[];
}

/** The router as a Web-standard handler, for Hono, Deno.serve, Bun.serve and their like. */
export interface FetchRouter {
  /**
   * Routes one request. Never rejects: an error becomes a response in the called API's own shape. If a response breaks off, its body
   * fails. An aborted request gets status 499.
   */
  fetch(request: Request): Promise<Response>;
  /** Resolves true once an endpoint is ready, false when none is after `timeoutMs`. */
  whenReady(timeoutMs: number): Promise<boolean>;
  /** Ends requests under way with an error, then probes and connections; call it once the host takes no more requests. */
  close(): void;
}

/** A config that can't run. The message lists every problem with its place. */
export class ConfigError extends Error {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(formatProblems(problems));
    this.name = "ConfigError";
    this.problems = problems;
  }
}

/** Starts the router that the standalone proxy runs, without a listener. Rejects with a ConfigError where the config can't run. */
export async function createRouter(options: RouterOptions): Promise<FetchRouter> {
  const { files, text, urls = [], plugins = [], ...given } = options;
  if (files !== undefined && text !== undefined) throw new TypeError("Give the config as files or as text, not both.");
  const registry = withOwn(plugins);
  const loaded =
    text === undefined
      ? await loadConfig(files ?? [], registry, urls)
      : await loadTexts([{ file: "text", text }], registry, urls);
  if (loaded.problems !== undefined) throw new ConfigError(loaded.problems);

  const world = { clock: systemClock, random: Math.random, log: silentLog, print: () => {}, isTerminal: false, ...given };
  const router = runRouter(loaded, world);
  const { limits } = loaded.config.settings;
  const deadlines = new Deadlines(world.clock, sweepPeriodMs([limits.bodyTimeoutMs, limits.writeTimeoutMs]));
  const shared = {
    start: router.start,
    nextRequestId: router.nextRequestId,
    limits,
    clock: world.clock,
    deadlines,
    open: new Set<FetchExchange>(),
    isClosed: false,
  };
  return {
    fetch: (request) => exchange(request, shared),
    whenReady: router.whenReady,
    close() {
      shared.isClosed = true;
      for (const one of [...shared.open]) one.stop();
      deadlines.close();
      router.close();
    },
  };
}

function withOwn(plugins: readonly Definition[]): ReadonlyMap<string, Definition> {
  const registry = new Map(builtIns);
  for (const plugin of plugins) {
    if (registry.has(plugin.type))
      throw new TypeError(`There is a plugin type "${plugin.type}" already; give yours another name.`);
    registry.set(plugin.type, plugin);
  }
  return registry;
}
