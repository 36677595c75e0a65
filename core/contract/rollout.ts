/** What is known of the targets of rewrite rules, since each rule's targets were last other ones. Read when it is shown. */
export interface RolloutView {
  /** Undefined for a target that is in no rule. */
  figuresOf(rule: string, target: string): TargetFigures | undefined;
  /** Undefined for a target without a guard. */
  guardOf(rule: string, target: string): GuardState | undefined;
}

/** A measured number with the interval in which the true one is with a probability of 95 %; null where it takes more requests. */
export interface Estimate {
  readonly value: number;
  readonly low: number | null;
  readonly high: number | null;
}

/** How a number is distributed over the requests. */
export interface Distribution {
  /** Requests that have the number. */
  readonly count: number;
  readonly mean: Estimate;
  readonly p50: Estimate;
  readonly p95: Estimate;
}

/** Plain JSON: what became of the requests that a rule sent to one target. */
export interface TargetFigures {
  /** ISO 8601: since when it counts. It begins anew when the rule gets another target, or one that had the weight 0 a share. */
  readonly since: string;
  readonly requests: number;
  /** Of those: clients that left, and what the router refused or failed itself. They say nothing about the target. */
  readonly unjudged: number;
  /**
   * Of the others: those that the replicas failed (5xx, 429, no response, a broken one, one that lacks what its API's have), and those
   * for which no ready replica had the target.
   */
  readonly errors: number;
  /** In [0, 1], with the Wilson score interval; null without a request. */
  readonly errorRate: Estimate | null;
  /** From the last byte of the request to the first body byte, of responses with status 2xx, in milliseconds. */
  readonly ttftMs: Distribution | null;
  /** Generated tokens per second from the first body byte to the end, of event streams. */
  readonly tokensPerSecond: Distribution | null;
  /** Requests by why the replica ended the text; at most 16, the others together as "other". */
  readonly finishReasons: Readonly<Record<string, number>>;
  /** Of the prompt tokens that replicas reported, the share that their cache held; null if none did. */
  readonly cachedShare: number | null;
}

/** Plain JSON: what a guard knows of its target. */
export interface GuardState {
  /** The target that it is compared with. */
  readonly against: string;
  /** watching; stopped: the guard set the weight to 0; blocked: it would, but may not now; idle: one of the targets gets nothing. */
  readonly state: "watching" | "stopped" | "blocked" | "idle";
  /** What it found or waits for, in a sentence. */
  readonly text: string;
  /** ISO 8601: since when it is stopped; null while it is not. */
  readonly stoppedAt: string | null;
  /** How often it has stopped the target since the router started. */
  readonly stops: number;
  /** Requests to the target that were judged, and how many it takes at least. */
  readonly requests: number;
  readonly minRequests: number;
  readonly confidence: number;
  /** What is judged, by how much the target may be worse, and how much speaks for it: the target is stopped at `needed`. */
  readonly tests: readonly GuardTestState[];
}

interface GuardTestState {
  readonly what: "errorRate" | "ttft";
  readonly worseBy: number;
  readonly evidence: number;
  readonly needed: number;
}

/** No rule has targets. */
export const NO_ROLLOUTS: RolloutView = { figuresOf: () => undefined, guardOf: () => undefined };
