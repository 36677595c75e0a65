import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ENGINE_TIMES } from "../../../apps/lab/engine/engine-times.ts";
import type { MockOptions } from "../../../apps/lab/mock/options.ts";
import type { Trace } from "../../../apps/lab/simulate/trace.ts";
import { type FirstTokens, firstTokensOf } from "./figures.ts";
import { type Replayed, replay } from "./replay.ts";
import { type Simulated, simulated } from "./simulated.ts";
import { type LogLine, type Stack, startStack } from "./stack.ts";
import type { Lateness } from "./verdict.ts";

/** One policy on one slice, over sockets and in the simulator. */
export interface PolicyRun extends Measured {
  readonly simulated: Simulated;
}

/** One policy over sockets; times in seconds of the trace's own time unless named otherwise. */
interface Measured {
  readonly name: string;
  readonly firstTokens: FirstTokens;
  /** Share of the prompt tokens that the replicas found cached, as they counted themselves. */
  readonly hitRatio: number;
  /** The same as the router predicted it when it chose, and as it read it in the responses. */
  readonly predictedHitRatio: number;
  readonly reportedHitRatio: number;
  /** Share of the first token's mean time that is spent outside of the replicas' engines. */
  readonly outsideShare: number;
  /** Why requests have no complete response, as the client saw it, one reason for each. */
  readonly failures: readonly string[];
  /** What the router logged of requests that went wrong: codes and flags, each once. */
  readonly errors: readonly string[];
  /** Replicas that the router took out of service, with the reason. */
  readonly incidents: readonly string[];
  readonly retries: number;
  /** Share of a core that the router used. */
  readonly routerCpu: number;
  readonly lateness: Lateness;
}

export interface RunSettings {
  readonly replicas: number;
  readonly speed: number;
  readonly seeds: number;
}

/** Tokens in one event, so that the replay is about prompts and queues, not about the cost of small events. */
const STREAM_INTERVAL = 8;

/** Replays a trace with every config at the same time, each with replicas and a router of its own. */
export async function runPolicies(
  trace: Trace,
  configs: readonly string[],
  settings: RunSettings,
): Promise<readonly PolicyRun[]> {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-live-"));
  const stacks: Stack[] = [];
  try {
    const options = mockOptions(trace, settings.speed);
    for (const config of configs) stacks.push(await startStack(config, { count: settings.replicas, options }, folder));
    const ports = stacks.map(({ port }) => port);
    const replayed = await replay(trace, ports, settings.speed);
    const measured = await Promise.all(stacks.map((stack, at) => measure(stack, replayed, at, settings.speed)));
    // Only now: a simulation takes all of a core.
    const runs: PolicyRun[] = [];
    for (const [at, { configFile }] of stacks.entries()) {
      const model = await simulated(trace, configFile, { ...settings, model: ENGINE_TIMES });
      runs.push({ ...measured[at]!, simulated: model });
    }
    return runs;
  } finally {
    await Promise.all(stacks.map((stack) => stack.stop()));
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The stack `at` that place, after the replay. */
async function measure(stack: Stack, replayed: Replayed, at: number, speed: number): Promise<Measured> {
  const seen = replayed.seen[at]!;
  const routerCpu = stack.routerCpuMs() / replayed.durationMs;
  const { promptTokens, cachedTokens, firstTokenMeanMs } = await stack.counters();
  const replicasLoop = await stack.replicasLoop();
  const { access: lines, incidents } = await stack.stop();
  const firstTokens = firstTokensOf(seen.firstTokenMs.map((ms) => (ms / 1000) * speed));
  return {
    name: stack.name,
    firstTokens,
    hitRatio: cachedTokens / promptTokens,
    predictedHitRatio: sumOf(lines, "predictedCachedTokens") / promptTokens,
    reportedHitRatio: sumOf(lines, "cachedTokens") / promptTokens,
    outsideShare: 1 - ((firstTokenMeanMs / 1000) * speed) / firstTokens.mean,
    failures: seen.failures,
    errors: [...new Set(lines.map(({ error, flags }) => [error, flags].filter(Boolean).join(" ")))].filter(Boolean),
    incidents,
    retries: lines.reduce((sum, { attempts }) => sum + Math.max(0, attempts.length - 1), 0),
    routerCpu,
    lateness: {
      sendP99Ms: replayed.sendP99Ms,
      senderLoopP99Ms: replayed.loopP99Ms,
      replicasLoopP99Ms: replicasLoop.p99Ms,
      longestStallMs: Math.max(replayed.longestStallMs, replicasLoop.mostMs),
    },
  };
}

/** The simulator's own model of a replica, at a multiple of its speed; what the trace's models are called, they all serve. */
export function mockOptions({ requests }: Trace, speed: number, streamInterval = STREAM_INTERVAL): MockOptions {
  const [model = "", ...adapters] = new Set(requests.map((request) => request.model));
  const { prefillTokensPerS, decodeStepMs, decodePerRequestMs, overheadMs, chunkTokens, maxRunning } = ENGINE_TIMES;
  const { kvTokens, blockTokens } = ENGINE_TIMES;
  return {
    ...{ model, adapters, prefillTokensPerS, decodeStepMs, decodePerRequestMs, overheadMs, chunkTokens },
    ...{ maxRunning, kvTokens, blockTokens, timeScale: 1 / speed, streamInterval, seenLimit: 1 },
  };
}

const sumOf = (lines: readonly LogLine[], key: "cachedTokens" | "predictedCachedTokens") =>
  lines.reduce((sum, line) => sum + (line[key] ?? 0), 0);
