/** So many replicas are weighed against each other. */
const MOST_WEIGHED = 64;

/** One replica as the gate sees it now. */
export interface GateReplica {
  readonly slot: number;
  /** Tokens that its cache holds; NaN where it does not say. */
  readonly cacheTokens: number;
  /** Prompt tokens that it has still to compute. */
  readonly backlogTokens: number;
  /** Prompt tokens that it computes in a millisecond. */
  readonly tokensPerMs: number;
}

/** Also where the size of its cache is not known. */
export function couldHold({ cacheTokens }: GateReplica, tokens: number): boolean {
  return !(tokens > cacheTokens);
}

/** Of very many, those that have least to compute: to look at the places of all takes too long. */
export function leastBusy(replicas: readonly GateReplica[]): readonly GateReplica[] {
  if (replicas.length <= MOST_WEIGHED) return replicas;
  return replicas.toSorted((one, other) => waitMs(one) - waitMs(other)).slice(0, MOST_WEIGHED);
}

/** How long it takes to compute what it has. */
export function waitMs({ backlogTokens, tokensPerMs }: GateReplica): number {
  return backlogTokens / tokensPerMs;
}
