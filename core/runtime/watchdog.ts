import { clearInterval, setInterval } from "node:timers";
import { isatty } from "node:tty";
import { Worker } from "node:worker_threads";
import { BEATS, BOUND_MS, cells, names, onName } from "./current-plugin.ts";

const BEAT_MS = 250;

/**
 * What the thread runs; a text, because single binaries have no files. It can't use the program's log, whose queue is the main thread's.
 * A tick counts for half a second at most: a machine that was asleep has not stood still. SIGALRM ends the process whatever its main
 * thread does, since nobody listens for it; a thread can't set the exit code of a process.
 */
const THREAD = `
const { parentPort, workerData } = require("node:worker_threads");
const { writeSync } = require("node:fs");
const { buffer, isTerminal, names } = workerData;
const cells = new Int32Array(buffer);
const [NOW, LAST, BEATS, BOUND_MS] = [0, 1, 2, 3];
let [beats, stillMs, isTold, lastMs] = [-1, 0, false, performance.now()];

function say(level, message, fields) {
  const details = Object.entries(fields).map(([key, value]) => " " + key + "=" + JSON.stringify(value)).join("");
  const json = JSON.stringify({ time: new Date().toISOString(), level, message, ...fields });
  try {
    writeSync(2, (isTerminal ? level + ": " + message + details : json) + "\\n");
  } catch {}
}

function told() {
  const [now, last] = [names[Atomics.load(cells, NOW)] || "", names[Atomics.load(cells, LAST)] || ""];
  if (now !== "") return ["A plugin does not return: nothing else runs", { plugin: now }];
  return ["Nothing runs any more, in no call of a plugin: look at its timers and at what it awaits", last === "" ? {} : { lastPlugin: last }];
}

parentPort.on("message", (name) => names.push(name));
setInterval(() => {
  const nowMs = performance.now();
  const tickMs = Math.min(nowMs - lastMs, 500);
  lastMs = nowMs;
  const latest = Atomics.load(cells, BEATS);
  if (latest !== beats) {
    if (isTold) say("warning", "The program runs again", { stoodMs: Math.round(stillMs) });
    [beats, stillMs, isTold] = [latest, 0, false];
    return;
  }
  stillMs += tickMs;
  const boundMs = Atomics.load(cells, BOUND_MS);
  if (stillMs >= 1000 && !isTold) {
    isTold = true;
    const [message, fields] = told();
    say("error", message, { ...fields, ...(boundMs > 0 && { endsAfterMs: boundMs }) });
  }
  if (boundMs > 0 && stillMs >= boundMs) {
    const [message, fields] = told();
    say("error", message + "; the program ends itself with SIGALRM, see spec.limits.stuckMs", fields);
    process.kill(process.pid, "SIGALRM");
  }
}, ${BEAT_MS});
`;

export interface Watchdog {
  /** How long the event loop may stand still before the process ends; 0 for ever. */
  useBound(ms: number): void;
  stop(): Promise<void>;
}

/** Starts the thread that notices when the main thread is stuck in one call, which no signal and no timer gets through. */
export function startWatchdog(boundMs: number): Watchdog {
  // Whoever has stopped the program in a debugger goes on when he wants to.
  const isDebugged = process.execArgv.some((word) => word.startsWith("--inspect"));
  const useBound = (ms: number) => Atomics.store(cells, BOUND_MS, isDebugged ? 0 : ms);
  useBound(boundMs);
  const workerData = { buffer: cells.buffer, names, isTerminal: isatty(2) };
  // Without what the program was started with, such as a compiler for TypeScript.
  const worker = new Worker(THREAD, { eval: true, workerData, execArgv: [] });
  onName((name) => worker.postMessage(name));
  worker.on("error", () => {});
  worker.unref();
  const beating = setInterval(() => Atomics.add(cells, BEATS, 1), BEAT_MS);
  beating.unref();
  return {
    useBound,
    async stop() {
      clearInterval(beating);
      onName(undefined);
      await worker.terminate();
    },
  };
}
