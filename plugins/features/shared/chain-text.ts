import { BadFact } from "../../../core/contract/fact-fields.ts";
import type { Chain } from "../../../core/state/residency.ts";

/** More than any prompt has: blocks grow, so 500 KB are 220 of them. */
const MOST_BLOCKS = 512;
/** Two words of the hash, and the tokens. */
const BLOCK_BYTES = 10;
const MOST_TOKENS = 0xffff;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** The first blocks of a hashed prompt, as messages have them: base64 of ten bytes for each block. */
export function chainText(chain: Chain): string {
  const blocks = Math.min(chain.blocks, MOST_BLOCKS);
  const bytes = new Uint8Array(blocks * BLOCK_BYTES);
  const view = new DataView(bytes.buffer);
  for (let block = 0; block < blocks; block++) {
    const at = block * BLOCK_BYTES;
    view.setInt32(at, chain.hashes[2 * block]!, true);
    view.setInt32(at + 4, chain.hashes[2 * block + 1]!, true);
    view.setUint16(at + 8, Math.min(MOST_TOKENS, chain.tokensIn(block)), true);
  }
  return Buffer.from(bytes.buffer).toString("base64");
}

/** The other way. Throws BadFact. */
export function chainOf(text: string): Chain {
  if (text.length > Math.ceil((MOST_BLOCKS * BLOCK_BYTES) / 3) * 4) throw new BadFact("too many blocks");
  const bytes = bytesOf(text);
  const blocks = bytes.length / BLOCK_BYTES;
  if (blocks === 0 || !Number.isInteger(blocks)) throw new BadFact("no whole blocks");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const hashes = new Int32Array(2 * blocks);
  const tokens = new Uint16Array(blocks);
  for (let block = 0; block < blocks; block++) {
    const at = block * BLOCK_BYTES;
    hashes[2 * block] = view.getInt32(at, true);
    hashes[2 * block + 1] = view.getInt32(at + 4, true);
    tokens[block] = Math.max(1, view.getUint16(at + 8, true));
  }
  return { blocks, hashes, tokensIn: (block) => tokens[block]! };
}

function bytesOf(text: string): Uint8Array {
  if (!BASE64.test(text)) throw new BadFact("no base64");
  return Buffer.from(text, "base64");
}
