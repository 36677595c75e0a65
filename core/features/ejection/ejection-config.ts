import { orElse, section, writtenOf } from "../../../config/schema/section.ts";
import { z } from "../../contract/options.ts";
import { defaultsOf, numbers, onOff, type SettingsTable, seconds, type ValuesOf } from "../../settings/row.ts";
import type { FeatureConfigs } from "../../settings.ts";
import type { Section } from "../section.ts";

const EJECTION = {
  baseMs: {
    ...seconds(),
    key: "baseSeconds",
    default: 10_000,
    text: "How long the first ejection of an endpoint lasts; each further one twice as long.",
  },
  maxMs: { ...seconds(), key: "maxSeconds", default: 300_000, text: "How long one may last at most." },
  maxShare: {
    ...numbers("share", 0, 1),
    default: 0.5,
    text: "Of the endpoints that are up, the largest share that may be out at once.",
  },
  warmUpTokens: {
    ...numbers("count", 1, 1_000_000_000),
    default: 20_000,
    text: "Prompt tokens that a returning or new endpoint serves until it has its whole share.",
  },
  cutWaiting: onOff(true, "Whether requests that wait without a byte on an endpoint that makes no progress are cut."),
} satisfies SettingsTable;

/** How endpoints leave the pool for what their responses are, and return. */
export interface EjectionSettings extends ValuesOf<typeof EJECTION> {
  /** False turns all of it off. */
  readonly isOn: boolean;
}

export const DEFAULT_EJECTION: EjectionSettings = { isOn: true, ...defaultsOf(EJECTION) };

const ejection = section(EJECTION, defaultsOf(EJECTION)).transform((spec) => ({ isOn: true, ...spec }));

/** `spec.ejection`. */
export const ejectionSection = {
  key: "ejection",
  schema: orElse<EjectionSettings>(
    z
      .union([z.literal(false).transform(() => ({ ...DEFAULT_EJECTION, isOn: false })), ejection])
      .describe("How endpoints leave the pool for what their responses are, and return. false turns it off."),
    DEFAULT_EJECTION,
  ),
  of: (features: FeatureConfigs) => (features.get("ejection") ?? DEFAULT_EJECTION) as EjectionSettings,
  read: (written: EjectionSettings) => written,
  written: ({ isOn, ...settings }) => isOn && writtenOf(EJECTION, settings),
} satisfies Section<EjectionSettings, EjectionSettings> & { readonly of: unknown };
