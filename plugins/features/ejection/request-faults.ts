import type { Endpoint } from "../../../core/contract/endpoint.ts";

/** Requests that failed lately. More distinct ones than this in a minute are a failing pool, not odd requests. */
const MOST_KEPT = 256;
const KEPT_MS = 60_000;

/** Of one request at one endpoint. Three suffice to eject; many more are taken back as far as that. */
const MOST_BLAMES = 64;

/** Failures that count against an endpoint, and would not if they were the request's own fault. */
export interface Blamed {
  readonly endpoint: Endpoint;
  /** On the router's clock. */
  readonly timesMs: readonly number[];
}

interface Failed {
  readonly what: string;
  readonly first: Endpoint;
  readonly atMs: number;
  blamedMs: number[];
  hasOther: boolean;
  /** The same bytes were served well elsewhere. */
  isProvenGood: boolean;
}

/** Whose fault a failure is, and which endpoint was blamed for the same request before. */
export type Verdict = { readonly fault: "endpoint" } | { readonly fault: "request"; readonly wrongly: Blamed | undefined };

const ENDPOINT: Verdict = { fault: "endpoint" };

/**
 * Tells a request that fails wherever it goes from an endpoint that fails whatever it gets: a request that failed in the same way on two
 * endpoints, and succeeded on none, counts against itself.
 */
export class RequestFaults {
  readonly #failed = new Map<number, Failed>();
  /** When the last of them is forgotten. */
  #untilMs = Number.NEGATIVE_INFINITY;

  /** True while successes matter too: only then a request's bytes need to be hashed. */
  isWatching(nowMs: number): boolean {
    return nowMs < this.#untilMs;
  }

  /** `what`: in which way it failed. */
  failed(request: number, endpoint: Endpoint, what: string, nowMs: number): Verdict {
    this.#forget(nowMs);
    this.#untilMs = nowMs + KEPT_MS;
    const known = this.#failed.get(request);
    const isSameEndpoint = known?.first.name === endpoint.name;
    if (known === undefined || (known.what !== what && isSameEndpoint && !known.hasOther)) {
      // What fails in one way and then in another at the same endpoint is remembered by the last of them.
      this.#failed.delete(request);
      const isProvenGood = known?.isProvenGood === true;
      this.#failed.set(request, { what, first: endpoint, atMs: nowMs, blamedMs: [nowMs], hasOther: false, isProvenGood });
      return ENDPOINT;
    }
    if (known.isProvenGood || known.what !== what) return ENDPOINT;
    if (isSameEndpoint && !known.hasOther) {
      if (known.blamedMs.length < MOST_BLAMES) known.blamedMs.push(nowMs);
      return ENDPOINT;
    }
    const wrongly = known.hasOther ? undefined : { endpoint: known.first, timesMs: known.blamedMs };
    known.hasOther = true;
    known.blamedMs = [];
    return { fault: "request", wrongly };
  }

  /** The endpoint was cleared of the failures of these times: they are taken back no second time. */
  cleared({ endpoint, timesMs }: Blamed): void {
    for (const known of this.#failed.values())
      if (known.first.name === endpoint.name) known.blamedMs = known.blamedMs.filter((atMs) => !timesMs.includes(atMs));
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
