import type { HeaderView } from "./request.ts";

/** What a request takes of the pool, and for whom. */
export interface Demand {
  /** The model that the client asked for. */
  readonly model: string;
  /** Who shares the pool with others: as the config says; "" for nobody in particular. */
  readonly tenant: string;
  /** Higher goes first. What is below 0 is the first to be sent away. */
  readonly priority: number;
  /** What it is expected to take: tokens of its prompt and of its response. */
  readonly tokens: number;
}

/** A request that waits for room in the pool. */
export interface Waiting extends Demand {
  readonly id: string;
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
  /** Whether a replica that may serve the request has room for it. */
  isFor(request: Waiting): boolean;
}

/**
 * In which order do requests go on that wait for room in the pool? The router decides when there is room, bounds the line, and ends
 * requests that wait too long.
 *
 * @example
 * create: () => {
 *   const line = new Set<Waiting>();
 *   return {
 *     join: (request) => void line.add(request),
 *     leave: (request) => void line.delete(request),
 *     take: ({ isFor }) => {
 *       const [shortest] = [...line].filter(isFor).sort((one, other) => one.tokens - other.tokens);
 *       line.delete(shortest);
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
   * Up to which saturation of the pool requests of this priority may go on, in [0, 1]: what is left is kept for others. 0 is idle, 1 is
   * full. Left out: always.
   */
  ceiling?(priority: number, saturation: number): number;
  /** A request that has waited took so many tokens in the end. */
  spent?(request: Demand, tokens: number): void;
  dispose?(): void;
}
