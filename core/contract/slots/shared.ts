/** Something that a feature of one router tells the same feature of others: JSON values by their places. A later release may add some. */
export type SharedFact = readonly unknown[];

/** Who has said a fact. */
export interface FactTeller {
  /** A router, until it is started anew. */
  readonly router: string;
  /** It is this router: its word came back. If no message was lost, the others have it too, and what they said before is most likely here. */
  readonly isOwn: boolean;
}

/**
 * What a feature knows that other routers of the pool should know. Messages get lost, come twice, and routers come and go: so a fact says
 * how something is now, not what has changed. One of more than 4,000 characters, or 13 fields, is not sent.
 */
export interface SharedFacts {
  /** Calls `soon` from now on whenever there is something to say; undefined: nobody listens, and nothing need be gathered. */
  listen(soon: (() => void) | undefined): void;
  /** What is to be said now. Each fact that is taken counts as said; those that do not fit into a message are taken the next time. */
  say(): Iterable<SharedFact>;
  /** What has changed in the last so many milliseconds is to be said again: it may have been lost, or somebody has come who missed it. */
  repeat(ms: number): void;
  /** Takes a fact. Throws BadFact (`core/contract/fact-fields.ts`) for one that can't be read. */
  hear(fact: SharedFact, teller: FactTeller): void;
  /** That router is not there any more, and what it had under way with it. */
  gone(router: string): void;
}

/**
 * Several routers in front of one pool: what does each have to tell the others? It is asked for when a message is sent, behind requests.
 * Only features of the router's own are asked.
 *
 * @example
 * shared: {
 *   listen: (soon) => soon?.(),
 *   say: () => [["open", 3]],
 *   repeat: () => {},
 *   hear: ([what, count]) => host.log.info("Another router said", { what, count: whole(count, 100) }),
 *   gone: () => {},
 * }
 */
export interface SharedSlot {
  readonly shared?: SharedFacts;
}
