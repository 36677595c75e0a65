import { checkPages } from "../../apps/admin/pages.ts";
import { type LoadedConfig, loadTexts } from "../../config/load.ts";
import { type Clock, systemClock } from "../../core/contract/clock.ts";
import { type Log, silentLog } from "../../core/contract/log.ts";
import type { Definition } from "../../core/contract/plugin.ts";
import { respondWithError } from "../../core/errors/error-response.ts";
import type { Router } from "../../core/router.ts";
import { runRouter } from "../../core/run-router.ts";
import { startWireServer, type WireServer } from "../../core/server/server.ts";
import { corsLines } from "../../core/wire/cors.ts";
import { builtIns } from "../../plugins/registry.ts";
import { FakeClock } from "./fake-clock.ts";

export interface TestRouter {
  readonly url: string;
  readonly port: number;
  readonly router: Router;
  readonly server: WireServer;
  /** Lines the access log wrote. */
  readonly log: readonly AccessLine[];
  close(): Promise<void>;
}

/** One line of the access log. */
export interface AccessLine {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly ending: string;
  readonly error: string;
  readonly flags: string;
  readonly session: string;
  readonly turn: number | null;
  readonly pausedMs: number | null;
  readonly model: string;
  readonly target: string;
  readonly endpoint: string;
  readonly attempts: readonly {
    readonly endpoint: string;
    readonly result: number | string;
    readonly startedMs: number;
    readonly endedMs: number;
  }[];
}

export interface TestRouterOptions {
  /** Where the config would be; paths in it begin at its folder. */
  readonly file?: string;
  /** Lines below `spec:`, indented by two. */
  readonly spec?: string;
  /** The value of `listen.cors`. */
  readonly cors?: string;
  /** The value of `listen.tls`. */
  readonly tls?: string;
  /** Further documents. */
  readonly documents?: string;
  /** Plugin types of the test's own. */
  readonly plugins?: readonly Definition[];
  /** Wait until this many replicas are ready; default all. */
  readonly ready?: number;
  /** Default the machine's; with one that a test moves, nothing is ready before it is moved, so `ready` must be 0. */
  readonly clock?: Clock;
  /** Where the operator's log goes; default nowhere. */
  readonly operatorLog?: Log;
}

/** The config of such a router. */
export async function loadTestConfig(
  urls: readonly string[],
  options: Pick<TestRouterOptions, "file" | "spec" | "documents" | "plugins" | "cors" | "tls"> = {},
): Promise<LoadedConfig> {
  const cors = options.cors === undefined ? "" : `, cors: ${options.cors}`;
  const tls = options.tls === undefined ? "" : `, tls: ${options.tls}`;
  const text = `apiVersion: signalbox/v1\nkind: Router\nspec:\n  listen: { port: 0${cors}${tls} }\n  admin: false\n${options.spec ?? ""}\n${options.documents ?? ""}`;
  const own = (options.plugins ?? []).map((plugin) => [plugin.type, plugin] as const);
  const loaded = await loadTexts([{ file: options.file ?? "test.yaml", text }], new Map([...builtIns, ...own]), urls);
  if (loaded.problems !== undefined) throw new Error(loaded.problems.map((problem) => JSON.stringify(problem)).join("\n"));
  return loaded;
}

/** A whole router on a free port over the given replicas. */
export async function startTestRouter(urls: readonly string[], options: TestRouterOptions = {}): Promise<TestRouter> {
  const loaded = await loadTestConfig(urls, options);
  const log: AccessLine[] = [];
  const { clock = systemClock } = options;
  const router = runRouter(loaded, {
    accepts: ({ observers }) => checkPages(observers),
    clock,
    random: Math.random,
    log: options.operatorLog ?? silentLog,
    output: { print: (line) => log.push(JSON.parse(line) as AccessLine), isTerminal: false },
  });
  const unknownOriginLines = corsLines(undefined, loaded.config.settings.cors);
  const server = await startWireServer({
    host: "127.0.0.1",
    port: 0,
    limits: loaded.config.settings.limits,
    clock,
    memory: router.gate.memory,
    tls: loaded.config.listen.tls,
    log: options.operatorLog ?? silentLog,
    start: router.start,
    refuse: (response, error) => respondWithError(response, error, "openai", router.identity.nextRequestId(), unknownOriginLines),
  });
  await waitUntil(() => readyCount(router) >= (options.ready ?? urls.length));
  return {
    url: `http://127.0.0.1:${server.port}`,
    port: server.port,
    router,
    server,
    log,
    async close() {
      const drained = server.drain(0);
      // By force, but force waits for its clock too.
      if (clock instanceof FakeClock) await clock.advance(5_000);
      await drained;
      router.close();
    },
  };
}

export function readyCount(router: Router): number {
  return router.pool.facts.endpoints.filter(({ isAvailable }) => isAvailable).length;
}

/** Polls until `isTrue`, at most `timeoutMs`: for what other processes and sockets do in their own time. */
export async function waitUntil(isTrue: () => boolean, timeoutMs = 25_000): Promise<void> {
  const start = performance.now();
  while (!isTrue()) {
    if (performance.now() - start > timeoutMs) throw new Error(`Not true within ${timeoutMs} ms: ${isTrue}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

interface OutstandingLoad {
  readonly pool: { readonly load: Pick<Router["pool"]["load"], "inFlight" | "prefillTokens"> };
}

/** Requests in flight and unanswered prompt tokens over all endpoints: both 0 when nothing is under way. */
export function outstanding({ pool }: OutstandingLoad): { inFlight: number; prefillTokens: number } {
  const sum = (numbers: ArrayLike<number>) => Array.from(numbers).reduce((total, value) => total + value, 0);
  return { inFlight: sum(pool.load.inFlight), prefillTokens: sum(pool.load.prefillTokens) };
}
