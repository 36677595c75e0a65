import { Buffer } from "node:buffer";
import { setTimeout as sleep } from "node:timers/promises";
import { quantile } from "../../apps/lab/simulate/metrics.ts";
import { openClientSocket, type Target } from "./client-socket.ts";
import { cpuMicrosSince, cpuNow, residentBytes } from "./process-cpu.ts";
import { chatMessage, EVENT_MARK, type Message, renumber } from "./traffic.ts";

/** Many streams at once, `rounds` times over: CPU time per event, delay of the first, memory per stream. */
export interface StreamsJob extends Target {
  readonly kind: "streams";
  readonly pids: readonly number[];
  readonly streams: number;
  readonly rounds: number;
  /** What the upstream was told to send, for the count of what got lost. */
  readonly events: number;
  readonly intervalMs: number;
  /** Streams are opened over this time. */
  readonly rampMs: number;
}

export interface StreamsResult {
  readonly received: number;
  readonly lost: number;
  readonly cpuMicrosPerEvent: number;
  readonly firstEventP50Micros: number;
  readonly firstEventP99Micros: number;
  /** Growth of the proxy's memory from before the streams to when all were open, per stream. */
  readonly bytesPerStream: number;
}

/** What all streams of a job write into. */
interface Tally {
  received: number;
  firstEvents: number;
  residentWhenOpen: number;
  readonly firstEventMicros: number[];
}

/** Beyond twice the time a stream takes, what has not come is lost. */
const GRACE_MS = 5_000;
const OK = "HTTP/1.1 200";
const END = "0\r\n\r\n";

/** Runs the rounds one after the other. */
export async function streams(job: StreamsJob): Promise<StreamsResult> {
  const tally: Tally = { received: 0, firstEvents: 0, residentWhenOpen: 0, firstEventMicros: [] };
  const residentBefore = residentBytes(job.pids);
  const cpuBefore = cpuNow(job.pids);
  for (let round = 0; round < job.rounds; round++) await oneRound(job, tally);
  const cpu = cpuMicrosSince(cpuBefore);
  const sorted = tally.firstEventMicros.sort((a, b) => a - b);
  return {
    received: tally.received,
    lost: job.streams * job.rounds * job.events - tally.received,
    cpuMicrosPerEvent: cpu / tally.received,
    firstEventP50Micros: quantile(sorted, 0.5),
    firstEventP99Micros: quantile(sorted, 0.99),
    bytesPerStream: (tally.residentWhenOpen - residentBefore) / job.streams,
  };
}

async function oneRound(job: StreamsJob, tally: Tally): Promise<void> {
  const message = chatMessage({ bytes: 1024, conversation: 0, isStream: true });
  const longestMs = 2 * job.events * job.intervalMs + GRACE_MS;
  const open: Promise<void>[] = [];
  const startMs = performance.now();
  for (let index = 0; index < job.streams; index++) {
    const dueMs = startMs + (job.rampMs * index) / job.streams;
    if (dueMs - performance.now() > 1) await sleep(dueMs - performance.now());
    open.push(oneStream(job, { bytes: Buffer.from(message.bytes), numberAt: message.numberAt }, index, longestMs, tally));
  }
  await Promise.all(open);
}

function oneStream(job: StreamsJob, message: Message, index: number, longestMs: number, tally: Tally): Promise<void> {
  renumber(message, index);
  return new Promise((resolve) => {
    let startMs = 0;
    let events = 0;
    let tail = "";
    const socket = openClientSocket(job);
    socket.once(job.isTls ? "secureConnect" : "connect", () => {
      startMs = performance.now();
      socket.write(message.bytes);
    });
    const deadline = setTimeout(() => socket.destroy(), longestMs);
    socket.on("data", (bytes: Buffer) => {
      if (tail === "" && bytes.toString("latin1", 0, OK.length) !== OK) socket.destroy();
      const marks = countMarks(bytes);
      if (events === 0 && marks > 0) firstEvent(job, tally, startMs);
      events += marks;
      tally.received += marks;
      tail = (tail + bytes.toString("latin1", Math.max(0, bytes.length - END.length))).slice(-END.length);
      if (tail === END) socket.destroy();
    });
    socket.on("error", () => socket.destroy());
    socket.on("close", () => {
      clearTimeout(deadline);
      resolve();
    });
  });
}

function firstEvent(job: StreamsJob, tally: Tally, startMs: number): void {
  tally.firstEventMicros.push((performance.now() - startMs) * 1000);
  tally.firstEvents++;
  if (tally.firstEvents === job.streams) tally.residentWhenOpen = residentBytes(job.pids);
}

function countMarks(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(EVENT_MARK); at >= 0; at = bytes.indexOf(EVENT_MARK, at + 1)) count++;
  return count;
}
