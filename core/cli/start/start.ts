import { existsSync } from "node:fs";
import type { LoadedConfig } from "../../../config/load.ts";
import { formatProblems } from "../../../config/read/problems.ts";
import { NO_OVERLAY } from "../../../config/rewrites/overlay.ts";
import { type Clock, systemClock } from "../../contract/clock.ts";
import type { Log } from "../../contract/log.ts";
import type { Definition } from "../../contract/plugin.ts";
import { printableLines } from "../../contract/printable.ts";
import type { ReloadCause } from "../../control/reload-cause.ts";
import { RunningConfig } from "../../control/running-config.ts";
import { respondWithError } from "../../errors/error-response.ts";
import type { ClusterResources } from "../../kubernetes/resources/cluster-resources.ts";
import { clusterView } from "../../kubernetes/resources/cluster-view.ts";
import type { Router } from "../../router.ts";
import { runRouter } from "../../run-router.ts";
import { exit } from "../../runtime/stray-exit.ts";
import { takeConsole } from "../../runtime/take-console.ts";
import { tuneRuntime } from "../../runtime/tune-runtime.ts";
import { startWireServer, type WireServer } from "../../server/server.ts";
import { corsLines } from "../../wire/cors.ts";
import { LOOK_MS } from "../file-watch.ts";
import type { Input } from "../frame/command.ts";
import { failureOf } from "../frame/usage.ts";
import { linePrinter } from "../line-printer.ts";
import { logCertificates, useCertificates } from "./certificates.ts";
import { configSource, type StartArguments, startArguments } from "./config-source.ts";
import { startDemo } from "./demo.ts";
import { demoGreeting, firstProbes, greeting, notYetListeningNote, waitingNote } from "./first-probes.ts";
import type { FrontServer } from "./front-server.ts";
import { logUncaught } from "./last-resort.ts";
import { checkAdminPort, type OpenAdmin, openAdmin } from "./open-admin.ts";
import { openCluster, targetCounts } from "./open-cluster.ts";
import { warnOfOpenPort } from "./open-port.ts";
import { type Outputs, openOutputs } from "./outputs.ts";
import { portError, urlOf } from "./ports.ts";
import { serviceManager } from "./service-manager.ts";
import { ignoreSignals, type ReloadSignal, reloadSignal, stopSignal } from "./signals.ts";

const DEFAULT_FILE = "signalbox.yaml";

/** How long the program waits at its end for the readers of its outputs. */
const LAST_LINES_MS = 1_000;

/** How a router is reached, and what runs around it. */
export interface Front {
  /** What the program runs where it is given nothing to run. */
  readonly startDemo?: typeof startDemo;
  /** Those mock replicas run beside the replicas of the config too. */
  readonly hasDemo?: boolean;
  /** How often the files are looked at; default once a second. */
  readonly lookMs?: number;
  /** The time of what follows a cluster's resources; default the machine's. */
  readonly clusterClock?: Clock;
  arguments(input: Input): StartArguments;
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
  const code = await startWith(front, input, registry, outputs, reloads).catch((thrown: unknown) => {
    const failure = failureOf(thrown);
    outputs.printError(failure.text);
    return failure.code;
  });
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
): Promise<number> {
  const asked = front.arguments(input);
  const files = asked.files.length === 0 && asked.urls.length === 0 && existsSync(DEFAULT_FILE) ? [DEFAULT_FILE] : asked.files;
  const isDemo = files.length === 0 && asked.urls.length === 0;
  const demo = isDemo || front.hasDemo ? await front.startDemo?.() : undefined;
  const urls = [...asked.urls, ...(isDemo ? [] : (demo?.urls ?? []))];
  const demoText = isDemo ? demo?.configText : undefined;
  const source = configSource({ ...asked, files, urls }, demoText, registry, systemClock, front.lookMs ?? LOOK_MS);
  let cluster: ClusterResources | undefined;
  try {
    let loaded = await source.load(NO_OVERLAY);
    cluster = await openCluster(loaded, front.clusterClock ?? systemClock, outputs.log);
    if (cluster !== undefined) {
      source.add(cluster);
      loaded = await source.load(NO_OVERLAY);
    }
    if (loaded.problems === undefined)
      return await run(front, loaded, source, cluster, demo !== undefined && isDemo, outputs, reloads);
    outputs.printError(`${printableLines(formatProblems(loaded.problems))}\nNothing was started.\n`);
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
  isDemo: boolean,
  outputs: Outputs,
  reloads: ReloadSignal,
): Promise<number> {
  const { listen: address, settings } = loaded.config;
  const { isTerminal, log } = outputs;
  const printer = linePrinter(systemClock, isTerminal, outputs.print);
  const output = { print: printer.print, isTerminal };
  const router = runRouter(loaded, { clock: systemClock, random: Math.random, log, output });
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
        server.useLimits(next.config.settings.limits);
        admin?.useLimits(next.config.settings.limits);
        useCertificates(next.config, { server, admin }, log);
      },
      reported: (report) => cluster?.report(report),
      clock: systemClock,
      log,
    });
    router.features.running = running;
    if (cluster !== undefined) router.features.attach(clusterView(cluster, front.clusterClock ?? systemClock));
    const { names: sources, commandLine } = source;
    const shown = { router, server, running, settings, sources, commandLine, droppedLogLines: () => outputs.droppedLines, log };
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
    cluster?.use(running, () => targetCounts(router));
    if (!address.isPortShared) await probed((replicas) => waitingNote(url, replicas));
    const adminLine = admin?.greeting ?? "";
    if (isDemo) outputs.tell(demoGreeting(url) + adminLine);
    else outputs.announce(greeting(url, router) + adminLine);
    warnOfOpenPort(address.host, settings, router.config.authenticators !== undefined, log);
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

function listenHttp({ config }: LoadedConfig, router: Router, log: Log): Promise<WireServer> {
  const { listen: address, settings } = config;
  return startWireServer({
    ...address,
    limits: settings.limits,
    clock: systemClock,
    memory: router.gate.memory,
    log,
    start: router.start,
    refuse(response, error) {
      const cors = corsLines(undefined, router.config.settings.cors);
      respondWithError(response, error, "openai", router.identity.nextRequestId(), cors);
    },
  }).catch((thrown) => {
    throw portError(thrown, address, "--port", "--host");
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
