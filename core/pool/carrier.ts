/** What carries messages between routers. It may lose some; whoever sends one hears it too. */
export interface Link {
  /** Sends it to all that listen. Never waits and never throws; what can't be sent now is lost. */
  publish(message: string): void;
  /** After how many milliseconds it would send a message, where it does so only now and then: what comes until then is better gathered. */
  readonly waitMs?: number;
  /** Where it does: how long after a message has come back all is here that others said before they had it. */
  readonly settledMs?: number;
  /** What all are to hear if this process ends without a word. Absent where nothing outlives it. */
  leaveBehind?(message: string): void;
  close(): void;
}

/** Is told what comes by a link. */
export interface LinkEvents {
  received(message: string): void;
  /** Messages come and go from now on. */
  up(): void;
  /** They do not, for this reason; the link tries again by itself. Called for each failure. */
  down(why: string): void;
  /** A message could not be sent. */
  lost(): void;
}

/** Opens a link to all routers that open one of the same channel. */
export type Carrier = (channel: string, events: LinkEvents) => Link;
