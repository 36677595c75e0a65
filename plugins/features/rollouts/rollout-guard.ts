import type { SharedFact } from "../../../core/contract/slots/shared.ts";
import { sha256 } from "../../../core/runtime/sha256.ts";
import type { GuardConfig } from "./guard-config.ts";
import { GuardNews, HeardGuards } from "./guard-news.ts";
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

/** What makes the target worse: a test here, or that another router has stopped it. */
export type Found = GuardTest["what"] | "elsewhere";

/** Judged sessions that are remembered: the latest. */
const MOST_SESSIONS = 1_000;

/** Judges one target. It decides when the target is worse, and leaves to others what then happens. */
export class RolloutGuard {
  readonly config: GuardConfig;
  /** The same at all routers that have the same config. */
  readonly key: string;
  /** In milliseconds since 1970; 0 while nobody has. */
  restartedAtMs = 0;
  readonly #heard = new HeardGuards();
  #news = new GuardNews();
  /** Why another router has stopped the target; "" while none has. */
  #stoppedElsewhere = "";
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
    this.key = sha256(JSON.stringify(config));
    this.#tests = testsOf(config);
    // Each test may err with its part of the probability.
    this.#needed = this.#tests.length / (1 - config.confidence);
  }

  /** In milliseconds since 1970; 0 while it is not stopped. */
  get stoppedAtMs(): number {
    return this.#stoppedAtMs ?? 0;
  }

  /** Why it was stopped, or why that was not possible; "" while there is nothing. */
  get reason(): string {
    return this.#text;
  }

  get isStopped(): boolean {
    return this.#stoppedAtMs !== undefined;
  }

  /** Why another router's guard has stopped the target; "" while none has. */
  get stoppedElsewhere(): string {
    return this.#stoppedElsewhere;
  }

  /** Whether it would stop the target, but could not at its last try. */
  get isBlocked(): boolean {
    return !this.isStopped && this.#text !== "";
  }

  /** The targets were given other weights: requests of before and after are not compared with each other. */
  weightsChanged(): void {
    for (const { test } of this.#tests) test.dropBlock();
  }

  /** Begins anew: somebody gave the target a share again. */
  restart(wallMs: number): void {
    this.restartedAtMs = wallMs;
    this.#tests = testsOf(this.config);
    this.#requests = 0;
    this.#sessions = new Set();
    this.#stoppedAtMs = undefined;
    this.#text = "";
    this.#stoppedElsewhere = "";
    this.#news = new GuardNews();
    this.#heard.restart();
  }

  /** Returns what was found once the target is worse; undefined until then. */
  judge(request: JudgedRequest, nowMs: number): Found | undefined {
    if (this.isStopped || saysNothing(request) || this.#wasJudged(request.session, nowMs)) return undefined;
    if (request.isTarget && request.verdict !== "unjudged") this.#requests += 1;
    for (const [index, { what, test }] of this.#tests.entries()) {
      const value = what === "ttft" ? request.ttftMs : ERROR_VALUES[request.verdict];
      const payoff = Number.isNaN(value) ? undefined : test.add(request.isTarget, value);
      if (payoff !== undefined) this.#news.add([index, GuardNews.rounded(payoff, test.lowest)], nowMs);
    }
    const found = this.#found();
    if (found === undefined) this.#text = "";
    return found;
  }

  /** Takes what the guard of another router has seen. Throws BadFact. */
  hear(router: string, fields: readonly unknown[]): void {
    if (this.isStopped) return;
    for (const entry of this.#heard.hear(router, fields)) {
      if (typeof entry === "string") this.#remember(entry);
      else {
        const test = this.#tests[entry[0]]?.test;
        test?.pay(Math.max(test.lowest, entry[1]));
      }
    }
  }

  /** Another router's guard has stopped the target: so does this one, with its next request. */
  heardStop(reason: string): void {
    if (!this.isStopped) this.#stoppedElsewhere = reason;
  }

  /** What other routers have not heard yet; undefined for nothing. */
  say(): SharedFact | undefined {
    return this.#news.say(this.key, this.#requests);
  }

  repeat(sinceMs: number): void {
    this.#news.repeat(sinceMs);
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
      requests: this.#judged,
      minRequests,
      confidence,
      tests: this.#tests.map(({ what, worseBy, test }) => ({ what, worseBy, evidence: test.evidence, needed: this.#needed })),
    };
  }

  #found(): Found | undefined {
    if (this.#stoppedElsewhere !== "") return "elsewhere";
    const found = this.#tests.find(({ test }) => test.evidence >= this.#needed)?.what;
    return this.#judged < this.config.minRequests ? undefined : found;
  }

  /** Requests to the target, at all routers. */
  get #judged(): number {
    return this.#requests + this.#heard.requests;
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
  #wasJudged(session: string, nowMs: number): boolean {
    if (session === "") return false;
    const digest = sha256(session);
    if (this.#sessions.has(digest)) return true;
    this.#remember(digest);
    this.#news.add(digest, nowMs);
    return false;
  }

  #remember(digest: string): void {
    this.#sessions.add(digest);
    const [oldest = ""] = this.#sessions.size > MOST_SESSIONS ? this.#sessions : [];
    this.#sessions.delete(oldest);
  }
}

/** What counts in the test of errors. */
const ERROR_VALUES: Readonly<Record<TargetVerdict, number>> = { failed: 1, served: 0, unjudged: Number.NaN };

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
