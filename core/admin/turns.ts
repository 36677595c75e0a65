import { nextTurn } from "../runtime/next-turn.ts";

/** Resolves when it is the caller's turn. */
export type Turn = () => Promise<void>;

/**
 * One caller for each turn of the event loop: a page of a large pool, or a large body, takes milliseconds, and many of them at once must
 * not hold up clients' requests.
 */
export function turns(): Turn {
  let last = Promise.resolve();
  return () => {
    last = last.then(() => new Promise(nextTurn));
    return last;
  };
}
