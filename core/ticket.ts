import type { Decision } from "./contract/decision.ts";
import type { MirrorRecord } from "./contract/mirror.ts";
import type { Attempt, Outcome, OutcomeError, PrefillRecord, RequestTimes, Usage } from "./contract/outcome.ts";
import type { Principal } from "./contract/principal.ts";
import type { InferenceRequest } from "./contract/request.ts";
import type { SessionTurn } from "./contract/session-turn.ts";
import type { ShadowChoice } from "./contract/shadow.ts";
import type { Trace } from "./contract/trace.ts";
import type { WaitRecord } from "./contract/wait-record.ts";

/** Moments of one request in milliseconds on the router's clock; NaN for what did not happen. Observers read them since its head. */
export class Moments implements RequestTimes {
  readonly headAtMs: number;
  bodyEndedAtMs = Number.NaN;
  admittedAtMs = Number.NaN;
  decidedAtMs = Number.NaN;
  dispatchedAtMs = Number.NaN;
  firstByteAtMs = Number.NaN;
  endedAtMs = Number.NaN;

  constructor(headAtMs: number) {
    this.headAtMs = headAtMs;
  }

  get receivedMs(): number {
    return this.bodyEndedAtMs - this.headAtMs;
  }

  get admittedMs(): number {
    return this.admittedAtMs - this.headAtMs;
  }

  get decidedMs(): number {
    return this.decidedAtMs - this.headAtMs;
  }

  get dispatchedMs(): number {
    return this.dispatchedAtMs - this.headAtMs;
  }

  get firstByteMs(): number {
    return this.firstByteAtMs - this.headAtMs;
  }

  get endMs(): number {
    return this.endedAtMs - this.headAtMs;
  }
}

/**
 * The record of one request, made at its head with all its fields, so that the engine sees one shape. Each stage fills in its own
 * fields; when the request has ended, observers read it as its Outcome. It holds nothing of sockets or bodies, because observers may
 * keep it.
 */
export class Ticket implements Outcome {
  // Head.
  readonly id: string;
  readonly method: string;
  readonly times: Moments;
  path = "";
  api = "";
  trace: Trace | undefined = undefined;
  principal: Principal | undefined = undefined;
  /** Tokens reserved of what the principal may use; below 0 while the request does not count among its own. */
  reservedTokens = -1;
  /** When it began to count among them. */
  countedAtMs = Number.NaN;
  // Body.
  requestBytes = 0;
  // Parse, wait and decide.
  pool: string | undefined = undefined;
  request: InferenceRequest | undefined = undefined;
  session: SessionTurn | undefined = undefined;
  wait: WaitRecord | undefined = undefined;
  decision: Decision | undefined = undefined;
  shadow: ShadowChoice | undefined = undefined;
  mirrors: readonly MirrorRecord[] | undefined = undefined;
  prefill: PrefillRecord | undefined = undefined;
  // Tries; the last three are of the newest one.
  readonly attempts: Attempt[] = [];
  endpoint = "";
  expectedFirstByteMs = Number.NaN;
  predictedTokens: number | undefined = undefined;
  // The response that is passed on.
  status = 0;
  responseBytes = 0;
  usage: Usage | undefined = undefined;
  outputTokens = Number.NaN;
  isOutputEstimated = false;
  finishReason = "";
  // Ending.
  ending: Outcome["ending"] = "complete";
  error: OutcomeError | undefined = undefined;
  wallMs = Number.NaN;
  notes: readonly string[] | undefined = undefined;

  constructor(id: string, method: string, headAtMs: number) {
    this.id = id;
    this.method = method;
    this.times = new Moments(headAtMs);
  }

  get durationMs(): number {
    return this.times.endMs;
  }

  get overheadUs(): number {
    const { dispatchedAtMs, bodyEndedAtMs } = this.times;
    return 1000 * (dispatchedAtMs - bodyEndedAtMs - (this.wait?.waitedMs ?? 0));
  }

  get firstByteMs(): number {
    const { firstByteAtMs, bodyEndedAtMs } = this.times;
    return firstByteAtMs - bodyEndedAtMs;
  }
}
