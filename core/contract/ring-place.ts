import murmur from "murmurhash3js";

const UTF8 = new TextEncoder();
/** Most arguments of one call. */
const PIECE = 4_096;

/**
 * Where a key stands on a hash ring, from 0 to 2 ** 32 - 1: MurmurHash3 (x86, 32 bits) of its bytes, which are those of UTF-8 for a text.
 * The hash itself reads the lowest eight bits of each character, so "一" and "N\0" or "Ā" and "\0" would be one key.
 *
 * @example
 * const place = ringPlace(request.target);
 */
export function ringPlace(key: string | Uint8Array, seed = 0): number {
  const bytes = typeof key === "string" ? UTF8.encode(key) : key;
  let characters = "";
  for (let at = 0; at < bytes.length; at += PIECE) characters += String.fromCharCode(...bytes.subarray(at, at + PIECE));
  return murmur.x86.hash32(characters, seed);
}
