import type { EjectionSettings } from "./ejection-config.ts";

/** The share of traffic that a warm-up begins with. */
const FIRST_SHARE = 0.1;

/** Successful responses of an endpoint, and their prompt tokens. */
export interface Served {
  readonly requests: number;
  readonly tokens: number;
}

export const NOTHING_SERVED: Served = { requests: 0, tokens: 0 };

/** How far an endpoint is warmed up, in (0, 1]. `served` is all that it has served; `before` is the part from before its warm-up. */
export function warmUpOf(served: Served, before: Served, { warmUpTokens, warmUpRequests }: EjectionSettings): number {
  const byTokens = (served.tokens - before.tokens) / warmUpTokens;
  const byRequests = (served.requests - before.requests) / warmUpRequests;
  return Math.min(1, FIRST_SHARE + (1 - FIRST_SHARE) * Math.max(byTokens, byRequests));
}
