import { type Endpoint, firstTokenMs, type InferenceRequest, type LoadView } from "signalbox/plugin";

/** Below it, relative errors mean little. */
const FLOOR_MS = 10;
/** How much the latest value counts beside all before it. */
const SHARE = 0.1;

/** What was seen of one endpoint. */
interface Seen {
  /** Another one is another machine in the same slot. */
  readonly url: Endpoint["url"];
  /** ln(seen / expected) of times to the first token, averaged. */
  ttftLog: number;
  /** Milliseconds per further token, averaged; NaN before the first. */
  tpotMs: number;
}

/** Learns how far off the router's formula is at each endpoint, and how long a further token takes there. */
export class LatencyModel {
  readonly #bySlot: (Seen | undefined)[] = [];

  /** Predicted time to the first token, in milliseconds. */
  ttftMs(request: InferenceRequest, endpoint: Endpoint, load: LoadView): number {
    const expectedMs = formulaMs(request, endpoint, load);
    const { ttftLog } = this.#seen(endpoint);
    return Number.isNaN(ttftLog) ? expectedMs : Math.max(0, (expectedMs + FLOOR_MS) * Math.exp(ttftLog) - FLOOR_MS);
  }

  /** Predicted time per further token, in milliseconds; NaN before the first was seen. */
  tpotMs(endpoint: Endpoint): number {
    return this.#seen(endpoint).tpotMs;
  }

  /** A request took `ttftMs` to its first token where the formula expected `expectedMs`, then `tpotMs` per token (NaN: unknown). */
  learn(endpoint: Endpoint, expectedMs: number, ttftMs: number, tpotMs: number): void {
    const seen = this.#seen(endpoint);
    seen.ttftLog = averaged(seen.ttftLog, Math.log((ttftMs + FLOOR_MS) / (expectedMs + FLOOR_MS)));
    seen.tpotMs = averaged(seen.tpotMs, tpotMs);
  }

  #seen({ slot, url }: Endpoint): Seen {
    const known = this.#bySlot[slot];
    if (known?.url === url) return known;
    const seen = { url, ttftLog: Number.NaN, tpotMs: Number.NaN };
    this.#bySlot[slot] = seen;
    return seen;
  }
}

function averaged(mean: number, value: number): number {
  if (!Number.isFinite(value)) return mean;
  return Number.isNaN(mean) ? value : mean + SHARE * (value - mean);
}

function formulaMs(request: InferenceRequest, endpoint: Endpoint, load: LoadView): number {
  return firstTokenMs(request, endpoint, load);
}

/** What the scorer knew of a request when it was sent. */
interface Sent {
  readonly model: LatencyModel;
  readonly endpoint: Endpoint;
  readonly expectedMs: number;
}

const underWay = new WeakMap<InferenceRequest, Sent>();

/** The scorer calls it when a request is sent. */
export function noteSent(model: LatencyModel, request: InferenceRequest, endpoint: Endpoint, load: LoadView): void {
  underWay.set(request, { model, endpoint, expectedMs: formulaMs(request, endpoint, load) });
}

/** What was noted of the request when it was last sent. */
export const sentOf = (request: InferenceRequest): Sent | undefined => underWay.get(request);
