import type { WaitOwner } from "../../../../core/contract/slots/admit.ts";
import type { WaitRecord } from "../../../../core/contract/wait-record.ts";
import type { Run } from "../../../../core/run.ts";
import type { PlacedSession, Turn } from "./placed-session.ts";

/** What the line has to know of a session. */
export interface AskingSession {
  readonly tenant: string;
  /** Where its id was found. */
  readonly source: string;
  /** Turns that have come, this one included. */
  readonly turns: number;
}

/** A session of the feature: who asks, and which of its turns has its place. */
export interface GatedSession {
  readonly placed: PlacedSession;
  /** Turns that have come and not ended, but for those of sub-agents. */
  turns: number;
  /** Of the last one of them. */
  promptTokens: number;
}

export interface GatedTurn {
  readonly turn: Turn;
  /** Undefined for a turn of a sub-agent: it has a place of its own, which it leaves at its end. */
  readonly session: GatedSession | undefined;
  readonly tenant: string;
  /** Of the client's key; 0 without one. */
  readonly priority: number;
  readonly sinceMs: number;
  readonly run: Run;
  readonly owner: WaitOwner;
  readonly record: { -readonly [Key in keyof WaitRecord]: WaitRecord[Key] };
}
