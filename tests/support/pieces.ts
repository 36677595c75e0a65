/** The bytes in pieces that end at these places. */
export function pieces(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const at = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((one, other) => one - other);
  return [0, ...at].map((start, index) => Buffer.from(bytes.subarray(start, at[index] ?? bytes.length)));
}
