import { setTimeout as sleep } from "node:timers/promises";
import { quantile } from "../../apps/lab/simulate/metrics.ts";
import { ClientConnection } from "./client-connection.ts";
import type { Target } from "./client-socket.ts";
import { cpuMicrosSince, cpuNow } from "./process-cpu.ts";
import { type BodyShape, chatMessage, type Message, renumber } from "./traffic.ts";

/** As many requests as N connections get through, one after the other on each: CPU time per request. */
export interface ClosedLoopJob extends Target {
  readonly kind: "closed-loop";
  readonly pids: readonly number[];
  readonly connections: number;
  readonly bodyBytes: number;
  readonly warmUpRequests: number;
  readonly requests: number;
  /** Each request has a connection of its own. */
  readonly isFresh: boolean;
  /** Both parts end after this long, however many requests they got through. */
  readonly limitMs: number;
}

export interface ClosedLoopResult {
  readonly requests: number;
  readonly failures: number;
  readonly cpuMicrosPerRequest: number;
  readonly requestsPerSecond: number;
}

/** Requests at a fixed rate, whatever the answers do: added latency. */
export interface OpenLoopJob extends Target {
  readonly kind: "open-loop";
  readonly bodyBytes: number;
  readonly ratePerSecond: number;
  readonly durationMs: number;
  /** Beside them one connection sends bodies of this size, dense with escapes. */
  readonly besideBodyBytes?: number;
}

export interface OpenLoopResult {
  readonly p50Micros: number;
  readonly p99Micros: number;
  readonly maxMicros: number;
  readonly failures: number;
}

const LAST_ANSWER_MS = 5_000;
const BESIDE_PAUSE_MS = 25;
/** Timers are a millisecond coarse; what is left of a wait is spun. */
const SPIN_MS = 1.5;
const MAX_CONNECTIONS = 256;

let nextNumber = 1;

/** Connects, warms up, then counts answers and the proxy's CPU time over the same span. */
export async function closedLoop(job: ClosedLoopJob): Promise<ClosedLoopResult> {
  const count = { answered: 0, failures: 0, isOver: false };
  const connections = Array.from({ length: job.connections }, () => new ClientConnection(job));
  for (const [conversation, connection] of connections.entries()) {
    keepAsking(connection, chatMessage({ bytes: job.bodyBytes, conversation }), count, job.isFresh);
  }
  await until(() => count.answered >= job.warmUpRequests, job.limitMs);
  const before = { answered: count.answered, cpu: cpuNow(job.pids), ms: performance.now() };
  await until(() => count.answered >= before.answered + job.requests, job.limitMs);
  const requests = count.answered - before.answered;
  const cpuMicrosPerRequest = cpuMicrosSince(before.cpu) / requests;
  count.isOver = true;
  for (const connection of connections) connection.close();
  return {
    requests,
    failures: count.failures,
    cpuMicrosPerRequest,
    requestsPerSecond: (requests * 1000) / (performance.now() - before.ms),
  };
}

/** The next request as soon as one is answered; a proxy that refuses is not asked in a tight loop. */
function keepAsking(
  connection: ClientConnection,
  message: Message,
  count: { answered: number; failures: number; readonly isOver: boolean },
  isFresh: boolean,
): void {
  const next = () => sendNext(connection, message, answered);
  const answered = (status: number) => {
    if (status === 200) count.answered++;
    else count.failures++;
    if (count.isOver) return;
    if (isFresh) connection.close();
    if (status === 200) next();
    else setTimeout(next, 10);
  };
  next();
}

async function until(isReached: () => boolean, limitMs: number): Promise<void> {
  const endMs = performance.now() + limitMs;
  while (!isReached() && performance.now() < endMs) await sleep(2);
}

/** Each latency counts from when the request was due, so that a stall shows in every request that it held up. */
export async function openLoop(job: OpenLoopJob): Promise<OpenLoopResult> {
  const beside = job.besideBodyBytes === undefined ? undefined : keepSending(job, job.besideBodyBytes);
  const latencies: number[] = [];
  const message = chatMessage({ bytes: job.bodyBytes, conversation: 0 });
  const idle: ClientConnection[] = [];
  const all: ClientConnection[] = [];
  let failures = 0;
  const total = Math.floor((job.ratePerSecond * job.durationMs) / 1000);
  const startMs = performance.now() + 50;
  for (let index = 0; index < total; index++) {
    const dueMs = startMs + (index * 1000) / job.ratePerSecond;
    await due(dueMs);
    const connection = idle.pop() ?? opened(all, job);
    if (connection === undefined) {
      failures++;
      continue;
    }
    sendNext(connection, message, (status) => {
      latencies.push((performance.now() - dueMs) * 1000);
      if (status !== 200) failures++;
      idle.push(connection);
    });
  }
  const endMs = performance.now() + LAST_ANSWER_MS;
  while (latencies.length + failures < total && performance.now() < endMs) await sleep(5);
  failures = Math.max(failures, total - latencies.length);
  for (const connection of all) connection.close();
  beside?.close();
  // The first requests open their connections.
  const sorted = latencies.slice(Math.min(20, latencies.length >> 1)).sort((a, b) => a - b);
  return {
    p50Micros: quantile(sorted, 0.5),
    p99Micros: quantile(sorted, 0.99),
    maxMicros: sorted.at(-1) ?? Number.NaN,
    failures,
  };
}

function opened(all: ClientConnection[], target: Target): ClientConnection | undefined {
  if (all.length === MAX_CONNECTIONS) return undefined;
  const connection = new ClientConnection(target);
  all.push(connection);
  return connection;
}

/** One connection that sends large bodies with a pause between them. */
function keepSending(target: Target, bytes: number): { close(): void } {
  const connection = new ClientConnection(target);
  const shape: BodyShape = { bytes, conversation: 1, hasDenseEscapes: true };
  const message = chatMessage(shape);
  let timer: NodeJS.Timeout | undefined;
  const next = () =>
    sendNext(connection, message, () => {
      timer = setTimeout(next, BESIDE_PAUSE_MS);
    });
  next();
  return {
    close() {
      clearTimeout(timer);
      connection.close();
    },
  };
}

function sendNext(connection: ClientConnection, message: Message, answered: (status: number) => void): void {
  renumber(message, nextNumber++);
  connection.send(message.bytes, answered);
}

async function due(dueMs: number): Promise<void> {
  const waitMs = dueMs - performance.now();
  if (waitMs > SPIN_MS + 1) await sleep(waitMs - SPIN_MS);
  while (performance.now() < dueMs) await new Promise((resolve) => setImmediate(resolve));
}
