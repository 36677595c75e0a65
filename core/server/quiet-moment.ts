import type { Clock } from "../contract/clock.ts";
import { IDLE_TURN_MS, nextTurn } from "../runtime/next-turn.ts";

/** Turns of the event loop in a row that must be quiet. */
const QUIET_TURNS = 3;
/** After this time, a turn that took nobody is enough. */
const LONGEST_QUIET_WAIT_MS = 50;
const LONGEST_WAIT_MS = 2_000;

/**
 * Resolves right after a few turns of the event loop in which nothing happened and `count` stayed the same. Closing a listener resets
 * connections that the kernel has taken for it since the last accept: after quiet turns there are hardly any. A process that has no quiet
 * turns waits until one took nobody; Node accepts one connection in a turn, so a queue of them takes many. New ones may come for ever.
 */
export async function quietMoment(clock: Clock, count: () => number): Promise<void> {
  const startMs = clock.now();
  for (let quietTurns = 0; quietTurns < QUIET_TURNS; ) {
    const before = count();
    const turnMs = clock.now();
    await new Promise<void>(nextTurn);
    const tookNobody = count() === before;
    const isQuiet = tookNobody && clock.now() - turnMs < IDLE_TURN_MS;
    quietTurns = isQuiet ? quietTurns + 1 : 0;
    if (clock.now() - startMs >= (tookNobody ? LONGEST_QUIET_WAIT_MS : LONGEST_WAIT_MS)) return;
  }
}
