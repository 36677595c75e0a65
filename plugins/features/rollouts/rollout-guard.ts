import type { GuardConfig } from "./guard-config.ts";
import type { GuardState } from "./rollout-shapes.ts";
import { errorRateTest, type SequentialTest, slownessTest } from "./sequential-test.ts";
import type { TargetVerdict } from "./target-figures.ts";

/** One request to the guarded target or to the one that it is compared with. */
export interface JudgedRequest {
  readonly isTarget: boolean;
  readonly verdict: TargetVerdict;
  /** Time to the first byte; if the client left before, how long it waited. NaN where the response says nothing about it. */
  readonly ttftMs: number;
  /** What pins the client to its target; "" for nothing. */
  readonly session: string;
}

interface GuardTest {
  readonly what: "errorRate" | "ttft";
  readonly worseBy: number;
  readonly test: SequentialTest;
}

/** Judged sessions that are remembered: the latest. */
const MOST_SESSIONS = 1_000;

/** Judges one target. It decides when the target is worse, and leaves to others what then happens. */
export class RolloutGuard {
  readonly config: GuardConfig;
  readonly #needed: number;
  #tests: readonly GuardTest[];
  #requests = 0;
  #sessions = new Set<string>();
  #stoppedAtMs: number | undefined;
  #stops = 0;
  /** Why it was stopped, or why that was not possible. */
  #text = "";

  constructor(config: GuardConfig) {
    this.config = config;
    this.#tests = testsOf(config);
    // Each test may err with its part of the probability.
    this.#needed = this.#tests.length / (1 - config.confidence);
  }

  get isStopped(): boolean {
    return this.#stoppedAtMs !== undefined;
  }

  /** Whether it would stop the target, but could not at its last try. */
  get isBlocked(): boolean {
    return !this.isStopped && this.#text !== "";
  }

  /** The targets were given other weights: requests of before and after are not compared with each other. */
  weightsChanged(): void {
    for (const { test } of this.#tests) test.dropBlock();
  }

  /** Begins anew: somebody gave the target a share again, or another config is judged. */
  restart(): void {
    this.#tests = testsOf(this.config);
    this.#requests = 0;
    this.#sessions = new Set();
    this.#stoppedAtMs = undefined;
    this.#text = "";
  }

  /** Returns what was found once the target is worse; undefined until then. */
  judge(request: JudgedRequest): GuardTest["what"] | undefined {
    if (this.isStopped || saysNothing(request) || this.#wasJudged(request.session)) return undefined;
    if (request.isTarget && request.verdict !== "unjudged") this.#requests += 1;
    for (const { what, test } of this.#tests) {
      if (what === "ttft") {
        if (!Number.isNaN(request.ttftMs)) test.add(request.isTarget, request.ttftMs);
      } else if (request.verdict !== "unjudged") {
        test.add(request.isTarget, request.verdict === "failed" ? 1 : 0);
      }
    }
    const found = this.#tests.find(({ test }) => test.evidence >= this.#needed)?.what;
    if (found === undefined) this.#text = "";
    return this.#requests < this.config.minRequests ? undefined : found;
  }

  stopped(wallMs: number, text: string): void {
    this.#stoppedAtMs = wallMs;
    this.#stops += 1;
    this.#text = text;
  }

  /** It would stop the target, but for this reason can not. */
  blocked(reason: string): void {
    this.#text = reason;
  }

  /** `idle` says why there is nothing to judge; "" while there is. */
  shown(idle: string): GuardState {
    const { against, minRequests, confidence } = this.config;
    const state = this.#stateNow(idle);
    return {
      against,
      state,
      text: this.#textOf(state, idle),
      stoppedAt: this.#stoppedAtMs === undefined ? null : new Date(this.#stoppedAtMs).toISOString(),
      stops: this.#stops,
      requests: this.#requests,
      minRequests,
      confidence,
      tests: this.#tests.map(({ what, worseBy, test }) => ({ what, worseBy, evidence: test.evidence, needed: this.#needed })),
    };
  }

  #stateNow(idle: string): GuardState["state"] {
    if (this.isStopped) return "stopped";
    if (idle !== "") return "idle";
    return this.isBlocked ? "blocked" : "watching";
  }

  #textOf(state: GuardState["state"], idle: string): string {
    if (state === "idle") return idle;
    return state === "watching" ? `It found ${this.config.target} not worse so far.` : this.#text;
  }

  /** The requests of a session are alike, so only its first one counts: a single one must not decide for all. */
  #wasJudged(session: string): boolean {
    if (session === "") return false;
    if (this.#sessions.has(session)) return true;
    this.#sessions.add(session);
    const [oldest = ""] = this.#sessions.size > MOST_SESSIONS ? this.#sessions : [];
    this.#sessions.delete(oldest);
    return false;
  }
}

/** Its session's next request counts in its place. */
function saysNothing({ verdict, ttftMs }: JudgedRequest): boolean {
  return verdict === "unjudged" && Number.isNaN(ttftMs);
}

function testsOf({ worseBy: { errorRate, ttft } }: GuardConfig): readonly GuardTest[] {
  return [
    ...(errorRate === undefined ? [] : [{ what: "errorRate" as const, worseBy: errorRate, test: errorRateTest(errorRate) }]),
    ...(ttft === undefined ? [] : [{ what: "ttft" as const, worseBy: ttft, test: slownessTest(ttft) }]),
  ];
}
