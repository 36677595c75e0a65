import type { Span } from "../contract/request.ts";
import { startModule } from "../runtime/wasm.ts";
import { PREFIX_HASH_MODULE } from "./prefix-hash-module.ts";

// A prompt's blocks are hashed in one running pass: the hash of block n covers every byte up to its end, so equal hashes mean
// equal prefixes. Each step takes 32 bytes, as four words of 64 bits, one for each lane. A lane is multiplied and depends on the
// secret; its sum adds up what the lane was, so what cancels in one remains in the other. Start and multipliers come from the
// secret, so that prompts that collide can't simply be prepared elsewhere. It runs in WebAssembly, as JavaScript has no quick
// product of 64 bits: two to three times as fast as four lanes of 32 bits, the copy into the module's memory included.

/** Words of a secret. */
export const SECRET_WORDS = 6;

/** What separates prompts that must never match each other. */
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

// Where prefix-hash.wat has its things, in bytes …
const WINDOW_BYTES = 0x8000;
const ENDS_ADDRESS = 0x9000;
const HASHES_ADDRESS = 0xc000;
// … and in words of 32 bits.
const STATE_WORD = 0x8000 / 4;
const POSITION_WORD = 0x8048 / 4;
const ENDS_WORD = ENDS_ADDRESS / 4;
const HASHES_WORD = HASHES_ADDRESS / 4;
/** With blocks that grow, more than any prompt has. */
const MAX_BLOCKS = (HASHES_ADDRESS - ENDS_ADDRESS) / 4;

const STEP_BYTES = 8;
const LANES = 4;
/** Odd, with well mixed bits; the lower half first. */
const MULTIPLIER = [0x85ebca87, 0x9e3779b1] as const;
/** Bits of the multiplier that the secret decides; the others keep it odd and well mixed. */
const SECRET_BITS = 0x33cc33cc;
/** Of a key's longer texts only that much and the length count: a client may send a salt of megabytes. */
const MAX_TEXT_UNITS = 1_024;

const { memory, take } = startModule(PREFIX_HASH_MODULE) as unknown as HashModule;
const window = new Uint8Array(memory.buffer, 0, WINDOW_BYTES);
const units = new Uint16Array(memory.buffer, 0, WINDOW_BYTES / 2);
const words = new Int32Array(memory.buffer);
/** The ends that lie in the memory; they are the same for all prompts of an index. */
let knownEnds: Int32Array | undefined;

/** Bytes of a prompt: its spans with one separator byte between them, so that moving a boundary changes the hashes. */
export function promptBytes(spans: readonly Span[]): number {
  let bytes = Math.max(0, spans.length - 1);
  for (const [start, end] of spans) bytes += end - start;
  return bytes;
}

/** Hashes prompts, one after the other. */
export class PrefixHasher {
  /** Lanes, sums and multiplier before the first byte. */
  readonly #start = new Int32Array(4 * LANES + 2);
  /** Bytes in the window that are not yet taken. */
  #fill = 0;
  /** Bytes that the last block still needs. */
  #missing = 0;
  #blocks = 0;

  constructor(secret: ArrayLike<number>) {
    if (secret.length !== SECRET_WORDS) throw new RangeError(`A prefix secret has ${SECRET_WORDS} words of 32 bits`);
    // A lane's halves are two words of the secret, each pair of them once.
    for (let lane = 0; lane < LANES; lane++) {
      this.#start[2 * lane] = secret[lane]!;
      this.#start[2 * lane + 1] = secret[(lane + 1) % LANES]!;
    }
    this.#start[4 * LANES] = MULTIPLIER[0] ^ (secret[4]! & SECRET_BITS);
    this.#start[4 * LANES + 1] = MULTIPLIER[1] ^ (secret[5]! & SECRET_BITS);
  }

  /**
   * The hashes of the first `blocks` blocks, two words each. `ends` says where each block ends, in multiples of eight bytes;
   * the prompt must reach the last of them.
   */
  hash(key: PrefixKey, body: Uint8Array, spans: readonly Span[], ends: Int32Array, blocks: number): readonly number[] {
    if (blocks === 0) return [];
    if (blocks > MAX_BLOCKS) throw new RangeError(`A prompt has at most ${MAX_BLOCKS} blocks`);
    this.#blocks = blocks;
    this.#missing = ends[blocks - 1]!;
    this.#begin(key, ends);
    for (let index = 0; index < spans.length && this.#missing > 0; index++) {
      if (index > 0) this.#takeSeparator();
      const span = spans[index]!;
      this.#takeBytes(body, span[0], Math.min(span[1], span[0] + this.#missing));
    }
    take(this.#fill, blocks);
    // A plain array: V8 keeps typed ones of this size outside of its heap, which costs more than the rest of a short prompt.
    const hashes = new Array<number>(2 * blocks);
    for (let at = 0; at < hashes.length; at++) hashes[at] = words[HASHES_WORD + at]!;
    return hashes;
  }

  /** The key stands before the prompt, which begins at position 0. */
  #begin(key: PrefixKey, ends: Int32Array): void {
    const keyUnits = putText(key.cacheSalt, putText(key.target, putText(key.api, 0)));
    this.#fill = 2 * keyUnits;
    words.set(this.#start, STATE_WORD);
    words[POSITION_WORD] = -this.#fill;
    words[POSITION_WORD + 1] = 0;
    if (ends !== knownEnds) words.set(ends.subarray(0, MAX_BLOCKS), ENDS_WORD);
    knownEnds = ends;
  }

  /** A zero byte: it stands in no JSON text. */
  #takeSeparator(): void {
    this.#makeRoom();
    window[this.#fill++] = 0;
    this.#missing--;
  }

  #takeBytes(body: Uint8Array, start: number, end: number): void {
    for (let at = start; at < end; ) {
      this.#makeRoom();
      const stop = Math.min(end, at + WINDOW_BYTES - this.#fill);
      window.set(body.subarray(at, stop), this.#fill);
      this.#fill += stop - at;
      at = stop;
    }
    this.#missing -= Math.max(0, end - start);
  }

  #makeRoom(): void {
    if (this.#fill < WINDOW_BYTES) return;
    take(WINDOW_BYTES, this.#blocks);
    this.#fill = 0;
  }
}

/** Writes a text's length and UTF-16 units, up to a whole step; returns the unit behind them. Three of the longest fit. */
function putText(text: string, from: number): number {
  words[from / 2] = text.length;
  let to = from + 2;
  const length = Math.min(text.length, MAX_TEXT_UNITS);
  for (let at = 0; at < length; at++) units[to++] = text.charCodeAt(at);
  while (to % (STEP_BYTES / 2) !== 0) units[to++] = 0;
  return to;
}
