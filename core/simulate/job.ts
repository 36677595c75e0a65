import type { TraceRequest } from "./trace.ts";

/** One request inside a replica. */
export class Job {
  readonly request: TraceRequest;
  /** Prompt tokens that were cached when the request was admitted; until then, those expected when it came. */
  cachedTokens = 0;
  /** Prompt tokens still to be computed, once it is admitted. */
  prefillLeft = 0;
  /** Whether a step has included a part of its prompt. */
  isBegun = false;

  constructor(request: TraceRequest) {
    this.request = request;
  }
}

/** Prompt tokens that a replica computes for it. The last one is always computed: it yields the first output token. */
export function uncachedTokens({ request, cachedTokens }: Job): number {
  return Math.max(1, request.prompt.tokens - cachedTokens);
}
