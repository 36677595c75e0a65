/** Blocks of the first size. Each later size is twice the one before and has half as many blocks as this. */
const FIRST_BLOCKS = 64;

/** A block's length is a multiple of this: the smallest piece that the hash takes. */
const UNIT_BYTES = 8;

/**
 * The byte at which each block of a prompt ends. A block's length is about 1/64 to 1/32 of its distance from the start, so a
 * prompt of 500 KB has 220 blocks instead of 2,000. It depends on nothing else, so equal prefixes have equal blocks. Throws
 * RangeError when `blockBytes` is below 1.
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

/** How many blocks a prompt of `bytes` bytes fills completely. */
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
