/** A session as the gate knows it. */
export class PlacedSession {
  /** Who asks for it; undefined for a sub-agent's turn. */
  readonly owner: object | undefined;
  /** Where it has a place; -1: nowhere. */
  slot = -1;
  /** Since when: whichever router gave it that, or gave it away. */
  movedAtMs = Number.NEGATIVE_INFINITY;
  /** Tokens that its next turn finds in the cache there. */
  tokens = 0;
  /** Turns that go on and have not ended. */
  underWay = 0;
  /** Another router has a turn of it under way. */
  isElsewhere = false;
  /** Its last turn ended at another router, which counts its pause. */
  isOthers = false;
  /** When its last turn ended, before this router's start too, and why the replica stopped; "" if it did not say. */
  idleSinceMs = Number.NEGATIVE_INFINITY;
  finishReason = "";

  constructor(owner?: object) {
    this.owner = owner;
  }

  get isIdle(): boolean {
    return this.underWay === 0 && !this.isElsewhere;
  }
}

/** What another router says of where a session is. */
export interface HeardPlace {
  /** -1: nowhere. */
  readonly slot: number;
  readonly tokens: number;
  /** Since when it is there. */
  readonly movedAtMs: number;
  readonly finishReason: string;
  readonly idleSinceMs: number;
  readonly isElsewhere: boolean;
}

/** One turn that has come. */
export class Turn {
  readonly session: PlacedSession;
  /** Of its prompt. */
  readonly tokens: number;
  isOn = false;
  /** It goes on without a place, to a replica that is not known yet. */
  isLoose = false;
  /** Where its session had a place before it, and paused; -1: nowhere. */
  placedBefore = -1;
  /** What sessions with a place there had used of its cache since the session's last turn, what it holds itself included. */
  usedTokens = 0;

  constructor(session: PlacedSession, tokens: number) {
    this.session = session;
    this.tokens = tokens;
  }
}
