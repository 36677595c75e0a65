import { mkdtempSync, rmSync } from "node:fs";
import { Agent } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bodyOf, pathOf } from "../../../apps/cli/replay/bodies.ts";
import { send } from "../../../apps/cli/replay/send.ts";
import { ENGINE_TIMES } from "../../../apps/lab/engine/engine-times.ts";
import { PromptWriter } from "../../../apps/lab/simulate/prompt-bytes.ts";
import type { Trace } from "../../../apps/lab/simulate/trace.ts";
import { parseEndpointUrl } from "../../../core/contract/endpoint-url.ts";
import { type Played, playSessions } from "../../support/closed-loop.ts";
import { firstTokensOf } from "./figures.ts";
import { mockOptions } from "./policy-run.ts";
import { fasterBy, simulations } from "./simulated.ts";
import { type Counters, startStack } from "./stack.ts";
import type { Lateness } from "./verdict.ts";

/** What a closed loop gives after its warm-up; times and rates in the trace's own time. */
export interface LoopFigures {
  readonly turnsPerHour: number;
  readonly hitRatio: number;
  readonly p50: number;
  readonly p99: number;
}

/** One config's closed loop over sockets and in the simulator. */
export interface SessionRun {
  readonly name: string;
  readonly live: LoopFigures;
  /** Several runs with the sessions in the order of the live run; see `simulatedLoops`. */
  readonly simulated: readonly LoopFigures[];
  readonly failures: readonly string[];
  /** Replicas that the router took out of service, with the reason. */
  readonly incidents: readonly string[];
  readonly routerCpu: number;
  readonly lateness: Lateness;
}

export interface SessionRunSettings {
  readonly replicas: number;
  readonly perReplica: number;
  /** Of the trace's own time. */
  readonly minutes: number;
  readonly warmUpMinutes: number;
  readonly speed: number;
  /** How often the simulator plays it. */
  readonly runs: number;
}

/** Events of many tokens: this is about whole turns, and tens of thousands of small events a second would be about this machine. */
const STREAM_INTERVAL = 64;
const SPEED_STEP = 1e-4;

/** Plays the trace's sessions with one config after the other, each with replicas and a router of its own. */
export async function runSessions(
  trace: Trace,
  configs: readonly string[],
  settings: SessionRunSettings,
): Promise<readonly SessionRun[]> {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-live-"));
  try {
    const runs: SessionRun[] = [];
    for (const config of configs) runs.push(await runOne(trace, config, folder, settings));
    return runs;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function runOne(trace: Trace, config: string, folder: string, settings: SessionRunSettings): Promise<SessionRun> {
  const { replicas, speed } = settings;
  const options = mockOptions(trace, speed, STREAM_INTERVAL);
  const stack = await startStack(config, { count: replicas, options }, folder);
  try {
    let warm: Promise<[Counters, number]> | undefined;
    const warmedUp = () => {
      warm = Promise.all([stack.counters(), stack.routerCpuMs()]);
    };
    const played = await play(trace, stack.port, settings, warmedUp);
    const [[before, cpuMs], after, loop] = await Promise.all([warm!, stack.counters(), stack.replicasLoop()]);
    const routerCpu = (stack.routerCpuMs() - cpuMs) / played.durationMs;
    const { incidents } = await stack.stop();
    const { p50, p99 } = firstTokensOf(played.firstTokenMs.map((ms) => (ms / 1000) * speed));
    const hitRatio = (after.cachedTokens - before.cachedTokens) / (after.promptTokens - before.promptTokens);
    return {
      name: stack.name,
      live: { turnsPerHour: played.figures.turnsPerHour / speed, hitRatio, p50, p99 },
      simulated: await simulatedLoops(trace, stack.configFile, settings),
      failures: played.failures,
      incidents,
      routerCpu,
      lateness: {
        sendP99Ms: played.lateP99Ms,
        senderLoopP99Ms: played.loopP99Ms,
        replicasLoopP99Ms: loop.p99Ms,
        longestStallMs: Math.max(played.longestStallMs, loop.mostMs),
      },
    };
  } finally {
    await stack.stop();
  }
}

async function play(trace: Trace, port: number, settings: SessionRunSettings, warmedUp: () => void): Promise<Played> {
  const { replicas, speed } = settings;
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY, maxFreeSockets: 1_000 });
  const writer = new PromptWriter(trace.requests);
  const url = parseEndpointUrl(`http://127.0.0.1:${port}`);
  const model = fasterBy(speed, ENGINE_TIMES);
  try {
    return await playSessions(
      { trace, replicas, timeScale: 1 / speed, model, seed: 1, loop: loopOf(settings), warmedUp },
      async ({ request, signal, firstToken }) => {
        const sent = { url, path: pathOf(request), agent, body: bodyOf(request, writer), headers: request.headers ?? {}, signal };
        const { status, failure } = await send(sent, firstToken);
        return failure !== "" || status === 200 ? failure : `status ${status}`;
      },
    );
  } finally {
    agent.destroy();
  }
}

/**
 * In a closed loop each turn's time decides when all later ones come, so the least difference grows: the figures of one run are those of
 * many. These differ in the replicas' speed, by a ten-thousandth each.
 */
async function simulatedLoops(trace: Trace, configFile: string, settings: SessionRunSettings): Promise<readonly LoopFigures[]> {
  const { replicas, speed, runs } = settings;
  const figures: LoopFigures[] = [];
  for (let at = 0; at < runs; at++) {
    const model = { ...ENGINE_TIMES, prefillTokensPerS: ENGINE_TIMES.prefillTokensPerS * (1 - at * SPEED_STEP) };
    const all = { replicas, speed, seeds: 1, model, sessions: loopOf(settings) };
    const [metrics] = await simulations(trace, configFile, all);
    const { turnsPerHour = 0, hitRatio, ttftSeconds } = metrics!;
    figures.push({
      turnsPerHour: turnsPerHour / speed,
      hitRatio,
      p50: ttftSeconds.p50 * speed,
      p99: ttftSeconds.p99 * speed,
    });
  }
  return figures;
}

/** In real time. */
function loopOf({ perReplica, minutes, warmUpMinutes, speed }: SessionRunSettings) {
  return { perReplica, hours: minutes / 60 / speed, warmUpHours: warmUpMinutes / 60 / speed };
}
