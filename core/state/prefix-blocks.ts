/** Blocks of the first size; after them, each size serves half as many blocks and then doubles. */
const FIRST_BLOCKS = 64;

/** A block's length is a multiple of this: what the hash takes in one step. */
const UNIT_BYTES = 8;

/**
 * Where the blocks of any prompt end. Block lengths grow with the distance from the start, about 1/64 to 1/32 of it, so that a
 * prompt of 500 KB has 220 blocks instead of 2,000; and they depend on nothing else, so equal prefixes have equal blocks.
 */
export function blockEnds(blockBytes: number, maxBytes: number): Int32Array {
  if (!(blockBytes >= 1)) throw new RangeError("blockBytes must be at least 1; 256 is about 64 tokens of English");
  const ends: number[] = [];
  let size = Math.ceil(blockBytes / UNIT_BYTES) * UNIT_BYTES;
  let left = FIRST_BLOCKS;
  for (let end = size; end <= maxBytes; end += size) {
    ends.push(end);
    left--;
    if (left > 0) continue;
    size *= 2;
    left = FIRST_BLOCKS / 2;
  }
  return Int32Array.from(ends);
}

/** Whole blocks in a prompt of that length. */
export function wholeBlocks(ends: Int32Array, bytes: number): number {
  let whole = 0;
  let open = ends.length;
  while (whole < open) {
    const middle = (whole + open) >>> 1;
    if (ends[middle]! <= bytes) whole = middle + 1;
    else open = middle;
  }
  return whole;
}
