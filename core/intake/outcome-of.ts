import type { RouterError } from "../contract/errors.ts";
import type { Outcome, RequestTimes } from "../contract/outcome.ts";
import type { Trace } from "../contract/trace.ts";
import type { PipelineRun } from "../pipeline.ts";
import type { Delivery } from "../stages/forward.ts";

/** What the intake itself knows of a request that has ended. Moments are in milliseconds on the router's clock. */
export interface Taken {
  readonly id: string;
  readonly api: string;
  readonly method: string;
  readonly path: string;
  readonly headAtMs: number;
  /** NaN if its last byte did not come. */
  readonly bodyEndedAtMs: number;
  readonly requestBytes: number;
  /** Undefined if it did not come to be routed. */
  readonly run: PipelineRun | undefined;
  /** Undefined if it is not traced. */
  readonly trace: Trace | undefined;
}

/** How a request ended, apart from what was delivered. */
export interface End {
  readonly ending: Outcome["ending"];
  readonly status: number;
}

/** The outcome of a request that ends now: at `nowMs` on the router's clock and at `wallMs` on the wall's. */
export function outcomeOf(
  taken: Taken,
  delivery: Delivery,
  end: End,
  error: RouterError | undefined,
  nowMs: number,
  wallMs: number,
): Outcome {
  const { id, api, method, path, run, bodyEndedAtMs } = taken;
  const { usage, outputTokens, isOutputEstimated, finishReason } = delivery.generated;
  const times = timesOf(taken, delivery, nowMs);
  return {
    id,
    api,
    method,
    path,
    request: run?.request,
    decision: run?.decision,
    attempts: delivery.attempts,
    status: end.status,
    ending: end.ending,
    error: error && { code: error.code, message: error.message },
    wallMs,
    times,
    overheadUs: 1000 * (delivery.dispatchedAtMs - bodyEndedAtMs - (run?.waitedMs ?? 0)),
    durationMs: times.endMs,
    firstByteMs: delivery.firstByteAtMs - bodyEndedAtMs,
    expectedFirstByteMs: delivery.expected.firstTokenMs,
    expectedTokenMs: delivery.expected.tokenMs,
    targets: delivery.expected.targets,
    requestBytes: taken.requestBytes,
    responseBytes: delivery.responseBytes,
    usage,
    predictedTokens: delivery.predictedTokens,
    outputTokens,
    isOutputEstimated,
    finishReason,
    trace: taken.trace,
    mirrors: run?.mirrors,
    shadow: run?.shadow,
  };
}

function timesOf({ headAtMs, bodyEndedAtMs, run }: Taken, delivery: Delivery, endedAtMs: number): RequestTimes {
  return {
    receivedMs: bodyEndedAtMs - headAtMs,
    admittedMs: (run?.admittedAtMs ?? Number.NaN) - headAtMs,
    decidedMs: (run?.decidedAtMs ?? Number.NaN) - headAtMs,
    dispatchedMs: delivery.dispatchedAtMs - headAtMs,
    firstByteMs: delivery.firstByteAtMs - headAtMs,
    endMs: endedAtMs - headAtMs,
  };
}
