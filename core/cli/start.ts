import { existsSync } from "node:fs";
import { type LoadedConfig, loadConfig, loadTexts, type RefusedConfig } from "../../config/load.ts";
import { formatProblems } from "../../config/problems.ts";
import { systemClock } from "../contract/clock.ts";
import type { Definition } from "../contract/plugin.ts";
import { printableLines } from "../contract/printable.ts";
import { respondWithError } from "../errors/error-response.ts";
import { runRouter } from "../router.ts";
import { takeConsole } from "../runtime/take-console.ts";
import { tuneRuntime } from "../runtime/tune-runtime.ts";
import { startWireServer } from "../wire/server.ts";
import { readStartArguments, type StartArguments } from "./arguments.ts";
import { type Demo, startDemo } from "./demo.ts";
import { failureOf } from "./failure.ts";
import { firstProbes } from "./first-probes.ts";
import { demoGreeting, greeting, waitingNote } from "./greeting.ts";
import { ignoreSignals } from "./ignored-signals.ts";
import { logUncaught } from "./last-resort.ts";
import { linePrinter } from "./line-printer.ts";
import { type OpenAdmin, openAdmin } from "./open-admin.ts";
import { type Outputs, openOutputs } from "./outputs.ts";
import { portError, urlOf } from "./ports.ts";
import { serviceManager } from "./service-manager.ts";
import { stopServing } from "./stop.ts";
import { stopSignal } from "./stop-signal.ts";

const DEFAULT_FILE = "signalbox.yaml";

/** How long the program waits at its end for the readers of its outputs. */
const LAST_LINES_MS = 1_000;

/** `signalbox start`: runs the router until SIGINT or SIGTERM. Returns the exit code. */
export async function start(argv: readonly string[], registry: ReadonlyMap<string, Definition>): Promise<number> {
  tuneRuntime();
  const outputs = openOutputs(systemClock);
  takeConsole(outputs.print, outputs.printError);
  ignoreSignals(outputs.log);
  logUncaught(outputs.log);
  const code = await startWith(argv, registry, outputs).catch((thrown: unknown) => {
    const failure = failureOf(thrown);
    outputs.printError(failure.text);
    return failure.code;
  });
  // A write that nobody reads would keep the process from ending by itself.
  if (!(await outputs.flush(LAST_LINES_MS))) process.exit(code);
  return code;
}

async function startWith(argv: readonly string[], registry: ReadonlyMap<string, Definition>, outputs: Outputs): Promise<number> {
  const asked = readStartArguments(argv);
  const files = asked.files.length === 0 && asked.urls.length === 0 && existsSync(DEFAULT_FILE) ? [DEFAULT_FILE] : asked.files;
  const demo = files.length === 0 && asked.urls.length === 0 ? await startDemo() : undefined;
  try {
    const loaded = demo
      ? await loadTexts([{ file: "demo", text: demo.configText }], registry)
      : await loadConfig(files, registry, asked.urls);
    if (loaded.problems !== undefined) return refuse(loaded, outputs);
    return await run(loaded, asked, demo, sourcesOf(files, asked.urls, demo), outputs);
  } finally {
    await demo?.close();
  }
}

function refuse({ problems }: RefusedConfig, outputs: Outputs): number {
  outputs.printError(`${printableLines(formatProblems(problems))}\nNothing was started.\n`);
  return 1;
}

function sourcesOf(files: readonly string[], urls: readonly string[], demo: Demo | undefined): readonly string[] {
  return [...files, ...(urls.length > 0 ? ["the command line"] : []), ...(demo ? ["the demo"] : [])];
}

async function run(
  loaded: LoadedConfig,
  asked: StartArguments,
  demo: Demo | undefined,
  sources: readonly string[],
  outputs: Outputs,
): Promise<number> {
  const { listen, settings } = loaded.config;
  const { isTerminal, log } = outputs;
  const printer = linePrinter(systemClock, isTerminal, outputs.print);
  const router = runRouter(loaded, {
    clock: systemClock,
    random: Math.random,
    log,
    output: { print: printer.print, isTerminal },
  });
  const service = serviceManager(log);
  const address = { ...listen, host: asked.host ?? listen.host, port: asked.port ?? listen.port };
  let admin: OpenAdmin | undefined;
  try {
    const server = await startWireServer({
      ...address,
      limits: settings.limits,
      clock: systemClock,
      memory: router.memory,
      log,
      start: router.start,
      refuse: (response, error) => respondWithError(response, error, "openai", router.nextRequestId()),
    }).catch((thrown) => {
      throw portError(thrown, address, { port: "--port", host: "--host" });
    });
    const droppedLogLines = () => outputs.droppedLines;
    const shown = { router, server, settings, sources, droppedLogLines, log };
    admin = await openAdmin(loaded.config.admin, asked.adminPort, shown).catch(async (thrown) => {
      await server.drain(0);
      throw thrown;
    });
    const url = urlOf(address.host, server.port);
    // Before the first line: whoever reads it may stop the router at once.
    const stopped = stopSignal();
    await firstProbes(router, systemClock, stopped, (replicas) => outputs.print(waitingNote(url, replicas)));
    outputs.print((demo ? demoGreeting(url) : greeting(url, router)) + (admin?.greeting ?? ""));
    service.ready();
    await stopped;
    service.stopping();
    await stopServing({ router, server, limits: settings.limits, clock: systemClock, log });
    return 0;
  } finally {
    await admin?.close();
    router.close();
    printer.close();
  }
}
