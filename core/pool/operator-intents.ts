import type { Intent } from "../contract/endpoint.ts";

/** What an operator wants of an endpoint, and why. Times are in milliseconds since 1970. */
export interface OperatorIntent {
  readonly intent: Exclude<Intent, "serve">;
  /** The operator's own words; "" for none. */
  readonly reason: string;
  /** Who asked for it, for the log. */
  readonly by: string;
  readonly sinceMs: number;
  /** When it ends by itself; undefined: when the operator ends it. */
  readonly untilMs: number | undefined;
  /** drain: until then, requests of sessions on the endpoint still go there. */
  readonly graceUntilMs: number;
}

/** What an operator asks for. Times are in milliseconds, at most 2^31 - 1. */
export interface Wish {
  readonly intent: Exclude<Intent, "serve">;
  readonly reason: string;
  readonly by: string;
  readonly forMs: number | undefined;
  readonly graceMs: number;
}

/** What operators want of endpoints, by name. */
export interface OperatorIntents {
  /** Grows with every change. */
  readonly revision: number;
  of(name: string): OperatorIntent | undefined;
  /** Replaces what was wanted of the endpoint before. */
  set(name: string, wish: Wish): void;
  /** The endpoint serves again; `cause` says who or what ended it. Returns whether anything was wanted of it. */
  clear(name: string, cause: string): boolean;
}
