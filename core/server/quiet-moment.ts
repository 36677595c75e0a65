import type { Clock } from "../contract/clock.ts";
import { IDLE_TURN_MS, nextTurn } from "../runtime/next-turn.ts";

/** Turns of the event loop in a row that must be quiet. */
const QUIET_TURNS = 3;
const LONGEST_WAIT_MS = 50;

/**
 * Resolves right after a few turns of the event loop in which nothing happened and `count` stayed the same, or after 50 ms. Closing a
 * listener resets connections that the kernel has taken for it since the last accept: after quiet turns there are hardly any.
 */
export async function quietMoment(clock: Clock, count: () => number): Promise<void> {
  const startMs = clock.now();
  let quietTurns = 0;
  while (quietTurns < QUIET_TURNS && clock.now() - startMs < LONGEST_WAIT_MS) {
    const before = count();
    const turnMs = clock.now();
    await new Promise<void>(nextTurn);
    const isQuiet = count() === before && clock.now() - turnMs < IDLE_TURN_MS;
    quietTurns = isQuiet ? quietTurns + 1 : 0;
  }
}
