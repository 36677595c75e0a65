import type { Input } from "../../../config/command.ts";
import type { LoadedConfig } from "../../../config/load.ts";
import { formatProblems } from "../../../config/read/problems.ts";
import { NO_OVERLAY } from "../../../config/rewrites/overlay.ts";
import type { ReloadCause } from "../../../config/running/reload-cause.ts";
import { RunningConfig } from "../../../config/running/running-config.ts";
import type { ActiveConfig } from "../../../core/active-config.ts";
import { type Clock, systemClock } from "../../../core/contract/clock.ts";
import type { Log } from "../../../core/contract/log.ts";
import type { Definition } from "../../../core/contract/plugin.ts";
import { printableLines } from "../../../core/contract/printable.ts";
import { listenOn } from "../../../core/listen.ts";
import type { Router } from "../../../core/router.ts";
import { runRouter } from "../../../core/run-router.ts";
import { exit } from "../../../core/runtime/stray-exit.ts";
import { takeConsole } from "../../../core/runtime/take-console.ts";
import { tuneRuntime } from "../../../core/runtime/tune-runtime.ts";
import { startWatchdog, type Watchdog } from "../../../core/runtime/watchdog.ts";
import type { WireServer } from "../../../core/server/server.ts";
import { DEFAULT_LIMITS } from "../../../core/settings.ts";
import { checkPages } from "../../admin/pages.ts";
import { countPools, figuresOf } from "../../admin/pool-sites.ts";
import type { ClusterResources } from "../../kubernetes/resources/cluster-resources.ts";
import { clusterView } from "../../kubernetes/resources/cluster-view.ts";
import { LOOK_MS } from "../file-watch.ts";
import { defaultFiles } from "../frame/default-file.ts";
import { failureOf } from "../frame/usage.ts";
import { linePrinter } from "../line-printer.ts";
import { logCertificates, useCertificates } from "./certificates.ts";
import { configSource, type StartArguments, startArguments } from "./config-source.ts";
import { startDemo } from "./demo.ts";
import { demoGreeting, firstProbes, greeting, notYetListeningNote, waitingNote } from "./first-probes.ts";
import type { FrontServer } from "./front-server.ts";
import { logUncaught } from "./last-resort.ts";
import { checkAdminPort, type OpenAdmin, openAdmin } from "./open-admin.ts";
import { hasTarget, openCluster, targetCounts } from "./open-cluster.ts";
import { warnOfOpenPort } from "./open-port.ts";
import { type Outputs, openOutputs } from "./outputs.ts";
import { portError } from "./port-error.ts";
import { urlOf } from "./ports.ts";
import { serviceManager } from "./service-manager.ts";
import { ignoreSignals, type ReloadSignal, reloadSignal, stopSignal } from "./signals.ts";

/** How long the program waits at its end for the readers of its outputs. */
const LAST_LINES_MS = 1_000;

/** How a router is reached, and what runs around it. */
export interface Front {
  /** What the program runs where it is given nothing to run. */
  readonly startDemo?: typeof startDemo;
  /** Those mock replicas run beside the replicas of the config too. */
  readonly hasDemo?: boolean;
  /** It shows each request itself, so a terminal gets no line of the access log for it. */
  readonly showsRequests?: boolean;
  /** How often the files are looked at; default once a second. */
  readonly lookMs?: number;
  /** The process ends itself after this time in one call at the latest, whatever `spec.limits.stuckMs` says but 0. */
  readonly mostStuckMs?: number;
  /** The time of what follows a cluster's resources; default the machine's. */
  readonly clusterClock?: Clock;
  arguments(input: Input): StartArguments;
  /** Throws an Error for a config that can't run behind it. */
  accepts?(config: ActiveConfig): void;
  listen(loaded: LoadedConfig, router: Router, log: Log): Promise<FrontServer>;
  /** Where it is reached, for people. */
  url(host: string, port: number, isTls: boolean): string;
  /** Called once it listens at `url`; `say` prints. Returns what is called when the router stops. */
  running?(router: Router, url: string, say: (text: string) => void): () => void;
}

/** `signalbox start`: runs the router until SIGINT or SIGTERM. Returns the exit code. */
export function start(input: Input, registry: ReadonlyMap<string, Definition>): Promise<number> {
  return startFront(HTTP, input, registry);
}

export const HTTP: Front = { startDemo, arguments: startArguments, listen: listenHttp, url: urlOf };

/** Runs a router behind this front until SIGINT or SIGTERM. Returns the exit code. */
export async function startFront(front: Front, input: Input, registry: ReadonlyMap<string, Definition>): Promise<number> {
  tuneRuntime();
  const outputs = openOutputs(systemClock);
  takeConsole(outputs.tell, outputs.printError);
  ignoreSignals(outputs.log);
  const reloads = reloadSignal();
  logUncaught(outputs.log);
  const watchdog = startWatchdog(stuckMsOf(front, DEFAULT_LIMITS.stuckMs));
  const code = await startWith(front, input, registry, outputs, reloads, watchdog).catch((thrown: unknown) => {
    const failure = failureOf(thrown);
    outputs.printError(input.asCalled(failure.text));
    return failure.code;
  });
  await watchdog.stop();
  // A write that nobody reads would keep the process from ending by itself.
  if (!(await outputs.flush(LAST_LINES_MS))) exit(code);
  return code;
}

async function startWith(
  front: Front,
  input: Input,
  registry: ReadonlyMap<string, Definition>,
  outputs: Outputs,
  reloads: ReloadSignal,
  watchdog: Watchdog,
): Promise<number> {
  const asked = front.arguments(input);
  const files = asked.files.length === 0 && asked.urls.length === 0 ? await defaultFiles() : asked.files;
  const isDemo = files.length === 0 && asked.urls.length === 0;
  const demo = isDemo || front.hasDemo ? await front.startDemo?.() : undefined;
  const urls = [...asked.urls, ...(isDemo ? [] : (demo?.urls ?? []))];
  const demoText = isDemo ? demo?.configText : undefined;
  const leftOut = front.showsRequests && outputs.isTerminal ? ["access-log"] : [];
  const given = { ...asked, files, urls, leftOut };
  const source = configSource(given, demoText, registry, systemClock, front.lookMs ?? LOOK_MS);
  let cluster: ClusterResources | undefined;
  try {
    let loaded = await source.load(NO_OVERLAY);
    cluster = await openCluster(loaded, registry, front.clusterClock ?? systemClock, outputs.log);
    if (cluster !== undefined) {
      source.add(cluster);
      loaded = await source.load(NO_OVERLAY);
    }
    if (loaded.problems === undefined)
      return await run(front, loaded, source, cluster, isDemo ? input : undefined, outputs, reloads, watchdog);
    const hints = await (await import("../import/foreign.ts")).foreignHints(files, registry);
    const problems = input.asCalled(formatProblems(loaded.problems) + hints);
    outputs.printError(`${printableLines(problems)}\nNothing was started.\n`);
    return 1;
  } finally {
    await cluster?.stop();
    await demo?.close();
  }
}

async function run(
  front: Front,
  loaded: LoadedConfig,
  source: ReturnType<typeof configSource>,
  cluster: ClusterResources | undefined,
  demo: Input | undefined,
  outputs: Outputs,
  reloads: ReloadSignal,
  watchdog: Watchdog,
): Promise<number> {
  const { listen: address, settings } = loaded.config;
  const { isTerminal, log } = outputs;
  watchdog.useBound(stuckMsOf(front, settings.limits.stuckMs));
  const printer = linePrinter(systemClock, isTerminal, outputs.print);
  const output = { print: printer.print, isTerminal };
  const router = runRouter(loaded, {
    clock: systemClock,
    random: Math.random,
    log,
    output,
    accepts(config) {
      checkPages(config.observers);
      front.accepts?.(config);
    },
  });
  const figures = figuresOf(router);
  const service = serviceManager(log);
  // Before the first line: whoever reads it may stop the router at once.
  const stopped = stopSignal();
  const probed = (note: (replicas: number) => string) =>
    firstProbes(router, systemClock, stopped, (replicas) => outputs.announce(note(replicas)));
  let admin: OpenAdmin | undefined;
  try {
    if (address.isPortShared) {
      // Another process may serve the port. Requests that came here would fail now, and when a failed start closes the port.
      if (!(await probed(notYetListeningNote))) return 0;
      await checkAdminPort(loaded.config.admin);
    }
    const server = await front.listen(loaded, router, log);
    const running = new RunningConfig({
      loaded,
      load: (overlay, base) => source.load(overlay, base),
      publish(next) {
        router.replace(next);
        countPools(router, figures);
        server.useLimits(next.config.settings.limits);
        watchdog.useBound(stuckMsOf(front, next.config.settings.limits.stuckMs));
        admin?.useLimits(next.config.settings.limits);
        useCertificates(next.config, { server, admin }, log);
      },
      reported: (report) => cluster?.report(report),
      clock: systemClock,
      log,
    });
    router.changeBy(running);
    if (cluster !== undefined) router.features.attach("cluster", clusterView(cluster, front.clusterClock ?? systemClock));
    const { names: sources, commandLine } = source;
    const shown = {
      router,
      figures,
      server,
      running,
      settings,
      sources,
      commandLine,
      droppedLogLines: () => outputs.droppedLines,
      log,
    };
    admin = await openAdmin(loaded.config.admin, shown).catch(async (thrown) => {
      await server.drain(0);
      throw thrown;
    });
    const url = front.url(address.host, server.port, address.tls !== undefined);
    const reload = async (cause: ReloadCause) => {
      service.reloading();
      await running.reload(cause);
      service.ready();
    };
    reloads.listen(() => void reload("signal"));
    const stopWatching = source.watch(() => void reload("files"));
    cluster?.use(running, { counts: () => targetCounts(router), hasTarget: (name) => hasTarget(router, name) });
    if (!address.isPortShared) await probed((replicas) => waitingNote(url, replicas));
    const adminLine = admin?.greeting ?? "";
    if (demo !== undefined) outputs.tell(demo.asCalled(demoGreeting(url, admin?.url)) + adminLine);
    else outputs.announce(greeting(url, router) + adminLine);
    warnOfOpenPort(address.host, settings.adaptersByClients, router.config.authenticators !== undefined, log);
    logCertificates(loaded.config, log);
    service.ready();
    const stopFront = front.running?.(router, url, outputs.tell);
    await stopped;
    stopFront?.();
    service.stopping();
    running.close();
    stopWatching();
    void cluster?.stop();
    await stopServing(router, server, log);
    return 0;
  } finally {
    await admin?.close();
    router.close();
    printer.close();
  }
}

/** 0 is for ever. */
function stuckMsOf({ mostStuckMs = Number.POSITIVE_INFINITY }: Front, stuckMs: number): number {
  return Math.min(stuckMs, mostStuckMs);
}

function listenHttp({ config: { listen: address } }: LoadedConfig, router: Router, log: Log): Promise<WireServer> {
  return listenOn(address, router, systemClock, log).catch(async (thrown) => {
    throw await portError(thrown, address, "--port", "--host");
  });
}

/**
 * Says on `/ready` at once that the router stops, serves everything for the settle time, so that load balancers notice, then
 * stops accepting. Resolves when the last connection is closed.
 */
async function stopServing(router: Router, server: FrontServer, log: Log): Promise<void> {
  const { settleMs, drainTimeoutMs } = router.config.settings.limits;
  router.announceStop();
  if (settleMs > 0) {
    log.info("Stopping: /ready says 503, everything is still served for the settle time", { settleMs });
    await new Promise<void>((resolve) => systemClock.after(settleMs, resolve));
  }
  log.info("Stopping: waiting for requests in progress", { connections: server.connections });
  await server.drain(drainTimeoutMs);
}
