import type { Endpoint } from "../contract/endpoint.ts";

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

/** So many bytes at each end of a body are hashed. */
const HASHED_BYTES = 32 * 1024;

/** A hash of a request's length and of both its ends (FNV-1a, 32 bits): enough to tell the few that failed in a minute apart. */
export function fingerprint(body: Uint8Array): number {
  let hash = Math.imul(0x811c9dc5 ^ body.length, 0x01000193);
  const hashFrom = (start: number, end: number) => {
    for (let at = start; at < end; at++) hash = Math.imul(hash ^ body[at]!, 0x01000193);
  };
  hashFrom(0, Math.min(HASHED_BYTES, body.length));
  hashFrom(Math.max(HASHED_BYTES, body.length - HASHED_BYTES), body.length);
  return hash >>> 0;
}
