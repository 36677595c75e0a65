import type { Outcome } from "../outcome.ts";

/**
 * What became of the request? Called once for each request when it has ended, before observers are told; not for `/health` and `/ready`.
 *
 * @example
 * create: (_options, host) => {
 *   const used = host.keep(1, () => ({ tokens: 0 }));
 *   return { settled: (outcome) => void (used.tokens += outcome.usage?.outputTokens ?? 0) };
 * }
 */
export interface SettledSlot {
  settled?(outcome: Outcome): void;
}
