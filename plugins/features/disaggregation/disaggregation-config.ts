import { problemAt } from "../../../config/read/problems.ts";
import { profileRefs, unguarded, type WrittenProfile } from "../../../config/schema/profile.ts";
import { section, writtenOf } from "../../../config/schema/section.ts";
import { instanceName } from "../../../config/schema/values.ts";
import { type ConfigAround, listedEndpoints, type Section } from "../../../config/section.ts";
import type { LegRole } from "../../../core/contract/decision.ts";
import { z } from "../../../core/contract/options.ts";
import type { PoolRoles, ProfileConfig } from "../../../core/router-config.ts";
import { time } from "../../../core/settings/row.ts";
import type { DeciderConfig } from "./decider.ts";
import { LABEL_SOME, Roles } from "./roles.ts";
import { TRANSFERS } from "./transfers/list.ts";

const TIMES = {
  prefillTimeoutMs: time(
    60_000,
    "A prompt that its own endpoint has not processed after so long is processed where its answer is generated.",
    100,
  ),
};

const profile = (leg: string) =>
  z
    .strictObject({
      name: instanceName.describe("Its name in metrics and explanations.").optional(),
      plugins: profileRefs.describe("As in a profile. It gets instances of its own, with the same parameters."),
      unguarded,
    })
    .describe(`How the endpoint that ${leg} is chosen. Default: by the router's profile.`)
    .optional() as z.ZodType<WrittenProfile | undefined>;

const tokens = z
  .int("a whole number")
  .min(1)
  .describe("A pair, if so many of the prompt's tokens are not cached where the answer is generated.");

const disaggregation = section(
  {
    transfer: z
      .enum(TRANSFERS.map(({ type }) => type))
      .describe(
        "How the cache moves: nixl (vLLM), sglang, or side-car, where the endpoints that generate have the reference router's side-car. Default nixl.",
      ),
    decider: z
      .union([z.enum(["cost", "always", "never"]), z.strictObject({ uncachedTokens: tokens })])
      .describe("When a pair serves a request: by the expected times, always, never, or by a number of tokens. Default cost."),
    prefill: profile("processes the prompt"),
    decode: profile("generates the answer"),
    ...TIMES,
  },
  { transfer: "nixl", decider: "cost", prefill: undefined, decode: undefined },
);

interface Spec {
  readonly transfer: string;
  readonly decider: DeciderConfig;
  readonly prefillTimeoutMs: number;
}

type Written = (Spec & Readonly<Record<LegRole, WrittenProfile | undefined>>) | undefined;

/** Prompts on endpoints of their own: how, when and where. References of the profiles are as they are written. */
export interface DisaggregationConfig extends Spec, Readonly<Record<LegRole, ProfileConfig | undefined>> {
  /** `spec.pool.roles`; undefined: labels say it. */
  readonly roles: PoolRoles | undefined;
}

type Config = DisaggregationConfig | undefined;

/** Of endpoints that the config lists, as far as it lists all of them. */
function warnOfRoles(around: ConfigAround): void {
  const { router, warnings } = around;
  const endpoints = listedEndpoints(around);
  if (endpoints === undefined) return;
  const roles = new Roles(rolesIn(router.document));
  const has = (isRole: Roles["isPrefill"]) => endpoints.some(isRole);
  const missing = [...(has(roles.isPrefill) ? [] : ["processes prompts"]), ...(has(roles.isDecode) ? [] : ["generates answers"])];
  if (missing.length === 0) return;
  const at = ["spec", "disaggregation"];
  const found = `spec.disaggregation, which makes no pairs: no endpoint ${missing.join(", and none ")}`;
  warnings.push(problemAt(router.positionOf(at, "key"), at, { found, wanted: "endpoints for both", hint: LABEL_SOME }));
}

function rolesIn(document: unknown): PoolRoles | undefined {
  return (document as { readonly spec: { readonly pool: { readonly roles?: PoolRoles } } }).spec.pool.roles;
}

const LEGS = ["prefill", "decode"] as const satisfies readonly LegRole[];
const pathOf = (leg: LegRole) => `disaggregation.${leg}`;

/** `spec.disaggregation`. */
export const disaggregationSection = {
  key: "disaggregation",
  inPools: "own",
  schema: disaggregation
    .describe(
      "Has prompts processed on other replicas than their answers are generated on. Labels (llm-d.ai/role) or spec.pool.roles say which replicas do what. Default: off.",
    )
    .optional() as z.ZodType<Written>,
  beside: (written: Written, other: Written): Written =>
    written && { ...written, prefill: written.prefill ?? other?.prefill, decode: written.decode ?? other?.decode },
  read(written: Written, around): Config {
    if (written === undefined) return undefined;
    const { router, readProfile } = around;
    warnOfRoles(around);
    const read = (leg: LegRole) => written[leg] && readProfile({ name: leg, ...written[leg] }, ["spec", "disaggregation", leg]);
    return { ...written, prefill: read("prefill"), decode: read("decode"), roles: rolesIn(router.document) };
  },
  profiles: (config: Config) =>
    LEGS.flatMap((leg) => {
      const own = config?.[leg];
      return own === undefined ? [] : [[pathOf(leg), own] as const];
    }),
  written(config, isUnguarded) {
    if (config === undefined) return undefined;
    const profiles = LEGS.flatMap((leg) => {
      const own = config[leg];
      return own === undefined ? [] : [[leg, { ...own, ...(isUnguarded(pathOf(leg)) && { unguarded: true }) }] as const];
    });
    const { transfer, decider } = config;
    return { transfer, decider, ...Object.fromEntries(profiles), ...writtenOf(TIMES, config) };
  },
  summary(config, rows) {
    if (config === undefined) return undefined;
    const { transfer, decider } = config;
    const when = typeof decider === "object" ? `from ${decider.uncachedTokens} uncached tokens on` : `decider ${decider}`;
    const profiles = LEGS.flatMap((leg) =>
      config[leg] === undefined ? [] : [leg, ...rows(pathOf(leg)).map((row) => `  ${row}`)],
    );
    return [`pairs     prompts on replicas of their own, by ${transfer}; ${when}`, profiles];
  },
} satisfies Section<Written, Config>;
