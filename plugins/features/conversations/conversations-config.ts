import { section, writtenOf } from "../../../config/schema/section.ts";
import type { Section } from "../../../config/section.ts";
import type { z } from "../../../core/contract/options.ts";
import { bytes, type ChoiceSetting, count, KIB, MIB, time, type ValuesOf } from "../../../core/settings/row.ts";

type Unknown = "refuse" | "forward";

const UNKNOWN: ChoiceSetting<Unknown> = {
  default: "refuse",
  choices: ["refuse", "forward"],
  text: "What becomes of a request whose previous_response_id is not held: refuse (the default; 404), or forward, as it came.",
};

const CONVERSATIONS = {
  ttlMs: time(3_600_000, "A turn is forgotten when no request has continued it, or a turn behind it, for so long.", 1_000),
  maxBytes: bytes(256 * MIB, "Most memory for the turns of all tenants.", 64 * KIB, 64 * 1024 * MIB),
  maxTenantBytes: bytes(128 * MIB, "Most memory for the turns of one tenant.", 64 * KIB, 64 * 1024 * MIB),
  maxTurnBytes: bytes(8 * MIB, "A turn with more bytes of items is not kept.", 1 * KIB, 1024 * MIB),
  maxTurns: count(1_000, "Most turns of a conversation; a turn behind that many is not kept.", 1, 10_000),
  unknown: UNKNOWN,
};

/** What is held of conversations. */
export type ConversationSettings = ValuesOf<typeof CONVERSATIONS> & { readonly unknown: Unknown };

type Written = ConversationSettings | undefined;

/** `spec.conversations`. */
export const conversationsSection = {
  key: "conversations",
  schema: section(CONVERSATIONS)
    .describe(
      "Holds the items of conversations in memory, so that previous_response_id works on engines that keep no responses. Default: off.",
    )
    .optional() as z.ZodType<Written>,
  read: (written: Written) => written,
  written: (config) => config && writtenOf(CONVERSATIONS, config),
} satisfies Section<Written, Written>;
