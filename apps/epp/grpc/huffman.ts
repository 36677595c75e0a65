/** Bits of each symbol's code (RFC 7541, appendix B); the last symbol is the end of a string. The codes follow from that: they are canonical. */
const LENGTHS: readonly number[] = [
  ...[13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28],
  ...[28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28],
  ...[6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6],
  ...[5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10],
  ...[13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7],
  ...[7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6],
  ...[15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5],
  ...[6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28],
  ...[20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23],
  ...[24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24],
  ...[22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23],
  ...[21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23],
  ...[26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25],
  ...[19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27],
  ...[20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23],
  ...[26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26],
  ...[30],
];
const END = 256;
const SHORTEST_CODE = 5;
/** Padding is shorter than a byte (RFC 7541, 5.2). */
const MOST_PADDING = 7;

/** A binary tree in pairs: what follows a node on a 0 and on a 1; a leaf is a symbol's complement, so it is negative. */
const TREE = tree();

function tree(): Int16Array {
  const nodes = new Int16Array(2 * LENGTHS.length);
  const symbols = LENGTHS.map((_, symbol) => symbol).sort((a, b) => LENGTHS[a]! - LENGTHS[b]! || a - b);
  let count = 1;
  let code = 0;
  let bits = LENGTHS[symbols[0]!]!;
  for (const symbol of symbols) {
    code *= 2 ** (LENGTHS[symbol]! - bits);
    bits = LENGTHS[symbol]!;
    let node = 0;
    for (let bit = bits - 1; bit > 0; bit--) {
      const at = 2 * node + ((code >>> bit) & 1);
      if (nodes[at] === 0) {
        nodes[at] = count;
        count += 1;
      }
      node = nodes[at]!;
    }
    nodes[2 * node + (code & 1)] = ~symbol;
    code += 1;
  }
  return nodes;
}

/** The text (latin1) that bytes[start, end) encode; undefined if they encode none. */
export function decodeHuffman(bytes: Uint8Array, start: number, end: number): string | undefined {
  const text = Buffer.allocUnsafe(Math.floor(((end - start) * 8) / SHORTEST_CODE));
  let length = 0;
  let node = 0;
  let pending = 0;
  let isOnes = true;
  for (let at = start; at < end; at++) {
    for (let bit = 7; bit >= 0; bit--) {
      const one = (bytes[at]! >>> bit) & 1;
      const next = TREE[2 * node + one]!;
      pending += 1;
      isOnes &&= one === 1;
      if (next >= 0) node = next;
      else if (~next === END) return undefined;
      else {
        text[length] = ~next;
        length += 1;
        node = 0;
        pending = 0;
        isOnes = true;
      }
    }
  }
  return pending <= MOST_PADDING && isOnes ? text.toString("latin1", 0, length) : undefined;
}
