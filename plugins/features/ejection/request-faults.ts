import type { Endpoint } from "../../../core/contract/endpoint.ts";

/** Requests that failed lately. More distinct ones than this in a minute are a failing pool, not odd requests. */
const MOST_KEPT = 256;
const KEPT_MS = 60_000;

interface Failed {
  readonly first: Endpoint;
  readonly atMs: number;
  hasOther: boolean;
  /** The same bytes were served well elsewhere. */
  isProvenGood: boolean;
}

/** Whose fault a failure is, and which endpoint was blamed for the same request before. */
export type Verdict = { readonly fault: "endpoint" } | { readonly fault: "request"; readonly wrongly: Endpoint | undefined };

/**
 * Tells a request that fails wherever it goes from an endpoint that fails whatever it gets: a request that failed on two
 * endpoints, and succeeded on none, counts against itself.
 */
export class RequestFaults {
  readonly #failed = new Map<number, Failed>();

  /** True while successes matter too: only then a request's bytes need to be hashed. */
  get isWatching(): boolean {
    return this.#failed.size > 0;
  }

  failed(request: number, endpoint: Endpoint, nowMs: number): Verdict {
    this.#forget(nowMs);
    const known = this.#failed.get(request);
    if (known === undefined) {
      this.#failed.set(request, { first: endpoint, atMs: nowMs, hasOther: false, isProvenGood: false });
      return { fault: "endpoint" };
    }
    if (known.isProvenGood || (known.first.name === endpoint.name && !known.hasOther)) return { fault: "endpoint" };
    const wrongly = known.hasOther ? undefined : known.first;
    known.hasOther = true;
    return { fault: "request", wrongly };
  }

  succeeded(request: number): void {
    const known = this.#failed.get(request);
    if (known !== undefined) known.isProvenGood = true;
  }

  /** Oldest first, as they stand in the map. */
  #forget(nowMs: number): void {
    for (const [request, { atMs }] of this.#failed) {
      if (nowMs - atMs < KEPT_MS && this.#failed.size < MOST_KEPT) return;
      this.#failed.delete(request);
    }
  }
}

/** So many bytes at each end of a body are hashed … */
const END_BYTES = 2 * 1024;
/** … and so many words between them, so that a difference longer than the distance between two of these words is seen. */
const MOST_SAMPLES = 256;

/**
 * A 32-bit hash of a request's length, of both its ends and of samples between them: enough to tell the few that failed in a
 * minute apart. Hashing all of 64 KB would cost a quarter of what passing them on costs.
 */
export function fingerprint(body: Uint8Array): number {
  // Words need an aligned view.
  const bytes = body.byteOffset % 4 === 0 ? body : body.slice();
  const { length } = bytes;
  let hash = hashOf(bytes, 0, Math.min(END_BYTES, length), length);
  const tail = Math.max(END_BYTES, (length - END_BYTES) & ~3);
  if (tail > END_BYTES) hash = hashSamples(bytes, END_BYTES, tail, hash);
  return (tail < length ? hashOf(bytes, tail, length, hash) : hash) >>> 0;
}

/** Hashes words at equal distances in [start, end), both multiples of four. */
function hashSamples(bytes: Uint8Array, start: number, end: number, seed: number): number {
  const words = new Int32Array(bytes.buffer, bytes.byteOffset + start, (end - start) >> 2);
  const stride = Math.ceil(words.length / MOST_SAMPLES);
  let hash = seed;
  for (let at = 0; at < words.length; at += stride) hash = mix(hash, words[at]!);
  return hash;
}

/** Hashes from `start`, a multiple of four, in four lanes of words: a processor works on them at the same time. */
function hashOf(bytes: Uint8Array, start: number, end: number, seed: number): number {
  const words = new Int32Array(bytes.buffer, bytes.byteOffset + start, (end - start) >> 2);
  let a = seed;
  let b = 0x85ebca6b;
  let c = 0xc2b2ae35;
  let d = 0x27d4eb2f;
  let at = 0;
  for (; at + 4 <= words.length; at += 4) {
    a = mix(a, words[at]!);
    b = mix(b, words[at + 1]!);
    c = mix(c, words[at + 2]!);
    d = mix(d, words[at + 3]!);
  }
  let hash = mix(mix(mix(a, b), c), d);
  for (let rest = start + 4 * at; rest < end; rest++) hash = mix(hash, bytes[rest]!);
  return hash;
}

/** Without the rotation the low bits of the hash would not depend on the high bits of the words. */
function mix(hash: number, word: number): number {
  return Math.imul(((hash << 13) | (hash >>> 19)) ^ word, 0x9e3779b1);
}
