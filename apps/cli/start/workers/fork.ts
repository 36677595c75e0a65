import { type ChildProcess, spawn } from "node:child_process";
import cluster from "node:cluster";
import { CommandError } from "../../../../config/command.ts";
import { OWN_ROOT } from "../../../../core/runtime/own-files.ts";
import { obstacleToSharedPorts } from "../../../../core/runtime/shared-port.ts";
import { ownCommand } from "../../own-command.ts";
import { WORKER } from "./messages.ts";

const STDIO = ["ignore", "pipe", "pipe", "ipc"] as const;

/** How workers are started, and get their connections. */
export interface Forker {
  /** Whether each worker listens on the port by itself; else this process does, and hands them connections in turn. */
  readonly isPortShared: boolean;
  fork(worker: number): ChildProcess;
}

/** Throws CommandError where this program can't have workers. */
export function forker(): Forker {
  const obstacle = obstacleToSharedPorts();
  if (obstacle === "") return { isPortShared: true, fork: spawner() };
  const { deno, bun } = process.versions;
  const isNode = deno === undefined && bun === undefined;
  if (!isNode || OWN_ROOT === "") throw new CommandError(1, `signalbox start --workers can't run here: ${obstacle}. ${INSTEAD}`);
  return { isPortShared: false, fork: clusterForker() };
}

const INSTEAD = "Start it without --workers, or with Node from its package.";

function spawner(): Forker["fork"] {
  const command = ownCommand();
  if (command === undefined)
    throw new CommandError(1, `signalbox start --workers can't run here: the program can't know how it was started. ${INSTEAD}`);
  return (worker) => {
    const child = spawn(process.execPath, command, { stdio: [...STDIO], env: environmentOf(worker) });
    return child as ChildProcess;
  };
}

/** Node's own way, where a port can't be shared: its workers listen through this process. */
function clusterForker(): Forker["fork"] {
  const [, exec = "", ...args] = process.argv;
  cluster.schedulingPolicy = cluster.SCHED_RR;
  cluster.setupPrimary({ exec, args, stdio: [...STDIO], silent: true });
  return (worker) => {
    const { process: child } = cluster.fork({ [WORKER]: String(worker), NOTIFY_SOCKET: "" });
    return child;
  };
}

/** The service manager is told by this process alone. */
function environmentOf(worker: number): NodeJS.ProcessEnv {
  const { NOTIFY_SOCKET: _, ...env } = process.env;
  return { ...env, [WORKER]: String(worker) };
}
