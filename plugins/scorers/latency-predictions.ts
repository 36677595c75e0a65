import type { Endpoint } from "../../core/contract/endpoint.ts";
import { adapterWaitMs, DECODE_MS, firstTokenMs, uncachedTokens } from "../../core/contract/expected-wait.ts";
import type { LoadView } from "../../core/contract/load-view.ts";
import type { InferenceRequest } from "../../core/contract/request.ts";
import type { TryResult } from "../../core/contract/try-result.ts";
import { LatencyModel } from "./latency-model.ts";

/**
 * What times are predicted from: 1, uncached tokens of the prompt and tokens of other prompts ahead of it (in thousands), requests in
 * flight, KV-cache utilization.
 */
const FEATURES = 5;
/** What nobody would believe is not learned from, and no number is so large that sums of squares lose the others. */
const MOST_TOKENS = 1e8;
const MOST_IN_FLIGHT = 1e5;
const MOST_MS = 3_600_000;
const LEAST_TOKEN_MS = 0.01;
/** Below these, relative errors mean little. */
const TTFT_FLOOR_MS = 10;
const TPOT_FLOOR_MS = 1;

/** What the first time per token is compared with. */
const USUAL_TOKEN_MS = 25;

/** All predictions share this memory: they are synchronous. */
const scratch = new Float64Array(FEATURES);

/** What a request was sent with. */
interface Sent {
  readonly endpoint: Endpoint;
  readonly features: Float64Array;
  readonly ttftMs: number;
  readonly tpotMs: number;
  /** Tokens per millisecond, as measured then. */
  readonly rate: number;
}

/** Predicts times to the first token and per token, and learns from the requests that were sent. */
export class LatencyPredictions {
  readonly #ttft = new LatencyModel(FEATURES, TTFT_FLOOR_MS);
  readonly #tpot = new LatencyModel(FEATURES, TPOT_FLOOR_MS);
  readonly #sent = new WeakMap<InferenceRequest, Sent>();

  /** In milliseconds; before anything was learned, as the scorer outstanding-work expects it. */
  firstTokenMs(request: InferenceRequest, endpoint: Endpoint, load: LoadView): number {
    const tokens = uncachedTokens(request, endpoint.slot);
    const waitMs = adapterWaitMs(request, endpoint, load);
    const firstMs = firstTokenMs(request, endpoint, load, tokens) - waitMs;
    fill(scratch, tokens, endpoint, load);
    return waitMs + Math.max(0, this.#ttft.predict(scratch, endpoint, load.nowMs, firstMs));
  }

  /** In milliseconds; NaN before anything was learned. */
  tokenMs(request: InferenceRequest, endpoint: Endpoint, load: LoadView): number {
    fill(scratch, uncachedTokens(request, endpoint.slot), endpoint, load);
    return this.#tpot.predict(scratch, endpoint, load.nowMs, Number.NaN);
  }

  /** What 9 of 10 requests stay below, by how far off the latest predictions were. In milliseconds, like `lateTokenMs`. */
  lateFirstTokenMs(request: InferenceRequest, endpoint: Endpoint, load: LoadView): number {
    return this.firstTokenMs(request, endpoint, load) * this.#ttft.lateFactor;
  }

  /** NaN before anything was learned. */
  lateTokenMs(request: InferenceRequest, endpoint: Endpoint, load: LoadView): number {
    return this.tokenMs(request, endpoint, load) * this.#tpot.lateFactor;
  }

  /** The request is sent now. */
  sent(request: InferenceRequest, endpoint: Endpoint, load: LoadView): void {
    // A load of the adapter says nothing of other requests; a prompt of unknown length nothing at all.
    if (!request.isStream || request.promptTokens === 0 || adapterWaitMs(request, endpoint, load) > 0) return;
    const features = new Float64Array(FEATURES);
    fill(features, uncachedTokens(request, endpoint.slot), endpoint, load);
    const ttftMs = this.firstTokenMs(request, endpoint, load);
    const tpotMs = this.#tpot.predict(features, endpoint, load.nowMs, Number.NaN);
    this.#sent.set(request, { endpoint, features, ttftMs, tpotMs, rate: load.prefillRate(endpoint.slot) });
  }

  /** Learns from a streamed success; whatever else ended, or reports what can't be, is ignored. */
  ended(request: InferenceRequest, endpoint: Endpoint, result: TryResult, nowMs: number): void {
    const sent = this.#sent.get(request);
    this.#sent.delete(request);
    if (sent === undefined || sent.endpoint !== endpoint || !(result.status >= 200 && result.status < 300)) return;
    const { features, rate } = sent;
    const { firstTokenMs: ttftMs, endMs, outputTokens } = result;
    // A stream without a token is no success, however soon it came.
    if (!(ttftMs > 0 && ttftMs <= MOST_MS) || outputTokens === 0) return;
    const msPerThousand = Math.min(MOST_MS, 1000 / rate);
    this.#ttft.learn(features, endpoint, nowMs, ttftMs, sent.ttftMs, [0, msPerThousand, msPerThousand, DECODE_MS, 0]);
    const tpotMs = (endMs - ttftMs) / (outputTokens - 1);
    if (!result.isComplete || result.wasHeld || !(outputTokens >= 2) || !(tpotMs >= LEAST_TOKEN_MS && tpotMs <= MOST_MS)) return;
    const expectedMs = Number.isNaN(sent.tpotMs) ? USUAL_TOKEN_MS : sent.tpotMs;
    this.#tpot.learn(features, endpoint, nowMs, tpotMs, expectedMs, [expectedMs, 0, 0, 0, 0]);
  }
}

function fill(features: Float64Array, tokens: number, { slot }: Endpoint, load: LoadView): void {
  features[0] = 1;
  features[1] = Math.min(MOST_TOKENS, tokens) / 1000;
  features[2] = Math.min(MOST_TOKENS, load.remainingPrefill(slot)) / 1000;
  features[3] = Math.min(MOST_IN_FLIGHT, load.inFlight(slot));
  // Unknown counts as empty: the fit's other coefficients then explain it.
  features[4] = Math.min(1, Math.max(0, load.kvUsage(slot) || 0));
}
