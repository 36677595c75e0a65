import { clearInterval, setInterval } from "node:timers";
import { isatty } from "node:tty";
import { Worker } from "node:worker_threads";
import { BEATS, BOUND_MS, cells, names, onName } from "./current-plugin.ts";

const BEAT_MS = 250;

/**
 * What the thread runs; a text, because single binaries have no files. It can't use the program's log, whose queue is the main thread's.
 * A tick counts for half a second at most: a machine that was asleep has not stood still. While the program wants a processor and gets
 * none, only the time that it got counts, where the system tells (Linux): that is no fault of its code. SIGALRM ends the process whatever
 * its main thread does, since nobody listens for it; a thread can't set the exit code of a process.
 */
const THREAD = `
const { parentPort, workerData } = require("node:worker_threads");
const { readFileSync, readdirSync, readlinkSync, writeSync } = require("node:fs");
const { buffer, isTerminal, names } = workerData;
const cells = new Int32Array(buffer);
const [NOW, LAST, BEATS, BOUND_MS] = [0, 1, 2, 3];
let [beats, stillMs, starvedMs, lastMs, lastCpuMs] = [-1, 0, 0, performance.now(), NaN];
const told = { still: false, starved: false };

function say(level, message, fields) {
  const details = Object.entries(fields).map(([key, value]) => " " + key + "=" + JSON.stringify(value)).join("");
  const json = JSON.stringify({ time: new Date().toISOString(), level, message, ...fields });
  try {
    writeSync(2, (isTerminal ? level + ": " + message + details : json) + "\\n");
  } catch {}
}

function cause() {
  const [now, last] = [names[Atomics.load(cells, NOW)] || "", names[Atomics.load(cells, LAST)] || ""];
  if (now !== "") return ["A plugin does not return: nothing else runs", { plugin: now }];
  return ["Nothing runs any more, in no call of a plugin: look at its timers and at what it awaits", last === "" ? {} : { lastPlugin: last }];
}

/** What Linux says of a thread, or of all together, from the third field on: the state comes first, CPU time in hundredths is 11 and 12. */
function statOf(path) {
  const text = readFileSync(path, "utf8");
  return text.slice(text.lastIndexOf(")") + 2).split(" ");
}

function isRunnable(thread) {
  try {
    return statOf("/proc/self/task/" + thread + "/stat")[0] === "R";
  } catch {
    return false;
  }
}

/** Of tickMs, the time for which another thread than this one wanted a processor and had none. */
function starvedIn(tickMs) {
  try {
    const stat = statOf("/proc/self/stat");
    const cpuMs = 10 * (Number(stat[11]) + Number(stat[12]));
    const gotMs = cpuMs - lastCpuMs;
    lastCpuMs = cpuMs;
    const own = readlinkSync("/proc/thread-self").split("/").pop();
    const wants = readdirSync("/proc/self/task").some((thread) => thread !== own && isRunnable(thread));
    return wants && gotMs >= 0 ? Math.max(0, tickMs - gotMs) : 0;
  } catch {
    return 0;
  }
}

parentPort.on("message", (name) => names.push(name));
setInterval(() => {
  const nowMs = performance.now();
  const tickMs = Math.min(nowMs - lastMs, 500);
  lastMs = nowMs;
  const latest = Atomics.load(cells, BEATS);
  if (latest !== beats) {
    if (told.still || told.starved) say("warning", "The program runs again", { stoodMs: Math.round(stillMs + starvedMs) });
    [beats, stillMs, starvedMs, lastCpuMs] = [latest, 0, 0, NaN];
    told.still = told.starved = false;
    return;
  }
  const lackedMs = starvedIn(tickMs);
  starvedMs += lackedMs;
  stillMs += tickMs - lackedMs;
  const boundMs = Atomics.load(cells, BOUND_MS);
  if (starvedMs >= 1000 && !told.starved) {
    told.starved = true;
    say("warning", "The program gets no processor: other programs, or a limit of its CPU time, keep it waiting", {});
  }
  if (stillMs >= 1000 && !told.still) {
    told.still = true;
    const [message, fields] = cause();
    say("error", message, { ...fields, ...(boundMs > 0 && { endsAfterMs: boundMs }) });
  }
  if (boundMs > 0 && stillMs >= boundMs) {
    const [message, fields] = cause();
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
