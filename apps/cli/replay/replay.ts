import { setMaxListeners } from "node:events";
import { Agent } from "node:http";
import { Agent as TlsAgent } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import type { EndpointUrl } from "../../../core/contract/endpoint.ts";
import { PromptWriter } from "../../lab/simulate/prompt-bytes.ts";
import type { Trace } from "../../lab/simulate/trace.ts";
import { bodyOf, pathOf } from "./bodies.ts";
import { send } from "./send.ts";
import { Tally } from "./tally.ts";

export interface ReplayOptions {
  readonly url: EndpointUrl;
  /** Times of the trace are divided by it. */
  readonly speed: number;
  /** Most requests under way. */
  readonly connections: number;
  /** Asked for instead of the recorded models. */
  readonly model: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** A request that hears nothing for so long is given up. */
  readonly silenceMs: number;
  /** Ends the replay: nothing more is sent, and what is under way is broken off. */
  readonly signal: AbortSignal;
}

/** Of bodies under way, together; one that is longer is sent alone. */
const MOST_BYTES = 256 * 1024 * 1024;
/** Timers are a millisecond late at least; the rest of the wait is not worth a turn of the loop. */
const SOON_MS = 1;

/** Sends a trace's requests at their times, as far as the bounds let it, and waits for the responses. Never rejects. */
export async function replay(trace: Trace, options: ReplayOptions): Promise<Tally> {
  const { url, speed, connections, model, headers, silenceMs, signal } = options;
  const tally = new Tally(trace);
  const writer = new PromptWriter(trace.requests);
  const agent = new (url.isTls ? TlsAgent : Agent)({ keepAlive: true, maxSockets: connections });
  const open = new Set<Promise<void>>();
  let bytes = 0;
  setMaxListeners(0, signal);
  const startMs = performance.now();
  for (const traced of trace.requests) {
    const dueMs = startMs + traced.atMs / speed;
    const waitMs = dueMs - performance.now();
    if (waitMs > SOON_MS) await sleep(Math.min(waitMs, LONGEST_MS), undefined, { signal }).catch(() => {});
    while (!signal.aborted && (open.size >= connections || (open.size > 0 && bytes >= MOST_BYTES))) await Promise.race(open);
    if (signal.aborted) break;
    const body = bodyOf(traced, writer, model);
    const sentMs = performance.now();
    tally.sent(sentMs - dueMs);
    bytes += body.length;
    const sent = send({ url, path: pathOf(traced), agent, body, headers, silenceMs, signal }, () =>
      tally.firstByte(performance.now() - sentMs),
    );
    const ended: Promise<void> = sent.then((end) => {
      bytes -= body.length;
      open.delete(ended);
      if (!signal.aborted) tally.ended(traced, end);
    });
    open.add(ended);
  }
  await Promise.all(open);
  agent.destroy();
  return tally;
}

/** The longest time that a timer takes. */
const LONGEST_MS = 2 ** 31 - 1;
