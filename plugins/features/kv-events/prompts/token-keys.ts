import { BlockHash } from "../events/block-hash.ts";

/** What the content of a prompt's blocks depends on beside its tokens, as vLLM has it: the adapter in each block, the salt in the first. */
export interface PromptExtras {
  readonly adapter: string;
  readonly salt: string;
}

const hash = new BlockHash();
const encoder = new TextEncoder();

/** The router's keys of a prompt's whole blocks, two words for each. They are those that the engines' events give the same blocks. */
export function tokenKeys(tokens: ArrayLike<number>, blockTokens: number, { adapter, salt }: PromptExtras): Int32Array {
  const blocks = Math.floor(tokens.length / blockTokens);
  const keys = new Int32Array(2 * blocks);
  const [firstLow, firstHigh] = extraHash([adapter, salt]);
  const [laterLow, laterHigh] = extraHash([adapter]);
  hash.begin();
  let [low, high] = [hash.low, hash.high];
  for (let block = 0; block < blocks; block++) {
    hash.begin();
    hash.addAll(tokens, block * blockTokens, blockTokens);
    const [tokensLow, tokensHigh] = [hash.low, hash.high];
    hash.begin(low, high);
    if (block === 0) hash.link(tokensLow, tokensHigh, firstLow, firstHigh);
    else hash.link(tokensLow, tokensHigh, laterLow, laterHigh);
    [low, high] = [hash.low, hash.high];
    keys[2 * block] = low;
    keys[2 * block + 1] = high;
  }
  return keys;
}

/** As EventReader hashes a list of extra keys; 0 and 0 for none. */
function extraHash(texts: readonly string[]): readonly [low: number, high: number] {
  const given = texts.filter((text) => text !== "");
  if (given.length === 0) return [0, 0];
  hash.begin();
  hash.add(given.length);
  for (const text of given) hash.addBytes(encoder.encode(text));
  return [hash.low, hash.high];
}
