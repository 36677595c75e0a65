import type { Dice } from "./dice.ts";

/** Inputs longer than this are cut: what matters to a parser fits. */
const MOST_BYTES = 4096;
const MOST_EDITS = 6;

/** A changed copy of `base`: bytes and known words put in, taken out, repeated, swapped, or another input's part grafted on. */
export function mutate(base: Buffer, other: Buffer, words: readonly string[], dice: Dice): Buffer {
  let input = base;
  for (let edits = 1 + dice.below(MOST_EDITS); edits > 0; edits--) input = edit(input, other, words, dice);
  return input.subarray(0, MOST_BYTES);
}

function edit(input: Buffer, other: Buffer, words: readonly string[], dice: Dice): Buffer {
  const start = dice.below(input.length + 1);
  const end = Math.min(input.length, start + dice.below(dice.isIn(2) ? 4 : 64));
  const part = input.subarray(start, end);
  switch (dice.below(8)) {
    case 0:
      return spliced(input, start, Math.min(input.length, start + 1), Buffer.from([dice.below(256)]));
    case 1:
      return spliced(input, start, start, Buffer.from([dice.below(256)]));
    case 2:
      return spliced(input, start, end, Buffer.alloc(0));
    case 3:
      return spliced(input, end, end, Buffer.concat(Array.from({ length: 1 + dice.below(dice.isIn(8) ? 40 : 3) }, () => part)));
    case 4:
      return Buffer.concat([input.subarray(end), input.subarray(start, end), input.subarray(0, start)]);
    case 5:
      return Buffer.concat([input.subarray(0, start), other.subarray(dice.below(other.length + 1))]);
    default:
      return spliced(input, start, dice.isIn(2) ? start : end, Buffer.from(dice.pick(words), "latin1"));
  }
}

function spliced(input: Buffer, start: number, end: number, middle: Buffer): Buffer {
  return Buffer.concat([input.subarray(0, start), middle, input.subarray(end)]);
}
