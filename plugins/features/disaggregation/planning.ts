import type { ActiveConfig, Named, Profile } from "../../../core/active-config.ts";
import type { Decision, Leg } from "../../../core/contract/decision.ts";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import { NUMBERS_PER_ENDPOINT } from "../../../core/contract/estimate.ts";
import type { Filter } from "../../../core/contract/filter.ts";
import type { Pairing } from "../../../core/contract/pairing.ts";
import type { InferenceRequest } from "../../../core/contract/request.ts";
import type { Planned } from "../../../core/contract/slots/plan.ts";
import { pairingOf } from "./decider.ts";
import type { DisaggregationConfig } from "./disaggregation-config.ts";
import type { GenerationTime } from "./generation-time.ts";
import { Roles } from "./roles.ts";
import type { Transfer } from "./transfer.ts";
import type { TransferTimes } from "./transfer-times.ts";

/** APIs that generate text from one prompt. Of others, and of lists of prompts, no cache can be transferred. */
export const APIS: ReadonlySet<string> = new Set(["completions", "chat-completions", "responses", "messages", "generate"]);
const BRACKET = 0x5b;
const QUOTE = 0x22;

/**
 * Decides where a request's answer is generated, and whether its prompt is processed on another endpoint before. It only reads: dry runs
 * ask it too.
 */
export class Planning {
  readonly roles: Roles;
  readonly #config: DisaggregationConfig;
  readonly #transfer: Transfer;
  readonly #times: TransferTimes;
  readonly #generation: GenerationTime;
  readonly #decodeFilter: Named<Filter>;
  readonly #prefillFilter: Named<Filter>;
  /** The profiles with the filter of a role in front. */
  readonly #decoding = new WeakMap<Profile, Profile>();
  readonly #prefilling = new WeakMap<Profile, Profile>();
  #others: ActiveConfig["others"] = new Map();

  constructor(config: DisaggregationConfig, transfer: Transfer, times: TransferTimes, generation: GenerationTime) {
    this.#generation = generation;
    this.#config = config;
    this.#transfer = transfer;
    this.#times = times;
    this.roles = new Roles(config.roles);
    this.#decodeFilter = this.roles.decodeFilter;
    this.#prefillFilter = this.roles.prefillFilter;
  }

  use({ others }: ActiveConfig): void {
    this.#others = others;
  }

  /** The profile of the prompt's leg, or of the answer's, where `own` is the router's. */
  profileOf(role: "prefill" | "decode", own: Profile): Profile {
    const profile = this.#others.get(`disaggregation.${role}`) ?? own;
    const known = role === "decode" ? this.#decoding : this.#prefilling;
    let filtered = known.get(profile);
    if (filtered === undefined) {
      const filter = role === "decode" ? this.#decodeFilter : this.#prefillFilter;
      // In front, so that what the other filters say is of endpoints with the role.
      filtered = { ...profile, filters: [filter, ...profile.filters] };
      known.set(profile, filtered);
    }
    return filtered;
  }

  plan({ request, load, profile, decide }: Planned): Decision {
    const own = profile as Profile;
    const decision = decide(this.profileOf("decode", own));
    const [leg] = decision.legs;
    const decode = leg?.order[0];
    if (leg === undefined || decode === undefined || decision.refusal !== undefined) return decision;
    const obstacle = this.#obstacle(request, this.roles.isDecode(decode));
    if (obstacle !== "") return { ...decision, pairing: notWeighed(obstacle) };
    const prompt = decide(this.profileOf("prefill", own), decode);
    const promptLeg = prompt.legs[0] && without(decode, prompt.legs[0]);
    const prefill = promptLeg?.order[0];
    if (promptLeg === undefined || prefill === undefined)
      return { ...decision, pairing: notWeighed(prompt.refusal?.message ?? "No endpoint may process its prompt.") };
    const pairing = pairingOf(this.#transfer.answersAlone ? this.#config.decider : "always", {
      request,
      prefill,
      decode,
      load,
      times: this.#times,
      generationMs: this.#generation.meanMs,
    });
    if (!pairing.isPaired) return { ...decision, pairing };
    const legs: readonly Leg[] = [
      { ...leg, role: "decode" },
      { ...promptLeg, role: "prefill" },
    ];
    return { ...decision, legs, pairing, faults: [...decision.faults, ...prompt.faults] };
  }

  /** Why no pair can serve the request; "" if one can. */
  #obstacle({ api, isFollowUp, promptSpans, promptTokens, choices = 1, body }: InferenceRequest, isDecode: boolean): string {
    if (!isDecode) return "Its endpoint does all of a request.";
    if (!APIS.has(api) || promptTokens === 0 || isFollowUp) return "Nothing can be transferred for such a request.";
    const isList = api === "completions" && promptSpans.some(([start]) => body[start] === BRACKET && isListOfLists(body, start));
    return choices > 1 || isList ? "It asks for several answers." : "";
  }
}

/** The leg without an endpoint that it does not need; its estimates stay those of its order. */
function without(endpoint: Endpoint, leg: Leg): Leg {
  const place = leg.order.indexOf(endpoint);
  if (place < 0) return leg.spares?.includes(endpoint) ? { ...leg, spares: leg.spares.filter((each) => each !== endpoint) } : leg;
  const estimates = Array.from(leg.estimates);
  estimates.splice(NUMBERS_PER_ENDPOINT * place, NUMBERS_PER_ENDPOINT);
  return { ...leg, order: leg.order.toSpliced(place, 1), estimates, isPlaced: leg.isPlaced === true && place > 0 };
}

/** Whether the list at `start` begins with a text or another list: a list of token ids is one prompt. */
function isListOfLists(body: Uint8Array, start: number): boolean {
  let at = start + 1;
  while (body[at]! <= 0x20) at += 1;
  return body[at] === BRACKET || body[at] === QUOTE;
}

function notWeighed(why: string): Pairing {
  return { isPaired: false, why, uncachedTokens: 0, pairMs: Number.NaN, aloneMs: Number.NaN, heldUpMs: Number.NaN };
}
