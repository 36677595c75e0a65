import { nextTurn } from "../../core/runtime/next-turn.ts";

/** Resolves when it is the caller's turn. One that `isOver` when it would begin takes none. */
export type Turn = (isOver?: () => boolean) => Promise<void>;

/**
 * One caller for each turn of the event loop: a page of a large pool, or a large body, takes milliseconds, and many of them at once must
 * not hold up clients' requests.
 */
export function turns(): Turn {
  let last = Promise.resolve();
  return (isOver = () => false) => {
    last = last.then(() => (isOver() ? undefined : new Promise(nextTurn)));
    return last;
  };
}
