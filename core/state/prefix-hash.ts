import type { Span } from "../contract/span.ts";
import { startModule } from "../runtime/wasm.ts";
import { type HashedPart, isInside } from "./hashed-prompt.ts";
import { PREFIX_HASH_MODULE } from "./prefix-hash-module.ts";

// One pass hashes all blocks of a prompt: the hash of block n covers every byte up to its end, so equal hashes mean equal
// prefixes. Each step takes 32 bytes as four 64-bit words, one for each lane. A step multiplies the lane and adds the product to
// the lane's sum, so a difference that cancels in the lane remains in the sum. The start values and the multiplier depend on the
// secret, so that attackers can't prepare prompts that collide. It runs in WebAssembly, because JavaScript has no fast 64-bit
// product: two to three times as fast as four 32-bit lanes in JavaScript, including the copy into the module's memory.

/** 32-bit words in a secret. */
export const SECRET_WORDS = 6;

/** Prompts with different keys never match each other. */
export interface PrefixKey {
  readonly api: string;
  readonly target: string;
  readonly cacheSalt: string;
}

interface HashModule {
  readonly memory: WebAssembly.Memory;
  /** See prefix-hash.wat. */
  readonly take: (to: number, blocks: number) => void;
}

// The memory layout of prefix-hash.wat, in bytes …
const WINDOW_BYTES = 0x8000;
const ENDS_ADDRESS = 0x9000;
const HASHES_ADDRESS = 0xc000;
// … and in 32-bit words.
const STATE_WORD = 0x8000 / 4;
const POSITION_WORD = 0x8048 / 4;
const ENDS_WORD = ENDS_ADDRESS / 4;
const HASHES_WORD = HASHES_ADDRESS / 4;
/** More than any prompt has, because blocks grow. */
const MAX_BLOCKS = (HASHES_ADDRESS - ENDS_ADDRESS) / 4;

const STEP_BYTES = 8;
const LANES = 4;
/** An odd number with well mixed bits; the lower half comes first. */
const MULTIPLIER = [0x85ebca87, 0x9e3779b1] as const;
/** Bits of the multiplier that the secret decides; the others keep it odd and well mixed. */
const SECRET_BITS = 0x33cc33cc;
/** UTF-16 units of each key text that are hashed, besides its length: a client may send a salt of megabytes. */
const MAX_TEXT_UNITS = 1_024;

const { memory, take } = startModule(PREFIX_HASH_MODULE) as unknown as HashModule;
const window = new Uint8Array(memory.buffer, 0, WINDOW_BYTES);
const units = new Uint16Array(memory.buffer, 0, WINDOW_BYTES / 2);
const words = new Int32Array(memory.buffer);
const NO_PARTS: readonly never[] = [];
/** The block ends that the module's memory holds now; all prompts of an index have the same. */
let knownEnds: Int32Array | undefined;

/** Hashes prompts with one secret. The constructor throws RangeError when the secret does not have `SECRET_WORDS` words. */
export class PrefixHasher {
  /** Lanes, sums and multiplier before the first byte. */
  readonly #start = new Int32Array(4 * LANES + 2);
  /** Bytes in the window that are not yet hashed. */
  #fill = 0;
  /** Bytes still missing up to the end of the last block. */
  #missing = 0;
  #blocks = 0;

  constructor(secret: ArrayLike<number>) {
    if (secret.length !== SECRET_WORDS) throw new RangeError(`A prefix secret has ${SECRET_WORDS} words of 32 bits`);
    // Each lane starts with two neighbouring words of the secret.
    for (let lane = 0; lane < LANES; lane++) {
      this.#start[2 * lane] = secret[lane]!;
      this.#start[2 * lane + 1] = secret[(lane + 1) % LANES]!;
    }
    this.#start[4 * LANES] = MULTIPLIER[0] ^ (secret[4]! & SECRET_BITS);
    this.#start[4 * LANES + 1] = MULTIPLIER[1] ^ (secret[5]! & SECRET_BITS);
  }

  /**
   * The hashes of the first `blocks` blocks, two 32-bit words each. `ends` holds the byte at which each block ends, a multiple
   * of eight; the prompt must be at least as long as `ends[blocks - 1]`. In place of a part's data, their own hash is hashed, filled
   * up with zeros. Throws RangeError for too many blocks.
   */
  hash(
    key: PrefixKey,
    body: Uint8Array,
    spans: readonly Span[],
    ends: Int32Array,
    blocks: number,
    parts: readonly HashedPart[] = NO_PARTS,
  ): readonly number[] {
    if (blocks === 0) return [];
    if (blocks > MAX_BLOCKS) throw new RangeError(`A prompt has at most ${MAX_BLOCKS} blocks`);
    // Parts behind the last whole block are not hashed.
    const hashed = parts.length === 0 ? NO_PARTS : parts.filter(({ at }) => at < ends[blocks - 1]!);
    const digests = hashed.length === 0 ? NO_PARTS : hashed.map(({ span }) => this.#digest(body, span));
    this.#blocks = blocks;
    this.#missing = ends[blocks - 1]!;
    this.#begin(key, ends);
    let next = 0;
    for (let index = 0; index < spans.length && this.#missing > 0; index++) {
      if (index > 0) this.#takeZeros(1);
      const span = spans[index]!;
      let at = span[0];
      for (; next < hashed.length && isInside(hashed[next]!.span, span); next++) {
        const part = hashed[next]!;
        this.#takeBytes(body, at, part.span[0]);
        this.#takePart(digests[next]!, part.bytes);
        at = part.span[1];
      }
      this.#takeBytes(body, at, span[1]);
    }
    take(this.#fill, blocks);
    // A plain array: V8 allocates typed arrays of this size outside its heap, which costs more than hashing a short prompt.
    const hashes = new Array<number>(2 * blocks);
    for (let at = 0; at < hashes.length; at++) hashes[at] = words[HASHES_WORD + at]!;
    return hashes;
  }

  /** Puts the key before the prompt; the prompt begins at position 0. */
  #begin(key: PrefixKey, ends: Int32Array): void {
    const keyUnits = putText(key.cacheSalt, putText(key.target, putText(key.api, 0)));
    this.#fill = 2 * keyUnits;
    words.set(this.#start, STATE_WORD);
    words[POSITION_WORD] = -this.#fill;
    words[POSITION_WORD + 1] = 0;
    if (ends !== knownEnds) words.set(ends.subarray(0, MAX_BLOCKS), ENDS_WORD);
    knownEnds = ends;
  }

  /** The hash of a part's data: eight bytes. */
  #digest(body: Uint8Array, [start, end]: Span): Uint8Array {
    const padding = STEP_BYTES + ((start - end) & (STEP_BYTES - 1));
    this.#blocks = 1;
    this.#missing = end - start + padding;
    this.#fill = 0;
    words.set(this.#start, STATE_WORD);
    words[POSITION_WORD] = 0;
    words[POSITION_WORD + 1] = 0;
    words[ENDS_WORD] = this.#missing;
    knownEnds = undefined;
    this.#takeBytes(body, start, end);
    this.#takeZeros(padding);
    take(this.#fill, 1);
    return new Uint8Array(memory.buffer.slice(HASHES_ADDRESS, HASHES_ADDRESS + STEP_BYTES));
  }

  #takePart(digest: Uint8Array, bytes: number): void {
    this.#takeBytes(digest, 0, digest.length);
    this.#takeZeros(bytes - digest.length);
  }

  /** Zero bytes, which no JSON text contains. */
  #takeZeros(count: number): void {
    for (let left = Math.min(count, this.#missing); left > 0; ) {
      this.#makeRoom();
      const taken = Math.min(left, WINDOW_BYTES - this.#fill);
      window.fill(0, this.#fill, this.#fill + taken);
      this.#fill += taken;
      this.#missing -= taken;
      left -= taken;
    }
  }

  /** Bytes up to `end`, or to the end of the last block. */
  #takeBytes(body: Uint8Array, start: number, end: number): void {
    const last = Math.min(end, start + this.#missing);
    for (let at = start; at < last; ) {
      this.#makeRoom();
      const stop = Math.min(last, at + WINDOW_BYTES - this.#fill);
      window.set(body.subarray(at, stop), this.#fill);
      this.#fill += stop - at;
      at = stop;
    }
    this.#missing -= Math.max(0, last - start);
  }

  #makeRoom(): void {
    if (this.#fill < WINDOW_BYTES) return;
    take(WINDOW_BYTES, this.#blocks);
    this.#fill = 0;
  }
}

/** Writes a text's length and UTF-16 units, padded to a whole step; returns the index after them. Three of the longest fit. */
function putText(text: string, from: number): number {
  words[from / 2] = text.length;
  let to = from + 2;
  const length = Math.min(text.length, MAX_TEXT_UNITS);
  for (let at = 0; at < length; at++) units[to++] = text.charCodeAt(at);
  while (to % (STEP_BYTES / 2) !== 0) units[to++] = 0;
  return to;
}
