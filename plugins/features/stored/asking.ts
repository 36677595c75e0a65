import { systemClock } from "../../../core/contract/clock.ts";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import { afterAwake } from "../../../core/contract/standstill.ts";
import type { ReplicaTls } from "../../../core/settings.ts";
import { httpStream } from "../../../core/wire/http-stream.ts";

/** Connections that one question has open at once. */
const AT_ONCE = 16;
/** Of a replica that says nothing of whether it has it. */
const NO_RIGHT: ReadonlySet<number> = new Set([401, 403]);
const LATER: ReadonlySet<number> = new Set([408, 429]);

/** How one replica is asked. */
export interface Question {
  readonly path: string;
  readonly timeoutMs: number;
  /** Ends it at once. */
  readonly signal: AbortSignal;
  headers(endpoint: Endpoint): Readonly<Record<string, string>>;
  tls(endpoint: Endpoint): ReplicaTls | undefined;
}

export interface Answered {
  readonly holder: Endpoint | undefined;
  /** Replicas that could not say. */
  readonly unsure: number;
  /** Replicas that do not know the client. */
  readonly unwilling: number;
}

/** Asks each replica once, until one of them has it, or the time is over. Never rejects. */
export async function whoHas(endpoints: readonly Endpoint[], question: Question): Promise<Answered> {
  const over = new AbortController();
  const signal = AbortSignal.any([over.signal, question.signal]);
  const cancel = afterAwake(systemClock, question.timeoutMs, () => over.abort());
  const counts = { unsure: 0, unwilling: 0 };
  let holder: Endpoint | undefined;
  const rest = endpoints.values();
  const askOn = async () => {
    for (const endpoint of rest) {
      const status = signal.aborted ? 0 : await statusOf(endpoint, question, signal);
      if (holder !== undefined) return;
      if (status === 200) {
        holder = endpoint;
        over.abort();
      } else if (NO_RIGHT.has(status)) counts.unwilling += 1;
      else if (status < 300 || LATER.has(status) || (status >= 500 && status !== 501)) counts.unsure += 1;
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, endpoints.length) }, askOn));
  cancel();
  return { holder, ...counts };
}

/** The status of the response's head, the rest of which is not read; 0 without one. */
async function statusOf(endpoint: Endpoint, question: Question, signal: AbortSignal): Promise<number> {
  const read = new AbortController();
  let found = 0;
  try {
    await httpStream(endpoint.url, question.path, {
      headers: question.headers(endpoint),
      tls: question.tls(endpoint),
      silenceMs: question.timeoutMs,
      signal: AbortSignal.any([signal, read.signal]),
      head(status) {
        found = status;
        read.abort();
      },
      body() {},
    });
  } catch {
    // It was cut here, or the replica can't be asked.
  }
  return found;
}
