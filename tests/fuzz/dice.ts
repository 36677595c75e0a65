import { seededRandom } from "../support/endpoints.ts";

/** Random choices that one number determines. */
export interface Dice {
  /** A whole number from 0 to `limit` - 1; 0 where the limit is 0. */
  below(limit: number): number;
  pick<Item>(items: readonly Item[]): Item;
  /** True once in `times`. */
  isIn(times: number): boolean;
  /** Up to `most` places in 1 … `length` - 1, in order, each once. */
  places(length: number, most: number): number[];
}

export function diceFrom(seed: number): Dice {
  const random = seededRandom(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  return {
    below,
    pick: (items) => items[below(items.length)]!,
    isIn: (times) => below(times) === 0,
    places(length, most) {
      const places = new Set<number>();
      for (let left = below(most + 1); left > 0; left--) if (length > 1) places.add(1 + below(length - 1));
      return [...places].sort((a, b) => a - b);
    },
  };
}
