import { problemAt } from "../../../config/read/problems.ts";
import { orElse, section, writtenOf } from "../../../config/schema/section.ts";
import { listedEndpoints, type Section } from "../../../config/section.ts";
import { z } from "../../../core/contract/options.ts";
import { count, defaultsOf, onOff, seconds, share, type ValuesOf } from "../../../core/settings/row.ts";
import type { FeatureConfigs } from "../../../core/settings.ts";

const EJECTION = {
  baseMs: seconds("baseSeconds", 10_000, "How long the first ejection of an endpoint lasts; each further one twice as long."),
  maxMs: seconds("maxSeconds", 300_000, "How long one may last at most."),
  maxShare: share(0.5, "Of the endpoints that are up, the largest share that may be out at once."),
  warmUpTokens: count(
    20_000,
    "Prompt tokens that a returning or new endpoint serves until it has its whole share, unless `warmUpRequests` comes first.",
    1,
    1e9,
  ),
  warmUpRequests: count(
    20,
    "Requests that it serves until it has its whole share, unless `warmUpTokens` comes first: short prompts are few tokens.",
    1,
    1e6,
  ),
  cutWaiting: onOff(
    true,
    "Whether the router ends requests that wait for a token on an endpoint that makes no progress, and its silent streams.",
  ),
};

/** How endpoints leave the pool for what their responses are, and return. */
export interface EjectionSettings extends ValuesOf<typeof EJECTION> {
  /** False turns all of it off. */
  readonly isOn: boolean;
}

export const DEFAULT_EJECTION: EjectionSettings = { isOn: true, ...defaultsOf(EJECTION) };

const ejection = section(EJECTION).transform((spec) => ({ isOn: true, ...spec }));

/** `spec.ejection`. */
export const ejectionSection = {
  key: "ejection",
  inPools: "inherited",
  schema: orElse<EjectionSettings>(
    z
      .union([z.literal(false).transform(() => ({ ...DEFAULT_EJECTION, isOn: false })), ejection])
      .describe("How endpoints leave the pool for what their responses are, and return. false turns it off."),
    DEFAULT_EJECTION,
  ),
  of: (features: FeatureConfigs) => (features.get("ejection") ?? DEFAULT_EJECTION) as EjectionSettings,
  read(written: EjectionSettings, around): EjectionSettings {
    const count = listedEndpoints(around)?.length ?? 0;
    if (written.isOn && count > 1 && written.maxShare * count < 1) {
      const at = ["spec", "ejection", "maxShare"];
      const finding = {
        found: `a share of ${count} endpoints that is less than one: none is ever ejected`,
        wanted: `${1 / count} or more, or ejection: false`,
      };
      around.warnings.push(problemAt(around.router.positionOf(at), at, finding));
    }
    return written;
  },
  written: ({ isOn, ...settings }) => isOn && writtenOf(EJECTION, settings),
} satisfies Section<EjectionSettings, EjectionSettings> & { readonly of: unknown };
