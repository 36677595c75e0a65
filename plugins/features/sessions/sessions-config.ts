import { problemAt } from "../../../config/read/problems.ts";
import { section, writtenOf } from "../../../config/schema/section.ts";
import { headerName } from "../../../config/schema/values.ts";
import type { Section } from "../../../config/section.ts";
import { z } from "../../../core/contract/options.ts";
import { count, onOff, time, type ValuesOf } from "../../../core/settings/row.ts";

const SESSIONS = {
  byPrompt: onOff(
    true,
    "Whether a prompt that begins with the whole prompt of an earlier request is the next turn of its session.",
  ),
  idleMs: time(3_600_000, "A session is forgotten after so long without a turn.", 1_000),
  max: count(10_000, "Most sessions that are known. Beyond it, the tenant with the most loses the one that was idle longest."),
  gate: onOff(
    false,
    "Whether turns wait while no replica's cache has room for their session and none has a place to give away (docs/sessions.md).",
  ),
  gateMaxWaitMs: time(600_000, "A turn that has waited so long for a place goes on without one.", 100),
};

/** Where sessions are looked for, and how many are known. */
export interface SessionSettings extends ValuesOf<typeof SESSIONS> {
  /** Lower case; the first that is there has the session's id. */
  readonly headers: readonly string[];
  /** Lower case; the first that is there names a sub-agent of the session. */
  readonly agentHeaders: readonly string[];
  /** Paths of keys such as "metadata.user_id", read where no header has an id. */
  readonly bodyKeys: readonly string[];
}

const header = headerName.transform((name) => name.toLowerCase());
const headers = (text: string) => z.array(header).describe(text);
const bodyKey = z
  .string()
  .regex(/^[^.]{1,64}(\.[^.]{1,64}){0,3}$/, 'a key of the body, or a path to one such as "metadata.user_id"');

const DEFAULTS = {
  headers: ["x-claude-code-session-id", "x-session-affinity", "session-id", "session_id", "x-session-id"],
  agentHeaders: ["x-claude-code-agent-id", "thread-id"],
  bodyKeys: ["prompt_cache_key", "conversation", "conversation.id", "previous_response_id", "metadata.user_id"],
};

const sessions = section(
  {
    ...SESSIONS,
    headers: headers(`Headers with the id of a session: the first that is there counts. Default ${DEFAULTS.headers.join(", ")}.`),
    agentHeaders: headers(
      `Headers that tell the sub-agents of a session apart: each is a session of its own. Default ${DEFAULTS.agentHeaders.join(", ")}.`,
    ),
    bodyKeys: z
      .array(bodyKey)
      .max(16)
      .describe(
        `Keys of the body, or paths to them, with the id of a session where no header has one. Default ${DEFAULTS.bodyKeys.join(", ")}.`,
      ),
  },
  DEFAULTS,
);

type Written = SessionSettings | undefined;

const AT = ["spec", "sessions"];
const KNOWS_NONE = { found: "sessions that nothing tells apart", wanted: "byPrompt: true, or headers or bodyKeys that have ids" };

/** `spec.sessions`. */
export const sessionsSection = {
  key: "sessions",
  inPools: "inherited",
  schema: sessions
    .describe("Learns which requests are turns of one session: who is on which replica, how large, idle since. Default: off.")
    .optional() as z.ZodType<Written>,
  read(written: Written, { router, warnings }): Written {
    if (written !== undefined && !written.byPrompt && written.headers.length === 0 && written.bodyKeys.length === 0)
      warnings.push(problemAt(router.positionOf(AT), AT, KNOWS_NONE));
    return written;
  },
  written: (config) => config && writtenOf(SESSIONS, config),
} satisfies Section<Written, Written>;
