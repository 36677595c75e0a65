import { z } from "../../core/contract/options.ts";
import type { BuiltInJob } from "./types.ts";

// Plugins of the reference that put the prompt and the answer of a request on two endpoints, which `spec.disaggregation` does here.

export const DISAGG_HANDLER = "disagg-profile-handler";
export const PD_HANDLER = "pd-profile-handler";
export const PREFIX_DECIDER = "prefix-based-pd-decider";
export const ALWAYS_DECIDER = "always-disagg-pd-decider";

const name = z.string().exactOptional();
const unused = z.unknown().optional();

/** The names of older versions stand beside those of today's. */
const flatNames = { decodeProfile: name, prefillProfile: name, deciderPluginName: name };

/** What is said of encoding is refused where it is read, with what to do instead. */
const disaggParameters = z.strictObject({
  stageOrder: z
    .string()
    .refine((order) => /^(decode[-_]?first|decode|)$/i.test(order), "decode-first: whether a prompt is worth it is seen there")
    .exactOptional(),
  profiles: z
    .strictObject({
      decode: name,
      prefill: name,
      encode: name,
      fallback: z
        .string()
        .max(0, "none: endpoints without a role, or with the role both, serve what no pair can")
        .exactOptional(),
    })
    .exactOptional(),
  deciders: z.strictObject({ prefill: name, encode: name }).exactOptional(),
  ...flatNames,
  encodeProfile: name,
});

const pdParameters = z.strictObject({
  ...flatNames,
  primaryPort: z.literal(0, "0: each rank is an endpoint of its own, and gets its requests at its own port").exactOptional(),
  prefixPluginType: unused,
  prefixPluginName: unused,
  prefixMatchInfoProducerName: unused,
  hashBlockSize: unused,
});

const tokens = z.int().min(0);

export const prefixDeciderParameters = z
  .strictObject({
    nonCachedTokens: tokens.default(0),
    promptTokens: tokens.default(0),
    prefixMatchInfoProducerName: unused,
  })
  .refine(({ nonCachedTokens, promptTokens }) => nonCachedTokens === 0 || promptTokens <= nonCachedTokens, {
    path: ["promptTokens"],
    message: "at most nonCachedTokens: the tokens that are not cached say whether a prompt is worth it, not its length",
  });

const takenOver = (role: BuiltInJob["role"], why: string, schema: z.ZodType): BuiltInJob => ({
  role,
  effect: "taken over",
  why,
  schema,
});

const HANDLED = "by spec.disaggregation: the answer's endpoint first, then the prompt's if the decider says so";
const TOLD = "by spec.disaggregation: x-prefiller-host-port is sent wherever a pair serves a request";
const headerNames = z.strictObject({ prefillProfile: unused, encodeProfile: unused });

export const PAIR_JOBS: Readonly<Record<string, BuiltInJob>> = {
  [DISAGG_HANDLER]: takenOver("profile handler", HANDLED, disaggParameters),
  [PD_HANDLER]: takenOver("profile handler", HANDLED, pdParameters),
  "disagg-headers-handler": takenOver("header handler", TOLD, headerNames),
  "prefill-header-handler": takenOver("header handler", TOLD, headerNames),
  [PREFIX_DECIDER]: takenOver("decider", "by spec.disaggregation.decider: uncachedTokens", prefixDeciderParameters),
  [ALWAYS_DECIDER]: takenOver("decider", "by spec.disaggregation.decider: always", z.strictObject({})),
};
