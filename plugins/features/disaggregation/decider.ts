import type { Endpoint } from "../../../core/contract/endpoint.ts";
import { DECODE_MS, firstTokenMs, uncachedTokens } from "../../../core/contract/expected-wait.ts";
import type { LoadView } from "../../../core/contract/load-view.ts";
import type { Pairing } from "../../../core/contract/pairing.ts";
import type { InferenceRequest } from "../../../core/contract/request.ts";
import { whole } from "../../../core/report/number-text.ts";
import type { TransferTimes } from "./transfer-times.ts";

/** When a pair serves a request: by what it costs, always, never, or from so many uncached tokens on. */
export type DeciderConfig = "cost" | "always" | "never" | { readonly uncachedTokens: number };

/** What a pair is weighed with. */
interface Weighed {
  readonly request: InferenceRequest;
  readonly prefill: Endpoint;
  readonly decode: Endpoint;
  readonly load: LoadView;
  readonly times: TransferTimes;
  /** How long answers take from their first token on, in milliseconds; NaN if unknown. */
  readonly generationMs: number;
}

/** Whether this pair is to serve the request; without `prefill`, and with `decode` alone, otherwise. */
export function pairingOf(decider: DeciderConfig, weighed: Weighed): Pairing {
  const { request, decode } = weighed;
  const uncached = uncachedTokens(request, decode.slot);
  const costs = costsOf(weighed, uncached);
  const tokens = `${whole(uncached)} of ${whole(request.promptTokens)} prompt tokens are not cached at ${decode.name}`;
  if (decider === "cost") return byCost(weighed, costs, tokens);
  if (typeof decider === "object") {
    const isPaired = uncached >= decider.uncachedTokens;
    return { ...costs, isPaired, why: `${tokens}; the threshold is ${whole(decider.uncachedTokens)}.` };
  }
  return { ...costs, isPaired: decider === "always", why: `The config says ${decider}.` };
}

type Costs = Omit<Pairing, "isPaired" | "why">;

/**
 * Times to the first token in milliseconds, and what the prompt would hold up. One endpoint: what waits there and the prompt, at its speed
 * (`firstTokenMs`). A pair: the same at the prompt's endpoint, then the transfer, and a step of the answer's endpoint with its running
 * requests. An engine that computes a prompt holds up the tokens of all that generate there for as long.
 */
function costsOf({ request, prefill, decode, load, times }: Weighed, uncached: number): Costs {
  const stepMs = DECODE_MS * load.inFlight(decode.slot);
  const generating = Math.max(0, load.inFlight(decode.slot) - load.waitingPrompts(decode.slot));
  return {
    uncachedTokens: uncached,
    pairMs: firstTokenMs(request, prefill, load) + times.weighedMs(uncached, prefill, decode) + stepMs,
    aloneMs: firstTokenMs(request, decode, load),
    heldUpMs: generating * (uncached / load.prefillRate(decode.slot)),
  };
}

/**
 * A pair, unless what the request loses by it is more than what the others win, each as a part of what it takes anyway:
 * pairMs / aloneMs - 1 < heldUpMs / generationMs. A second more is little for an answer that takes a minute, and much for a first token.
 */
function byCost({ prefill, decode, generationMs }: Weighed, costs: Costs, tokens: string): Pairing {
  const { pairMs, aloneMs, heldUpMs } = costs;
  const spared = Number.isNaN(generationMs) ? 0 : heldUpMs / generationMs;
  const isPaired = pairMs < aloneMs * (1 + spared);
  const times = `first token expected after ${whole(pairMs)} ms with ${prefill.name}, after ${whole(aloneMs)} ms with ${decode.name} alone`;
  return { ...costs, isPaired, why: `${tokens}; ${times}, which would hold up others' tokens by ${whole(heldUpMs)} ms.` };
}
