import type { HeaderView } from "./request.ts";

/** A request that waits for room in the pool. */
export interface Waiting {
  readonly id: string;
  /** The model that the client asked for. */
  readonly model: string;
  /** Who shares the pool with others: as the config says; "" for nobody in particular. */
  readonly tenant: string;
  /** Higher goes first. What is below 0 is the first to be sent away. */
  readonly priority: number;
  /** What it is expected to take: tokens of its prompt and of its response. */
  readonly tokens: number;
  /** Length of its body. */
  readonly bytes: number;
  readonly headers: HeaderView;
  /** Since when it waits, and until when at most, in milliseconds on the router's clock. */
  readonly sinceMs: number;
  readonly untilMs: number;
}

/** How much room there is now. */
export interface Room {
  readonly nowMs: number;
  /** How full the pool is: 0 is idle; from 1 on no replica has room. */
  readonly saturation: number;
  /** Whether a replica that may serve the request has room. */
  isFor(request: Waiting): boolean;
}

/**
 * In which order do requests go on that wait for room in the pool? The router decides when there is room, bounds the line, and ends
 * requests that wait too long.
 *
 * @example
 * create() {
 *   const line = new Set<Waiting>();
 *   return {
 *     join: (request) => void line.add(request),
 *     leave: (request) => void line.delete(request),
 *     take({ isFor }) {
 *       const shortest = [...line].filter(isFor).sort((one, other) => one.tokens - other.tokens)[0];
 *       if (shortest !== undefined) line.delete(shortest);
 *       return shortest;
 *     },
 *     least: (newcomer) => newcomer,
 *   };
 * }
 */
export interface Admission {
  /** The request has to wait. */
  join(request: Waiting): void;
  /** It waits no more, because its client left or it waited too long. */
  leave(request: Waiting): void;
  /** Takes out the request that goes on now, for which there must be room; undefined for none. */
  take(room: Room): Waiting | undefined;
  /** The line is full: which request is sent away, the newcomer or one that waits? Changes nothing. */
  least(newcomer: Waiting): Waiting;
  /**
   * Whether requests of this priority may go on while the pool is so full, for a request that comes when nobody waits; `take` obeys
   * the same rule. Left out: always.
   */
  isOpen?(priority: number, saturation: number): boolean;
  /** A request that has waited took so many tokens in the end. */
  spent?(request: Pick<Waiting, "model" | "tenant" | "priority" | "tokens">, tokens: number): void;
  dispose?(): void;
}
