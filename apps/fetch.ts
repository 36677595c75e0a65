import { type LoadedConfig, loadConfig, loadTexts } from "../config/load.ts";
import { formatProblems, type Problem } from "../config/read/problems.ts";
import { NO_OVERLAY, type Overlay } from "../config/rewrites/overlay.ts";
import { OverlayExpiry } from "../config/running/overlay-expiry.ts";
import { RunningConfig } from "../config/running/running-config.ts";
import { systemClock } from "../core/contract/clock.ts";
import { silentLog } from "../core/contract/log.ts";
import type { Definition } from "../core/contract/plugin.ts";
import { needWebStreams } from "../core/fetch/web-streams.ts";
import { fetchFace } from "../core/fetch-face.ts";
import { runRouter } from "../core/run-router.ts";
import type { Services } from "../core/services.ts";
import { builtIns } from "../plugins/registry.ts";
import { routerApi } from "./admin/api/routes.ts";
import { EventStreams } from "./admin/event-streams.ts";
import { pageHandlers } from "./admin/page-handlers.ts";
import { checkPages } from "./admin/pages.ts";
import { countPools, figuresOf } from "./admin/pool-sites.ts";
import { turns } from "./admin/turns.ts";

/** Where a router's config comes from. Of its key `listen` only `cors` has an effect here, of `admin` only `token` and `readOnly`. */
export interface RouterOptions extends Partial<Services> {
  /** Config files, or folders of config files. */
  readonly files?: readonly string[];
  /** The config as YAML or JSON text, instead of files. Its paths are relative to the working directory. */
  readonly text?: string;
  /** Addresses of replicas, in addition to those of the config or without a config. */
  readonly urls?: readonly string[];
  /** Your own plugin types; the config uses them like built-in ones. */
  readonly plugins?: readonly Definition[];
  /** Called with each line that plugins print, such as those of the access log. By default they are dropped. */
  readonly print?: (line: string) => void;
}

/**
 * The router as a Web-standard handler, for Hono, Deno.serve, Bun.serve and similar servers. Mount `metrics`, `status` and `explain`
 * where only operators come: they check neither who asks nor the Host header. Mounted at /metrics, /status and /decisions, beside `admin`
 * at /api/v1, they are what the program's commands ask with --admin.
 */
export interface FetchRouter {
  /**
   * Routes one request. Never rejects: an error becomes a response in the shape of the called API. If a response breaks off, its
   * body stream fails. An aborted request resolves to status 499, which no client reads.
   */
  fetch(request: Request): Promise<Response>;
  /**
   * The admin API, for requests below /api/v1: mount it where only operators come. It checks no Host header. `caller` is who asks,
   * for the log. Changes need the token of spec.admin.token, since nobody here knows who can reach it. Never rejects.
   */
  admin(request: Request, caller?: string): Promise<Response>;
  /** The metrics, for Prometheus. */
  metrics(request: Request): Promise<Response>;
  /** The router and its pool now, as JSON. */
  status(request: Request): Promise<Response>;
  /** GET shows the last decisions, `?id=` one of them; POST decides about a request without sending it, as POST /api/v1/explain. */
  explain(request: Request): Promise<Response>;
  /** Resolves to true once an endpoint is ready, or to false when none is after `timeoutMs`. */
  whenReady(timeoutMs: number): Promise<boolean>;
  /** Ends requests under way with an error, then probes and connections. Call it when the host accepts no more requests. */
  close(): void;
}

/** The config can't run. The message lists every problem with its position. */
export class ConfigError extends Error {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(formatProblems(problems));
    this.name = "ConfigError";
    this.problems = problems;
  }
}

/** Starts the same router as the standalone proxy, without a listener. Rejects with ConfigError if the config can't run. */
export async function createRouter(options: RouterOptions): Promise<FetchRouter> {
  const { files, text, urls = [], plugins = [], print = () => {}, ...given } = options;
  await needWebStreams();
  if (files !== undefined && text !== undefined) throw new TypeError("Give the config as files or as text, not both.");
  const registry = withOwn(plugins);
  const ownText = text === undefined ? undefined : [{ file: "text", text }];
  const load = (overlay: Overlay, base?: LoadedConfig) => {
    const texts = base?.texts ?? ownText;
    if (texts === undefined) return loadConfig(files ?? [], registry, urls, overlay);
    return loadTexts(texts, registry, urls, overlay, true, [], undefined, base);
  };
  const loaded = await load(NO_OVERLAY);
  if (loaded.problems !== undefined) throw new ConfigError(loaded.problems);

  const output = { print, isTerminal: false };
  const services = { clock: systemClock, random: Math.random, log: silentLog, ...given, output };
  const router = runRouter(loaded, { ...services, accepts: ({ observers }) => checkPages(observers) });
  const face = fetchFace(router, services.clock);
  const figures = figuresOf(router);
  const running = new RunningConfig({
    loaded,
    load,
    publish(next) {
      router.replace(next);
      countPools(router, figures);
      face.useSettings(next.config.settings);
    },
    ...services,
  });
  router.changeBy(running);
  const overlayExpiry = new OverlayExpiry(running, services.clock);
  const streams = new EventStreams({ observers: () => router.config.observers, ...services });
  const site = {
    router,
    figures,
    running,
    overlayExpiry,
    streams,
    turn: turns(),
    sources: [...(files ?? []), ...(text === undefined ? [] : ["text"]), ...urls],
    commandLine: {},
    // The host listens, and prints.
    listen: { host: "", port: 0 },
    clientConnections: () => face.openCount,
    droppedLogLines: () => 0,
    acceptPauses: () => 0,
    access() {
      const { tokens = [], isReadOnly = true } = running.loaded.config.admin ?? {};
      return { tokens, isReadOnly, isOpenToNetwork: true };
    },
    ...services,
  };
  const api = routerApi(site);
  return {
    ...pageHandlers(site, api),
    fetch: face.fetch,
    admin: (request, caller = "") => api(request, caller),
    whenReady: router.whenReady,
    close() {
      running.close();
      face.close();
      overlayExpiry.close();
      streams.close();
      router.close();
    },
  };
}

function withOwn(plugins: readonly Definition[]): ReadonlyMap<string, Definition> {
  const registry = new Map(builtIns);
  for (const plugin of plugins) {
    if (registry.has(plugin.type)) throw new TypeError(`A plugin type "${plugin.type}" exists already; give yours another name.`);
    registry.set(plugin.type, plugin);
  }
  return registry;
}
