import { PARENT } from "../../../core/state/prefix-table.ts";
import type { Chain, Residency } from "../../../core/state/residency.ts";

/**
 * Whether the chain may be one of a prompt: each block's hash covers all before it, so it is there once, and where the slot holds a
 * block it holds that before it as its parent. The index relies on it for its own prompts.
 */
export function fitsIndex({ hashes, blocks }: Chain, { table }: Residency, slot: number): boolean {
  const seen = new Set<number>();
  let parent = 0;
  for (let block = 0; block < blocks; block++) {
    const [low, high] = [hashes[2 * block]!, hashes[2 * block + 1]!];
    seen.add((low >>> 0) * 2 ** 21 + (high & 0x1fffff));
    const entry = table.find(low, high, slot);
    if (entry !== 0 && ((block > 0 && parent === 0) || table.words[table.at(entry) + PARENT] !== parent)) return false;
    parent = entry;
  }
  return seen.size === blocks;
}
