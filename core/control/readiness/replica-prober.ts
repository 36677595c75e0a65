import type { Clock } from "../../contract/clock.ts";
import type { Endpoint } from "../../contract/endpoint.ts";
import type { Log } from "../../contract/log.ts";
import type { Random } from "../../contract/profile-plugin.ts";
import type { Source } from "../../contract/source.ts";
import { thrownMessage } from "../../contract/thrown-text.ts";
import type { Probes } from "../../settings.ts";
import type { LoadTable } from "../../state/load.ts";
import { NOBODY_THERE } from "../../wire/get-error.ts";
import type { GetTarget, HttpGet } from "../../wire/http-get-result.ts";
import { Loop } from "./loop.ts";
import { OutOfTurn } from "./out-of-turn.ts";
import { type Fetched, probeGet } from "./probe-get.ts";
import { isInService, NEW_REPLICA, type ProbeEvent, type ProbeFailure, type ReplicaHealth, reduce } from "./replica-health.ts";
import { BACKOFF_START_MS, type CheckTimes, jittered, roundPauseMs, startupWindowMs } from "./schedule.ts";
import { SourceFacts, type SourceGroup } from "./source-facts.ts";
import { SourceReader } from "./source-reader.ts";

/** What the probers of all replicas share. */
export interface ProberHost {
  readonly clock: Clock;
  readonly random: Random;
  readonly get: HttpGet;
  readonly load: LoadTable;
  readonly log?: Log;
  /** Capacity of the replica's KV cache in tokens; undefined when it is not known any more. */
  readonly capacityKnown?: (slot: number, tokens: number | undefined) => void;
}

/** What the config says about probing; it may change while the probers run. */
export interface ProbePlan {
  readonly probes: Probes;
  readonly groups: readonly SourceGroup[];
}

const SOURCE_BODY_BYTES = 4 * 1024 * 1024;
/** Before a replica comes into service its liveness is probed too; a slow liveness path must not keep it out. */
const VETO_TIMEOUT_MS = 1_000;

/** Probes one replica and reads its sources. Each of its loops has at most one request under way. */
export class ReplicaProber {
  /** Its labels may change while it is probed. */
  target: Endpoint;
  /** What the probes have found. */
  health: ReplicaHealth = NEW_REPLICA;
  readonly #host: ProberHost;
  readonly #changed: (health: ReplicaHealth) => void;
  #plan: ProbePlan;
  readonly #facts: SourceFacts;
  readonly #rounds: Loop;
  readonly #liveness: Loop;
  /** By the group's id: all but the path of the readiness probe. */
  readonly #sources = new Map<string, SourceReader>();
  readonly #stopping = new AbortController();
  readonly #startedAtMs: number;
  /** When the last startup or readiness probe ended; NaN before the first. */
  #checkedAtMs = Number.NaN;
  /** Rounds in a row that did not bring the replica into service. */
  #misses = 0;
  /** The next round answers a doubt. */
  #isDoubted = false;
  readonly #doubts = new OutOfTurn();
  readonly #awaited = new OutOfTurn();
  readonly #modelChecks = new OutOfTurn();

  constructor(host: ProberHost, target: Endpoint, plan: ProbePlan, afterMs: number, changed: (health: ReplicaHealth) => void) {
    this.target = target;
    this.#host = host;
    this.#changed = changed;
    this.#plan = plan;
    this.#startedAtMs = host.clock.now();
    this.#facts = new SourceFacts(
      host.load,
      target.slot,
      (tokens) => host.capacityKnown?.(target.slot, tokens),
      ({ id }, cause) => host.log?.warn("A part of what a replica lists is left out", { endpoint: target.name, path: id, cause }),
    );
    this.#rounds = new Loop(host.clock, () => this.#round());
    this.#liveness = new Loop(host.clock, () => this.#livenessRound());
    this.#followPaths();
    this.#rounds.next(afterMs);
  }

  /** Paths of its numbers that could be read, and can't be any more. */
  get unreadableSources(): readonly string[] {
    return [...this.#sources].filter(([, reader]) => reader.isUnreadable).map(([id]) => id);
  }

  /** What its sources leave out of what it says of itself. */
  get leftOut(): readonly string[] {
    return this.#facts.leftOut;
  }

  get checks(): CheckTimes {
    return { lastMs: this.#checkedAtMs, nextMs: this.#rounds.nextAtMs };
  }

  /** The next round is waited for: it comes at once, or a second after the last one that was. */
  checkSoon(): void {
    this.#awaited.plan(this.#rounds, this.#host.clock.now());
  }

  /** A routed request could not connect: the replica is out of service until a probe succeeds. */
  connectFailed(): void {
    if (!isInService(this.health)) return;
    this.#misses = 0;
    this.#rounds.next(this.#jittered(BACKOFF_START_MS));
    this.#apply([{ type: "connect-failed" }]);
  }

  /**
   * A gateway did without the replica, which is its own view of it. A probe follows at once, or a second after the last one for such a
   * cause; only where that can't connect either is the replica out of service.
   */
  doubted(): void {
    if (!isInService(this.health)) return;
    this.#isDoubted = true;
    this.#doubts.plan(this.#rounds, this.#host.clock.now());
  }

  /** The config has changed: health and facts stay, and only other probes make the next round come at once. */
  follow(plan: ProbePlan, successors: ReadonlyMap<Source, Source>): void {
    const { probes } = this.#plan;
    this.#plan = plan;
    this.#facts.succeed(successors, plan.groups);
    this.#followPaths();
    if (plan.probes === probes) return;
    this.#rounds.next(0);
    if (isInService(this.health)) this.#liveness.next(this.#jittered(plan.probes.liveness.periodMs));
  }

  /** A response contradicts the model list: it is read at once, or a second after the last time. */
  checkModels(): void {
    if (!isInService(this.health)) return;
    const pauseMs = this.#modelChecks.pauseMs(this.#host.clock.now());
    if (pauseMs === undefined) return;
    const probeGroup = this.#groupOf(this.#plan.probes.readiness.path);
    if (probeGroup !== undefined && this.#facts.listsModels(probeGroup)) this.#rounds.within(pauseMs);
    for (const source of this.#sources.values()) source.checkModels(pauseMs);
  }

  /** The replica has loaded or unloaded an adapter: its list is believed to say so, and read again. */
  adapterChanged(name: string, isLoaded: boolean): void {
    if (!isInService(this.health)) return;
    this.#facts.setModel(name, isLoaded);
    this.#apply(this.#factEvents());
    this.checkModels();
  }

  stop(): void {
    this.#stopping.abort();
    for (const part of [this.#rounds, this.#liveness, ...this.#sources.values()]) part.stop();
    this.#facts.forgetAll();
  }

  /** One startup or readiness probe; it counts as both where they share a path. */
  async #round(): Promise<number> {
    const { probes } = this.#plan;
    const { startup, readiness } = probes;
    const wasStarted = this.health.isStarted;
    const isDoubted = this.#isDoubted;
    this.#isDoubted = false;
    const spec = wasStarted ? readiness : startup;
    const isReadinessPath = spec.path === readiness.path;
    const fetched = await this.#fetch(spec.path, spec.timeoutMs);
    this.#checkedAtMs = this.#host.clock.now();
    // The probes were changed meanwhile: the answer to the old ones says nothing about the new ones.
    if (this.#stopping.signal.aborted || probes !== this.#plan.probes) return 0;
    const failure = isReadinessPath ? this.#readProbeBody(fetched) : fetched.failure;
    const events: ProbeEvent[] = [];
    if (failure === undefined && !isInService(this.health)) events.push(await this.#veto());
    if (!wasStarted) events.push({ type: "startup", failure }, ...this.#overdue());
    if (isReadinessPath) events.push(...this.#factEvents(), { type: "readiness", failure });
    if (isDoubted && failure !== undefined && NOBODY_THERE.has(failure)) events.push({ type: "connect-failed" });
    this.#apply(events);
    this.#misses = isInService(this.health) ? 0 : this.#misses + 1;
    if (!wasStarted && this.health.isStarted && !isReadinessPath) return 0;
    return this.#jittered(roundPauseMs(this.health, this.#misses, this.#plan.probes));
  }

  async #veto(): Promise<ProbeEvent> {
    const { liveness } = this.#plan.probes;
    const timeoutMs = this.health.isAlive ? Math.min(liveness.timeoutMs, VETO_TIMEOUT_MS) : liveness.timeoutMs;
    const { failure } = await this.#fetch(liveness.path, timeoutMs);
    return { type: "liveness", failure };
  }

  #overdue(): ProbeEvent[] {
    const elapsedMs = this.#host.clock.now() - this.#startedAtMs;
    return elapsedMs < startupWindowMs(this.#plan.probes.startup) ? [] : [{ type: "startup-overdue" }];
  }

  #readProbeBody(fetched: Fetched): ProbeFailure | undefined {
    const group = this.#groupOf(this.#plan.probes.readiness.path);
    if (fetched.failure !== undefined || group === undefined) return fetched.failure;
    return this.#facts.read(group, fetched.body, this.target, this.#host.clock.now()) === "" ? undefined : "invalid";
  }

  async #livenessRound(): Promise<number> {
    const { liveness } = this.#plan.probes;
    const { failure } = await this.#fetch(liveness.path, liveness.timeoutMs);
    this.#apply([{ type: "liveness", failure }]);
    return this.#jittered(liveness.periodMs);
  }

  /** A reader for each group of sources, but for the readiness probe's own. */
  #followPaths(): void {
    const { probes, groups } = this.#plan;
    const ids = new Set(groups.map(({ id }) => id).filter((id) => id !== probes.readiness.path));
    for (const [id, reader] of this.#sources) {
      if (ids.has(id)) continue;
      reader.stop();
      this.#sources.delete(id);
    }
    for (const id of ids) {
      if (this.#sources.has(id)) continue;
      const reader = this.#readerOf(id);
      this.#sources.set(id, reader);
      if (isInService(this.health)) reader.start();
    }
  }

  #groupOf(id: string): SourceGroup | undefined {
    return this.#plan.groups.find((group) => group.id === id);
  }

  #readerOf(id: string): SourceReader {
    return new SourceReader({
      ...this.#host,
      slot: this.target.slot,
      target: () => this.target,
      group: () => this.#groupOf(id)!,
      facts: this.#facts,
      ask: () => this.#askSource(this.#groupOf(id)!),
      told: () => this.#apply(this.#factEvents()),
      unreadable: (cause) => {
        const { name } = this.target;
        this.#host.log?.warn("A replica's numbers can't be read", { endpoint: name, path: id, cause });
      },
    });
  }

  async #askSource({ path, origin }: SourceGroup): Promise<Fetched & { readonly cause?: string }> {
    const { timeoutMs } = this.#plan.probes.readiness;
    if (origin === undefined) return this.#fetch(path, timeoutMs, SOURCE_BODY_BYTES);
    try {
      return await this.#fetch(path, timeoutMs, SOURCE_BODY_BYTES, {
        url: origin.urlFor(this.target),
        ...(origin.isOnReplica && { tlsOf: this.target.name }),
        tlsOfPlugin: origin.tlsOfPlugin,
      });
    } catch (thrown) {
      return { failure: "unreachable", body: "", cause: thrownMessage(thrown) };
    }
  }

  /** What the sources say of the replica itself. */
  #factEvents(): ProbeEvent[] {
    const { isAsleep } = this.#facts;
    const models = this.#facts.models();
    const asleep: ProbeEvent = { type: "asleep", isAsleep };
    return models === undefined ? [asleep] : [{ type: "models", models, cards: this.#facts.modelCards() }, asleep];
  }

  #fetch(path: string, timeoutMs: number, maxBytes?: number, from: GetTarget = this.target): Promise<Fetched> {
    return probeGet(this.#host, from, path, timeoutMs, this.#stopping.signal, maxBytes);
  }

  #apply(events: readonly ProbeEvent[]): void {
    if (this.#stopping.signal.aborted) return;
    const before = this.health;
    this.health = events.reduce((health, event) => reduce(health, event, this.#plan.probes), before);
    if (this.health === before) return;
    if (isInService(this.health) && !isInService(before)) this.#entered();
    if (!isInService(this.health) && isInService(before)) this.#left();
    this.#changed(this.health);
  }

  /** The replica has come into service. */
  #entered(): void {
    this.#liveness.next(this.#jittered(this.#plan.probes.liveness.periodMs));
    for (const source of this.#sources.values()) source.start();
  }

  #left(): void {
    this.#liveness.stop();
    for (const source of this.#sources.values()) source.stop();
    this.#facts.forgetNumbers();
  }

  #jittered(ms: number): number {
    return jittered(ms, this.#host.random());
  }
}
