import type { ActiveConfig } from "../../../core/active-config.ts";
import type { Clock } from "../../../core/contract/clock.ts";
import type { Decision } from "../../../core/contract/decision.ts";
import { type Endpoint, isServing } from "../../../core/contract/endpoint.ts";
import type { Log } from "../../../core/contract/log.ts";
import type { Outcome } from "../../../core/contract/outcome.ts";
import type { TargetMapping } from "../../../core/contract/rewriter.ts";
import { thrownText } from "../../../core/contract/thrown-text.ts";
import { wasServed } from "../../../core/report/blame.ts";
import { targetLabel } from "../../../core/report/target-label.ts";
import type { MeantTarget } from "../../../core/router.ts";
import type { GuardConfig } from "./guard-config.ts";
import { type Found, RolloutGuard } from "./rollout-guard.ts";
import type { GuardState, TargetFigures } from "./rollout-shapes.ts";
import { SharedGuards } from "./shared-guards.ts";
import { stopReason } from "./stop-reason.ts";
import { FigureCounts, type TargetVerdict, verdictOf } from "./target-figures.ts";

/** A guard wants its target to get nothing more. */
export interface TargetStop {
  readonly guard: GuardConfig;
  readonly reason: string;
}

/** Changes the config. Resolves to what hindered it; "" when the target is stopped. Never rejects. */
export type StopTarget = (stop: TargetStop) => Promise<string>;

export interface RolloutsOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly stopTarget: StopTarget;
}

interface Rule {
  /** By the targets' labels, as the counts. */
  readonly weights: ReadonlyMap<string, number>;
  readonly targets: ReadonlyMap<string, TargetMapping["targets"][number]>;
  /** Requests that were decided before, on the router's clock, are not compared: other weights applied to them. */
  readonly weighedAtMs: number;
  readonly counts: ReadonlyMap<string, FigureCounts>;
  readonly guards: readonly RolloutGuard[];
}

/** What is known of the pools. */
export interface PoolsAround {
  /** Of this pool, or of all. */
  endpoints(pool: string | undefined): readonly Endpoint[];
  /** See PoolsFeature. */
  meantFor(outcome: Outcome): MeantTarget | undefined;
}

const NO_POOLS: PoolsAround = { endpoints: () => [], meantFor: () => undefined };
const NO_WEIGHTS: ReadonlyMap<string, number> = new Map();
/** How long after its start the router may not know yet what starting replicas serve. */
const FIRST_PROBES_MS = 10_000;
/** How long to wait after a stop that was not possible. */
const AGAIN_MS = 10_000;

/** Counts what becomes of the requests that rewrite rules send to targets, and lets guards judge them. It outlives reloads. */
export class Rollouts {
  readonly shared: SharedGuards;
  readonly #options: RolloutsOptions;
  readonly #startedAtMs: number;
  #rules: ReadonlyMap<string, Rule> = new Map();
  #pools = NO_POOLS;
  /** Guards whose stop is under way or was not possible, and when it may be tried again. */
  readonly #waiting = new Map<RolloutGuard, number>();

  constructor(options: RolloutsOptions) {
    this.#options = options;
    this.#startedAtMs = options.clock.now();
    this.shared = new SharedGuards(options.clock, () => [...this.#rules.values()].flatMap(({ guards }) => guards));
  }

  /** Takes the rules of another config, and its pools. What stays the same goes on. */
  follow(rewriters: ActiveConfig["rewriters"], guards: readonly GuardConfig[], pools: PoolsAround = NO_POOLS): void {
    this.#pools = pools;
    const rules = new Map<string, Rule>();
    for (const { name, targets } of rewriters.flatMap(({ plugin }) => plugin.mappings ?? [])) {
      const own = guards.filter(({ rule }) => rule === name);
      rules.set(name, this.#nextRule(targets, own, this.#rules.get(name)));
    }
    this.#rules = rules;
    const left = new Set([...rules.values()].flatMap((rule) => rule.guards));
    for (const guard of this.#waiting.keys()) if (!left.has(guard)) this.#waiting.delete(guard);
  }

  /** Names of the rules. */
  rules(): readonly string[] {
    return [...this.#rules.keys()];
  }

  /** Undefined for a target that is in no rule. */
  figuresOf(rule: string, target: string): TargetFigures | undefined {
    return this.#rules.get(rule)?.counts.get(target)?.shown();
  }

  /** Undefined for a target without a guard. */
  guardOf(rule: string, target: string): GuardState | undefined {
    const { guards = [], weights = NO_WEIGHTS } = this.#rules.get(rule) ?? {};
    const guard = guards.find(({ config }) => config.target === target);
    return guard?.shown(idleReason(guard.config, weights));
  }

  /** The guards of a rule, by their targets, in the order of the targets. */
  guardsOf(rule: string): readonly (readonly [target: string, state: GuardState])[] {
    const { guards = [], weights = NO_WEIGHTS } = this.#rules.get(rule) ?? {};
    const byTarget = new Map(guards.toReversed().map((guard) => [guard.config.target, guard]));
    return [...weights.keys()].flatMap((target) => {
      const guard = byTarget.get(target);
      return guard === undefined ? [] : [[target, guard.shown(idleReason(guard.config, weights))] as const];
    });
  }

  #nextRule(targets: TargetMapping["targets"], configs: readonly GuardConfig[], before: Rule | undefined): Rule {
    const { clock } = this.#options;
    const weights = new Map(targets.map((target) => [targetLabel(target), target.weight]));
    const isSame = before !== undefined && sameWeights(before.weights, weights);
    const isReturning = (target: string) => before?.weights.get(target) === 0 && weights.get(target) !== 0;
    const isAnew = before === undefined || !sameKeys(before.weights, weights) || [...weights.keys()].some(isReturning);
    const guards = configs.map((config) => {
      const guard = before?.guards.find((each) => JSON.stringify(each.config) === JSON.stringify(config));
      if (guard === undefined) return new RolloutGuard(config);
      if (isReturning(config.target) || isReturning(config.against)) this.#restart(guard);
      else if (!isSame) guard.weightsChanged();
      return guard;
    });
    return {
      weights,
      targets: new Map(targets.map((target) => [targetLabel(target), target])),
      weighedAtMs: isSame ? before.weighedAtMs : clock.now(),
      counts: isAnew ? new Map([...weights.keys()].map((name) => [name, new FigureCounts(clock.wall())])) : before.counts,
      guards,
    };
  }

  #restart(guard: RolloutGuard): void {
    const { rule, target } = guard.config;
    if (guard.isStopped)
      this.#options.log.info("A target that a guard stopped has a share again: the guard begins anew", { rule, target });
    guard.restart(this.#options.clock.wall());
  }

  /** A request has ended. */
  ended(outcome: Outcome): void {
    const { decision } = outcome;
    const meant = this.#pools.meantFor(outcome);
    const name = meant?.rule ?? decision?.rule ?? "";
    const rule = name === "" ? undefined : this.#rules.get(name);
    const target = meant?.label ?? labelIn(rule, outcome);
    const counts = rule?.counts.get(target);
    if (decision === undefined || rule === undefined || counts === undefined) return;
    const verdict = verdictOf(outcome, this.#isProbed(decision));
    counts.add(outcome, verdict);
    if (decision.atMs < rule.weighedAtMs) return;
    for (const guard of rule.guards) this.#judge(guard, rule, target, outcome, verdict);
  }

  #isProbed({ atMs, endpoints }: Decision): boolean {
    return atMs - this.#startedAtMs > FIRST_PROBES_MS || !endpoints.some(({ phase }) => phase === "starting");
  }

  #judge(guard: RolloutGuard, rule: Rule, target: string, outcome: Outcome, verdict: TargetVerdict): void {
    const { config } = guard;
    const isTarget = target === config.target;
    if ((!isTarget && target !== config.against) || idleReason(config, rule.weights) !== "") return;
    const session = config.stickyHeader === "" ? "" : (outcome.request?.headers.get(config.stickyHeader) ?? "");
    const nowMs = this.#options.clock.now();
    const found = guard.judge({ isTarget, verdict, ttftMs: ttftOf(outcome, verdict), session }, nowMs);
    this.shared.judged();
    if (found === undefined || (this.#waiting.get(guard) ?? Number.NEGATIVE_INFINITY) > nowMs) return;
    void this.#stop(guard, rule, found);
  }

  async #stop(guard: RolloutGuard, rule: Rule, found: Found): Promise<void> {
    const { config } = guard;
    const { clock, log } = this.#options;
    const figures = rule.counts.get(config.target)?.shown();
    const others = rule.counts.get(config.against)?.shown();
    if (figures === undefined || others === undefined) return;
    this.#waiting.set(guard, Number.POSITIVE_INFINITY);
    const reason = found === "elsewhere" ? seenElsewhere(guard.stoppedElsewhere) : stopReason(config, found, figures, others);
    const hindrance =
      this.#obstacle(config, rule) || (await this.#options.stopTarget({ guard: config, reason }).catch(thrownText));
    const fields = { rule: config.rule, target: config.target, against: config.against, reason };
    if (hindrance === "") {
      this.#waiting.delete(guard);
      guard.stopped(clock.wall(), reason);
      this.shared.stopped(guard);
      log.warn("A guard stopped a target: its weight is 0 now", fields);
    } else {
      this.#waiting.set(guard, clock.now() + AGAIN_MS);
      if (!guard.isBlocked) log.error("A guard could not stop a target; it tries again", { ...fields, hindrance });
      guard.blocked(`${reason} It is not stopped: ${hindrance}.`);
    }
  }

  /** Why the target must not be stopped: without the other one, nobody would serve the rule. */
  #obstacle({ against }: GuardConfig, { targets }: Rule): string {
    const { name, pool } = targets.get(against) ?? { name: against };
    const isServed = this.#pools.endpoints(pool).some((endpoint) => isServing(endpoint) && endpoint.models.has(name));
    return isServed ? "" : `no ready replica serves ${against}`;
  }
}

/** The target that the request got, as the rule's counts call it. */
function labelIn(rule: Rule | undefined, { decision, pool }: Outcome): string {
  const name = decision?.target ?? "";
  const inPool = targetLabel({ name, pool });
  return rule?.counts.has(inPool) === true ? inPool : name;
}

/** Why there is nothing to judge; "" while there is. */
function idleReason({ target, against }: GuardConfig, weights: Rule["weights"]): string {
  const resting = [target, against].find((name) => (weights.get(name) ?? 0) === 0);
  return resting === undefined ? "" : `It waits until ${resting} has a weight above 0.`;
}

const SEEN = " Seen by another router.";
const seenElsewhere = (reason: string) => (reason.endsWith(SEEN) ? reason : reason + SEEN);

/** For a client that left before the first byte, how long it waited: the true time would have been longer. */
function ttftOf(outcome: Outcome, verdict: TargetVerdict): number {
  const { firstByteMs, ending, times } = outcome;
  if (ending === "client-left" && Number.isNaN(firstByteMs)) return times.endMs - times.receivedMs;
  return verdict !== "failed" && wasServed(outcome) ? firstByteMs : Number.NaN;
}

function sameKeys(one: Rule["weights"], other: Rule["weights"]): boolean {
  return one.size === other.size && [...one.keys()].every((key) => other.has(key));
}

function sameWeights(one: Rule["weights"], other: Rule["weights"]): boolean {
  return one.size === other.size && [...one].every(([key, weight]) => other.get(key) === weight);
}
