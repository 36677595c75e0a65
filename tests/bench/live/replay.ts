import { setMaxListeners } from "node:events";
import { Agent } from "node:http";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { bodyOf, pathOf } from "../../../apps/cli/replay/bodies.ts";
import { send } from "../../../apps/cli/replay/send.ts";
import { quantile } from "../../../apps/lab/simulate/metrics.ts";
import { PromptWriter } from "../../../apps/lab/simulate/prompt-bytes.ts";
import type { Trace } from "../../../apps/lab/simulate/trace.ts";
import { parseEndpointUrl } from "../../../core/contract/endpoint-url.ts";

/** What the clients of one router saw. */
interface Seen {
  /** From the time at which the trace has a request to its first token, in milliseconds of real time. */
  readonly firstTokenMs: readonly number[];
  /** Why requests have no complete response, one reason for each. */
  readonly failures: readonly string[];
}

/** One replay; times in milliseconds of real time. */
export interface Replayed {
  /** In the order of the ports. */
  readonly seen: readonly Seen[];
  readonly sendP99Ms: number;
  readonly loopP99Ms: number;
  readonly longestStallMs: number;
  /** From the first request to the last response. */
  readonly durationMs: number;
}

const NANOS_PER_MS = 1e6;
/** After the last request was sent. */
const MOST_DRAIN_MS = 180_000;
/** Timers are a millisecond late at least; the rest of the wait is not worth a turn of the loop. */
const SOON_MS = 1;

/** Sends a trace's requests at their times divided by `speed`, each to all ports, and waits for the responses. */
export async function replay(trace: Trace, ports: readonly number[], speed: number): Promise<Replayed> {
  const { requests } = trace;
  const writer = new PromptWriter(requests);
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY, maxFreeSockets: 1_000 });
  const loop = monitorEventLoopDelay({ resolution: 5 });
  const firstTokenMs = ports.map((): number[] => []);
  const lateMs = new Float64Array(requests.length);
  const open = ports.map((): Promise<string | undefined>[] => []);
  const giveUp = new AbortController();
  setMaxListeners(0, giveUp.signal);
  loop.enable();
  const startMs = performance.now();
  for (const [index, traced] of requests.entries()) {
    const dueMs = startMs + traced.atMs / speed;
    const waitMs = dueMs - performance.now();
    if (waitMs > SOON_MS) await sleep(waitMs);
    const body = bodyOf(traced, writer);
    for (const [at, port] of ports.entries()) {
      const firstToken = () => void firstTokenMs[at]!.push(performance.now() - dueMs);
      const url = parseEndpointUrl(`http://127.0.0.1:${port}`);
      const ended = send({ url, path: pathOf(traced), agent, body, signal: giveUp.signal }, firstToken);
      open[at]!.push(
        ended.then(({ status, failure }) => (failure !== "" ? failure : status === 200 ? undefined : `status ${status}`)),
      );
    }
    lateMs[index] = Math.max(0, performance.now() - dueMs);
  }
  const timer = setTimeout(() => giveUp.abort(), MOST_DRAIN_MS);
  const failures = await Promise.all(open.map((sent) => Promise.all(sent)));
  clearTimeout(timer);
  const durationMs = performance.now() - startMs;
  loop.disable();
  agent.destroy();
  return {
    seen: failures.map((each, at) => ({
      firstTokenMs: firstTokenMs[at]!,
      failures: each.filter((reason) => reason !== undefined),
    })),
    sendP99Ms: quantile(lateMs.sort(), 0.99),
    loopP99Ms: loop.percentile(99) / NANOS_PER_MS,
    longestStallMs: loop.max / NANOS_PER_MS,
    durationMs,
  };
}
