import type { Outcome } from "../../../core/contract/outcome.ts";
import type { SessionTurn } from "../../../core/contract/session-turn.ts";
import type { Session } from "./session.ts";

/** One turn: what the request's outcome says of its session, which it leads to. */
export class Turn implements SessionTurn {
  readonly name: string;
  readonly source: string;
  readonly turn: number;
  readonly pausedMs: number;
  readonly endpoint: string;
  /** Private, so that nobody prints it. */
  readonly #session: Session;

  constructor(session: Session, pausedMs: number) {
    const { name, source, turns, endpoint } = session;
    this.name = name;
    this.source = source;
    this.turn = turns;
    this.pausedMs = pausedMs;
    this.endpoint = endpoint;
    this.#session = session;
  }

  /** Undefined for a request that is a turn of none. */
  static sessionOf({ session }: Outcome): Session | undefined {
    return session instanceof Turn ? session.#session : undefined;
  }
}
