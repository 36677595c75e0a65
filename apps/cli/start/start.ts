import type { Input } from "../../../config/command.ts";
import type { LoadedConfig, RefusedConfig } from "../../../config/load.ts";
import { formatProblems } from "../../../config/read/problems.ts";
import { NO_OVERLAY } from "../../../config/rewrites/overlay.ts";
import type { ReloadCause } from "../../../config/running/reload-cause.ts";
import { RunningConfig } from "../../../config/running/running-config.ts";
import { systemClock } from "../../../core/contract/clock.ts";
import type { Log } from "../../../core/contract/log.ts";
import type { Definition } from "../../../core/contract/plugin.ts";
import { printableLines } from "../../../core/contract/printable.ts";
import { listenOn } from "../../../core/listen.ts";
import type { Router } from "../../../core/router.ts";
import { runRouter } from "../../../core/run-router.ts";
import type { WireServer } from "../../../core/server/server.ts";
import { DEFAULT_LIMITS } from "../../../core/settings.ts";
import { checkPages } from "../../admin/pages.ts";
import { countPools, figuresOf } from "../../admin/pool-sites.ts";
import type { ClusterResources } from "../../kubernetes/resources/cluster-resources.ts";
import { clusterView } from "../../kubernetes/resources/cluster-view.ts";
import { LOOK_MS } from "../file-watch.ts";
import { linePrinter } from "../line-printer.ts";
import { logCertificates, useCertificates } from "./certificates.ts";
import { type ConfigSource, configSource, filesOf, startArguments } from "./config-source.ts";
import { demoTexts, startDemo } from "./demo.ts";
import { demoGreeting, firstProbes, greeting, notYetListeningNote, waitingNote } from "./first-probes.ts";
import type { Front } from "./front.ts";
import type { FrontServer } from "./front-server.ts";
import { inProgram, type Program } from "./in-program.ts";
import { checkAdminPort, type OpenAdmin, openAdmin } from "./open-admin.ts";
import { hasTarget, openCluster, targetCounts } from "./open-cluster.ts";
import { warnOfOpenPort } from "./open-port.ts";
import { openOutputs } from "./outputs.ts";
import { portError } from "./port-error.ts";
import { urlOf } from "./ports.ts";
import { serviceManager } from "./service-manager.ts";
import { stopSignal } from "./signals.ts";

/** `signalbox start`: runs the router until SIGINT or SIGTERM. Returns the exit code. */
export function start(input: Input, registry: ReadonlyMap<string, Definition>): Promise<number> {
  return startFront(HTTP, input, registry);
}

export const HTTP: Front = { startDemo, arguments: startArguments, listen: listenHttp, url: urlOf };

/** Runs a router behind this front until SIGINT or SIGTERM. Returns the exit code. */
export function startFront(front: Front, input: Input, registry: ReadonlyMap<string, Definition>): Promise<number> {
  const outputs = front.seat?.outputs ?? openOutputs(systemClock);
  return inProgram(outputs, input, stuckMsOf(front, DEFAULT_LIMITS.stuckMs), (program) => startWith(front, registry, program));
}

async function startWith(front: Front, registry: ReadonlyMap<string, Definition>, program: Program): Promise<number> {
  if (front.seat !== undefined) return runLoaded(front, front.seat.source, [], false, registry, program);
  const { input, outputs } = program;
  const asked = front.arguments(input);
  const files = await filesOf(asked);
  const isDemo = files.length === 0 && asked.urls.length === 0;
  const demo = isDemo || front.hasDemo ? await front.startDemo?.() : undefined;
  const urls = [...asked.urls, ...(isDemo ? [] : (demo?.urls ?? []))];
  const demoText = isDemo ? demo?.configText : undefined;
  const fixed = demoText === undefined ? undefined : demoTexts(demoText);
  const leftOut = front.showsRequests && outputs.isTerminal ? ["access-log"] : [];
  const given = { ...asked, files, urls, leftOut };
  const source = configSource(given, fixed, registry, systemClock, front.lookMs ?? LOOK_MS);
  try {
    return await runLoaded(front, source, files, isDemo, registry, program);
  } finally {
    await demo?.close();
  }
}

async function runLoaded(
  front: Front,
  source: ConfigSource,
  files: readonly string[],
  isDemo: boolean,
  registry: ReadonlyMap<string, Definition>,
  program: Program,
): Promise<number> {
  let cluster: ClusterResources | undefined;
  try {
    let loaded = await source.load(NO_OVERLAY);
    cluster = await openCluster(loaded, registry, front.clusterClock ?? systemClock, program.outputs.log);
    if (cluster !== undefined) {
      source.add(cluster);
      loaded = await source.load(NO_OVERLAY);
    }
    if (loaded.problems === undefined) return await run(front, loaded, source, cluster, isDemo, program);
    return await refuseConfig(loaded, files, registry, program);
  } finally {
    await cluster?.stop();
  }
}

/** Prints the problems of a config that can't be started. Returns the exit code. */
export async function refuseConfig(
  { problems }: RefusedConfig,
  files: readonly string[],
  registry: ReadonlyMap<string, Definition>,
  { input, outputs }: Program,
): Promise<number> {
  const hints = await (await import("../import/foreign.ts")).foreignHints(files, registry);
  const text = input.asCalled(formatProblems(problems) + hints);
  outputs.printError(`${printableLines(text)}\nNothing was started.\n`);
  return 1;
}

async function run(
  front: Front,
  loaded: LoadedConfig,
  source: ConfigSource,
  cluster: ClusterResources | undefined,
  isDemo: boolean,
  { input, outputs, reloads, watchdog }: Program,
): Promise<number> {
  const { listen: address, settings } = loaded.config;
  const { isTerminal, log } = outputs;
  const { seat } = front;
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
    workers: seat?.workers,
  });
  const figures = figuresOf(router);
  const service = serviceManager(log);
  // Before the first line: whoever reads it may stop the router at once.
  const stopped = seat === undefined ? stopSignal() : Promise.race([stopSignal(), seat.orphaned]);
  const probed = (note: (replicas: number) => string) =>
    firstProbes(router, systemClock, stopped, (replicas) => outputs.announce(note(replicas)));
  let admin: OpenAdmin | undefined;
  try {
    // Another process may serve the port. Requests that came here would fail now, and when a failed start closes the port.
    const isLate = address.isPortShared || seat !== undefined;
    if (isLate) {
      if (!(await probed(notYetListeningNote))) return 0;
      await seat?.join();
      if (seat === undefined) await checkAdminPort(loaded.config.admin);
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
      reported(report) {
        cluster?.report(report);
        seat?.reported(running, report);
      },
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
    admin =
      seat?.openAdmin(shown) ??
      (await openAdmin(loaded.config.admin, shown).catch(async (thrown) => {
        await server.drain(0);
        throw thrown;
      }));
    const url = front.url(address.host, server.port, address.tls !== undefined);
    const reload = async (cause: ReloadCause) => {
      service.reloading();
      await running.reload(cause);
      service.ready();
    };
    const stopWatching = seat === undefined ? source.watch(() => void reload("files")) : () => {};
    if (seat === undefined) reloads.listen(() => void reload("signal"));
    cluster?.use(running, { counts: () => targetCounts(router), hasTarget: (name) => hasTarget(router, name) });
    if (!isLate) await probed((replicas) => waitingNote(url, replicas));
    const adminLine = admin?.greeting ?? "";
    if (isDemo) outputs.tell(input.asCalled(demoGreeting(url, admin?.url)) + adminLine);
    else if (seat === undefined) outputs.announce(greeting(url, router) + adminLine);
    warnOfOpenPort(address.host, settings.adaptersByClients, router.config.authenticators !== undefined, log);
    logCertificates(loaded.config, log);
    seat?.started(running, greeting(url, router));
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
