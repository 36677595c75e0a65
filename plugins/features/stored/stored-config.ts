import { orElse, section, writtenOf } from "../../../config/schema/section.ts";
import type { Section } from "../../../config/section.ts";
import { z } from "../../../core/contract/options.ts";
import { bytes, type ChoiceSetting, defaultsOf, KIB, MIB, time, type ValuesOf } from "../../../core/settings/row.ts";

type Unknown = "auto" | "ask" | "refuse";

const UNKNOWN: ChoiceSetting<Unknown> = {
  default: "auto",
  choices: ["auto", "ask", "refuse"],
  text: "What becomes of a request for an id that the router has not seen: auto (the default; all replicas are asked who has it, but 404 where clients have keys), ask, or refuse.",
};

const STORED = {
  ttlMs: time(86_400_000, "A place is forgotten when nobody has asked for its id for so long.", 1_000),
  maxBytes: bytes(32 * MIB, "Most memory for the places of all tenants.", 64 * KIB, 4 * 1024 * MIB),
  askTimeoutMs: time(2_000, "How long replicas may take to say whether they have an id.", 10, 60_000),
  unknown: UNKNOWN,
};

/** How what replicas keep is found again. */
export interface StoredSettings extends ValuesOf<typeof STORED> {
  readonly unknown: Unknown;
  /** False turns all of it off. */
  readonly isOn: boolean;
}

const DEFAULTS: StoredSettings = { isOn: true, ...defaultsOf(STORED) };

const stored = section(STORED).transform((spec) => ({ isOn: true, ...spec }));

/** `spec.stored`. */
export const storedSection = {
  key: "stored",
  inPools: "inherited",
  schema: orElse<StoredSettings>(
    z
      .union([z.literal(false).transform(() => ({ ...DEFAULTS, isOn: false })), stored])
      .describe(
        "How requests for stored responses, files, batches and conversations reach the replica that keeps them. false turns it off.",
      ),
    DEFAULTS,
  ),
  read: (written: StoredSettings) => written,
  written: ({ isOn, ...settings }) => isOn && writtenOf(STORED, settings),
} satisfies Section<StoredSettings, StoredSettings>;
