/**
 * A request as a turn of a session: of an agent that sends its growing prompt again and again.
 *
 * @example
 * const isFirst = outcome.session?.turn === 1;
 */
export interface SessionTurn {
  /** The session's id as people see it: short, printable, and the same for all of its turns. */
  readonly name: string;
  /** Where the id was found: the name of a header, the path of a key in the body, or "prompt". */
  readonly source: string;
  /** 1 for the first one that this router has seen. */
  readonly turn: number;
  /** From the end of the turn before to this one's coming, in milliseconds; NaN for the first, and while the one before is under way. */
  readonly pausedMs: number;
  /** The endpoint that served the turn before; "" for none. */
  readonly endpoint: string;
}
