import { availableParallelism } from "node:os";
import { isatty } from "node:tty";
import { CommandError, type Input, UsageError } from "../../../../config/command.ts";
import type { LoadedConfig } from "../../../../config/load.ts";
import { type Problem, problemAt } from "../../../../config/read/problems.ts";
import { NO_OVERLAY } from "../../../../config/rewrites/overlay.ts";
import { fixedChanges } from "../../../../config/show/changes.ts";
import { systemClock } from "../../../../core/contract/clock.ts";
import type { Definition } from "../../../../core/contract/plugin.ts";
import { counted } from "../../../../core/report/number-text.ts";
import { DEFAULT_LIMITS } from "../../../../core/settings.ts";
import { SECRET_WORDS } from "../../../../core/state/prefix-hash.ts";
import { LOOK_MS } from "../../file-watch.ts";
import { numberOf } from "../../frame/command.ts";
import { type ConfigSource, configSource, filesOf, startArguments } from "../config-source.ts";
import { demoTexts, startDemo } from "../demo.ts";
import { demoGreeting } from "../first-probes.ts";
import { inProgram, type Program } from "../in-program.ts";
import { checkAdminPort, type OpenAdmin } from "../open-admin.ts";
import { hasClusterParts } from "../open-cluster.ts";
import { openOutputs } from "../outputs.ts";
import { urlOf } from "../ports.ts";
import { serviceManager } from "../service-manager.ts";
import { stopSignal } from "../signals.ts";
import { refuseConfig, start } from "../start.ts";
import { claimPort } from "./claim-port.ts";
import { forker } from "./fork.ts";
import { WorkerGroup } from "./group.ts";
import { openGroupAdmin } from "./group-admin.ts";
import { GroupApi } from "./group-api.ts";
import { WORKER } from "./messages.ts";
import { ReloadRounds } from "./reload-rounds.ts";
import { runWorker } from "./worker.ts";

/** As many as agree (`plugins/features/shared/peers.ts`). */
const MOST_WORKERS = 64;

type Registry = ReadonlyMap<string, Definition>;

/** `signalbox start --workers`: runs several routers as one. Returns the exit code. */
export async function startWorkers(input: Input, registry: Registry): Promise<number> {
  const { [WORKER]: worker } = process.env;
  // What this process starts by itself is no worker.
  delete process.env[WORKER];
  if (worker !== undefined && process.send !== undefined) return runWorker(Number(worker), input, registry);
  const count = workerCount(input);
  if (count === undefined) return start(input, registry);
  const outputs = openOutputs(systemClock);
  return inProgram(outputs, input, DEFAULT_LIMITS.stuckMs, (program) => supervise(count, registry, program));
}

/** Undefined: no workers. Throws UsageError. */
function workerCount(input: Input): number | undefined {
  if (input.text("workers") === "auto") return Math.min(MOST_WORKERS, availableParallelism());
  try {
    return numberOf(input, "workers", 1, MOST_WORKERS, true);
  } catch {
    const found = input.text("workers");
    throw new UsageError(
      `--workers wants a whole number from 1 to ${MOST_WORKERS}, or auto for one on each core, not "${found}".`,
    );
  }
}

async function supervise(count: number, registry: Registry, program: Program): Promise<number> {
  const asked = startArguments(program.input);
  const files = await filesOf(asked);
  const demo = files.length === 0 && asked.urls.length === 0 ? await startDemo() : undefined;
  const fixed = demo === undefined ? undefined : demoTexts(demo.configText);
  const source = configSource({ ...asked, files }, fixed, registry, systemClock, LOOK_MS);
  try {
    const loaded = await source.load(NO_OVERLAY);
    if (hasClusterParts(loaded, registry)) throw new CommandError(1, NO_CLUSTER);
    if (loaded.problems !== undefined) return await refuseConfig(loaded, files, registry, program);
    if (loaded.pools.length > 0) throw new CommandError(1, NO_POOLS);
    program.watchdog.useBound(loaded.config.settings.limits.stuckMs);
    return await run(count, loaded, source, asked.urls, demo !== undefined, program);
  } finally {
    await demo?.close();
  }
}

const NO_CLUSTER =
  "signalbox start --workers can't follow a cluster's resources: start it without --workers, and let the cluster run more pods (docs/workers.md).";

const NO_POOLS =
  "signalbox start --workers serves one pool, of which the workers tell each other: start it without --workers, or leave out the Pool documents.";

/** Of a config that was changed while workers run. */
function poolProblems({ pools, positionOf }: LoadedConfig): readonly Problem[] {
  if (pools.length === 0) return [];
  return [
    problemAt(positionOf([]), [], {
      found: `Pool documents (${pools.map(({ name }) => name).join(", ")})`,
      wanted: "none",
      hint: NO_POOLS,
    }),
  ];
}

async function run(
  count: number,
  first: LoadedConfig,
  source: ConfigSource,
  urls: readonly string[],
  isDemo: boolean,
  { input, outputs, reloads, watchdog }: Program,
): Promise<number> {
  const { log } = outputs;
  const { listen, admin: adminAddress } = first.config;
  const service = serviceManager(log);
  const stopped = stopSignal();
  let loaded = first;
  let admin: OpenAdmin | undefined;
  const { port, release } = await claimPort(listen);
  await checkAdminPort(adminAddress);
  const terminals = [isatty(1), isatty(2)] as const;
  const words = crypto.getRandomValues(new Uint32Array(SECRET_WORDS));
  const group = new WorkerGroup({
    ...{ count, forker: forker(), outputs, clock: systemClock },
    begin: { port, terminals, prefixSecret: [...words], sources: source.names, urls },
    state: { texts: first.texts, overlay: NO_OVERLAY },
  });
  process.on("exit", () => group.killAll());
  const rounds = new ReloadRounds({
    clock: systemClock,
    serving: () => group.serving,
    async load() {
      const next = await source.load(NO_OVERLAY);
      if (next.problems !== undefined) return next;
      const problems = [...fixedChanges(loaded, next), ...poolProblems(next)];
      return problems.length === 0 ? next : { ...next, problems, config: undefined };
    },
    strayed: (worker) => group.restore(worker),
    taken(next, takers) {
      loaded = next;
      group.tookTexts(next.texts, takers);
      const { limits } = next.config.settings;
      watchdog.useBound(limits.stuckMs);
      admin?.useLimits(limits);
      if (next.config.admin?.tls !== undefined) admin?.useTls(next.config.admin.tls);
    },
  });
  const reload = async (cause: "signal" | "files") => {
    service.reloading();
    await rounds.reload(cause);
    service.ready();
  };
  const mostMs = () => loaded.config.settings.limits.settleMs + loaded.config.settings.limits.drainTimeoutMs;
  const api = new GroupApi(group);
  group.listener = {
    wanted: (worker) => rounds.wanted(worker),
    taken: (worker, refusal) => rounds.taken(worker, refusal),
    voted: (worker, round, refusal) => rounds.voted(worker, round, refusal),
    ended(worker) {
      rounds.ended(worker);
      api.workersChanged(worker);
    },
    turned: () => api.workersChanged(),
    started(worker) {
      api.workersChanged();
      log.info("A worker serves", { worker: worker.worker, pid: worker.pid ?? 0 });
    },
  };
  try {
    const code = await Promise.race([group.start(), stopped.then(() => -1)]);
    if (code !== 0) {
      await group.stop("SIGTERM", mostMs());
      return Math.max(0, code);
    }
    release();
    admin = await openGroupAdmin(adminAddress, first.config.settings.limits, api, log);
    reloads.listen(() => void reload("signal"));
    const stopWatching = source.watch(() => void reload("files"));
    const url = urlOf(listen.host, port, listen.tls !== undefined);
    const adminLine = admin?.greeting ?? "";
    if (isDemo) outputs.tell(input.asCalled(demoGreeting(url, admin?.url)) + adminLine);
    else
      outputs.announce(
        `${group.serving[0]?.greeting ?? ""}${counted(count, "worker shares", "workers share")} the port\n${adminLine}`,
      );
    service.ready();
    await stopped;
    service.stopping();
    stopWatching();
    await group.stop("SIGTERM", mostMs());
    return 0;
  } finally {
    await admin?.close();
    await group.stop("SIGTERM", mostMs());
  }
}
