import { orElse, section, writtenOf } from "../../../config/schema/section.ts";
import type { Section } from "../../../config/section.ts";
import { z } from "../../../core/contract/options.ts";
import { defaultsOf, seconds, type ValuesOf } from "../../../core/settings/row.ts";

const QUARANTINE = {
  durationMs: seconds(
    "durationSeconds",
    60_000,
    "How long a prompt is refused that two replicas died of, or one replica twice.",
    1_000,
    86_400_000,
  ),
};

/** What becomes of prompts that replicas die of. */
export interface QuarantineSettings extends ValuesOf<typeof QUARANTINE> {
  /** False turns all of it off. */
  readonly isOn: boolean;
}

const DEFAULTS: QuarantineSettings = { isOn: true, ...defaultsOf(QUARANTINE) };

const quarantine = section(QUARANTINE).transform((spec) => ({ isOn: true, ...spec }));

/** `spec.quarantine`. */
export const quarantineSection = {
  key: "quarantine",
  inPools: "inherited",
  schema: orElse<QuarantineSettings>(
    z
      .union([z.literal(false).transform(() => ({ ...DEFAULTS, isOn: false })), quarantine])
      .describe("What becomes of prompts that replicas die of: they are refused for a while. false turns it off."),
    DEFAULTS,
  ),
  read: (written: QuarantineSettings) => written,
  written: ({ isOn, ...settings }) => isOn && writtenOf(QUARANTINE, settings),
} satisfies Section<QuarantineSettings, QuarantineSettings>;
