import { PlacedSession, Turn } from "./placed-session.ts";

/** So many turns of one router's line are told. */
export const MOST_HEADS = 4;
/** A line is told of with each look at it. One that is not heard of for so long is empty. */
const SILENT_MS = 500;

/** A turn that waits at another router. */
export interface OthersTurn {
  readonly turn: Turn;
  readonly priority: number;
  readonly sinceMs: number;
}

/** A turn that waits, as routers tell each other. */
export interface ToldTurn {
  readonly tokens: number;
  readonly priority: number;
  readonly waitedMs: number;
}

/** The turns that are first in the lines of other routers. */
export class OthersLines {
  readonly #lines = new Map<string, { readonly heardMs: number; readonly heads: readonly OthersTurn[] }>();

  heard(router: string, told: readonly ToldTurn[], nowMs: number): void {
    if (told.length === 0) return this.gone(router);
    const heads = told.map(({ tokens, priority, waitedMs }) => {
      return { turn: new Turn(new PlacedSession(), tokens), priority, sinceMs: nowMs - waitedMs };
    });
    this.#lines.set(router, { heardMs: nowMs, heads });
  }

  gone(router: string): void {
    this.#lines.delete(router);
  }

  /** In the order in which they go on. */
  heads(nowMs: number): readonly OthersTurn[] {
    if (this.#lines.size === 0) return NONE;
    const heads = [...this.#lines.values()].flatMap(({ heardMs, heads }) => (nowMs - heardMs < SILENT_MS ? heads : NONE));
    return heads.sort((one, other) => other.priority - one.priority || one.sinceMs - other.sinceMs);
  }
}

const NONE: readonly OthersTurn[] = [];
