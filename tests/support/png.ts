/** A PNG's head and nothing that could be drawn, of so many bytes, in base64. It holds the size that engines count tokens by. */
export function pngOf(width: number, height: number, bytes = 64, seed = 1): string {
  const image = Buffer.alloc(Math.max(33, bytes));
  for (let at = 33, state = seed; at < image.length; at++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    image[at] = state >>> 24;
  }
  image.write("89504e470d0a1a0a0000000d49484452", "hex");
  image.writeUInt32BE(width, 16);
  image.writeUInt32BE(height, 20);
  return image.toString("base64");
}
