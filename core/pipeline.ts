import type { ActiveConfig, Profile } from "./active-config.ts";
import type { Decision } from "./contract/decision.ts";
import { RouterError } from "./contract/errors.ts";
import type { LoadView } from "./contract/load-view.ts";
import type { MirrorRecord } from "./contract/mirror.ts";
import type { Random } from "./contract/profile-plugin.ts";
import type { InferenceRequest } from "./contract/request.ts";
import type { ShadowChoice } from "./contract/shadow.ts";
import type { DataPlane } from "./data-plane.ts";
import type { Incoming } from "./intake/incoming.ts";
import type { ResponseWriter } from "./intake/response-writer.ts";
import type { Applicant } from "./stages/admit.ts";
import { estimateBy } from "./stages/estimate.ts";
import { filter } from "./stages/filter.ts";
import { type Delivery, type Earlier, Forwarding, type ForwardOwner, NOT_DELIVERED } from "./stages/forward.ts";
import { holdBack, trialFirst } from "./stages/hold-back.ts";
import { keepAliveRule } from "./stages/keep-alive.ts";
import type { Copies } from "./stages/mirroring.ts";
import { parse } from "./stages/parse.ts";
import { pick } from "./stages/pick.ts";
import { rewrite } from "./stages/rewrite.ts";
import { NOT_SCORED, score } from "./stages/score.ts";
import type { Facts } from "./state/facts.ts";

/** The starter of a run: it ends the request. */
export interface RunOwner {
  /** The request's body is not needed any more. May be called several times. */
  bodyDelivered(): void;
  /** The whole response was passed on. */
  completed(): void;
  /** There is no response, or no complete one. `thrown` is a RouterError, or any other value for a fault of the router. */
  failed(thrown: unknown): void;
}

/** One request: parse → (admit) → filter → score → pick → rewrite → forward. Parse draws the target, rewrite writes it. */
export class PipelineRun implements Applicant, ForwardOwner {
  request: InferenceRequest;
  decision: Decision | undefined;
  /** What the shadow profile would have done; undefined if none decided this request. */
  shadow: ShadowChoice | undefined;
  /** When it was admitted, and when the first decision was made, in milliseconds on the router's clock; NaN before. */
  admittedAtMs = Number.NaN;
  decidedAtMs = Number.NaN;
  /** How long it waited for admission, in milliseconds. */
  waitedMs = 0;
  readonly #incoming: Incoming;
  readonly #config: ActiveConfig;
  readonly #plane: DataPlane;
  readonly #response: ResponseWriter;
  readonly #owner: RunOwner;
  #forwarding: Forwarding | undefined;
  /** Set only if a mirror was drawn for it. */
  #copies: Copies | undefined;
  /** An admission that comes later finds nobody who waits for it. */
  #isOver = false;
  /** When it began to wait for admission; NaN while it has not. */
  #waitsSinceMs = Number.NaN;

  /**
   * Parses. Throws RouterError for a request that can't be understood. Returned unstarted, because it may end synchronously;
   * store it, then call `begin`.
   */
  constructor(incoming: Incoming, config: ActiveConfig, plane: DataPlane, response: ResponseWriter, owner: RunOwner) {
    this.#incoming = incoming;
    this.#config = config;
    this.#plane = plane;
    this.#response = response;
    this.#owner = owner;
    this.request = parse(incoming, config, plane);
  }

  begin(): void {
    const { admission, clock } = this.#plane;
    admission.apply(this);
    if (Number.isNaN(this.admittedAtMs)) this.#waitsSinceMs = clock.now();
  }

  /** Decides and forwards. Facts are read now, because receiving the request and waiting may have taken long. */
  admitted(): void {
    if (this.#isOver) return;
    const { clock } = this.#plane;
    this.admittedAtMs = clock.now();
    if (!Number.isNaN(this.#waitsSinceMs)) this.waitedMs = this.admittedAtMs - this.#waitsSinceMs;
    try {
      const decision = this.#decide(this.admittedAtMs);
      this.decidedAtMs = clock.now();
      this.#forward(decision, this.decidedAtMs);
      // Behind the request itself, which never waits for them.
      if (this.#plane.mirroring.isOn && !this.#isOver) this.#mirror();
    } catch (thrown) {
      this.#owner.failed(thrown);
    }
  }

  refused(error: RouterError): void {
    if (!this.#isOver) this.#owner.failed(error);
  }

  // Reports from the forwarding.

  bodyDelivered(): void {
    this.#owner.bodyDelivered();
  }

  completed(): void {
    this.#owner.completed();
  }

  failed(error: RouterError): void {
    this.#owner.failed(error);
  }

  /** Decides again: by now it is known that the endpoint does not have the target. */
  missedTarget(earlier: Earlier): void {
    try {
      // Each refusal makes the target rest at its endpoint, so there are at most as many as endpoints, unless they take very long.
      if (earlier.attempts.length > this.#plane.facts.endpoints.length) throw tooSlowRefusals();
      this.#forward(this.#decideWithoutTarget(), this.#plane.clock.now(), earlier);
    } catch (thrown) {
      this.#owner.failed(thrown);
    }
  }

  /** The client can take more bytes. */
  drained(): void {
    this.#forwarding?.drained();
  }

  /** What became of its copies for mirrors; undefined if there are none. */
  get mirrors(): readonly MirrorRecord[] | undefined {
    return this.#copies?.records;
  }

  /** Called before `close` if the client has left. */
  clientLeft(): void {
    this.#copies?.clientLeft();
  }

  /** Ends the work under way and returns what was delivered. Called once. */
  close(): Delivery {
    this.#isOver = true;
    const delivery = this.#forwarding?.close() ?? NOT_DELIVERED;
    const { status, firstByteAtMs, dispatchedAtMs } = delivery;
    this.#copies?.originalEnded(status < 400 ? firstByteAtMs - dispatchedAtMs : Number.NaN);
    // Last: whoever gets its place now finds its connection and its share of the load free.
    this.#plane.admission.leave(this);
    return delivery;
  }

  #decide(nowMs: number): Decision {
    const { shadow } = this.#config;
    if (shadow === undefined || this.decision !== undefined) this.decision = this.#choose(this.request, nowMs);
    else this.decision = this.#decideTwice(shadow, nowMs);
    return this.decision;
  }

  #choose(request: InferenceRequest, nowMs: number): Decision {
    const { facts, load, random, pluginTimes } = this.#plane;
    return decide(request, facts, pluginTimes.profileFor(this.#config.profile, nowMs), load.at(nowMs), random);
  }

  #decideTwice(shadow: NonNullable<ActiveConfig["shadow"]>, nowMs: number): Decision {
    const { facts, load, random, pluginTimes, shadowing } = this.#plane;
    const { request } = this;
    const view = load.at(nowMs);
    const profile = pluginTimes.profileFor(this.#config.profile, nowMs);
    const decideBy = (one: Profile, drawn: Random) => decide(request, facts, one, view, drawn);
    const { decision, choice } = shadowing.decide(shadow, profile, random, { request, load: view, decide: decideBy });
    this.shadow = choice;
    return decision;
  }

  #mirror(): void {
    const { buffer } = this.#incoming;
    if (buffer === undefined) return;
    this.#copies = this.#plane.mirroring.begin({
      request: this.request,
      incoming: this.#incoming,
      buffer,
      config: this.#config,
      plane: this.#plane,
      choose: (copy) => this.#choose(copy, this.#plane.clock.now()),
    });
  }

  /** Where nobody is left to load the target, its rule draws another one, if it redistributes. */
  #decideWithoutTarget(): Decision {
    const { clock } = this.#plane;
    const decision = this.#decide(clock.now());
    if (decision.refusal === undefined || !redistributes(this.request.rule, this.#config)) return decision;
    this.request = parse(this.#incoming, this.#config, this.#plane);
    return this.#decide(clock.now());
  }

  /** Each leg has its own draft and its own exchange. Today there is always one leg, and the client gets its response. */
  #forward({ legs, refusal }: Decision, nowMs: number, earlier?: Earlier): void {
    if (refusal !== undefined) return this.#owner.failed(refusal);
    for (const leg of legs) {
      const draft = rewrite(this.request, this.#incoming, this.#config.settings);
      const { openingEvents = 0 } = this.#incoming.parser.plugin;
      const keepAlive = keepAliveRule(this.#incoming, this.#config.settings);
      const { headAtMs, trace } = this.#incoming;
      const sending = {
        request: this.request,
        headAtMs,
        draft,
        openingEvents,
        keepAlive,
        config: this.#config,
        plane: this.#plane,
        trace,
      };
      this.#forwarding = new Forwarding(leg, sending, this.#response, this, earlier);
      this.#forwarding.begin(nowMs);
    }
  }
}

function tooSlowRefusals(): RouterError {
  const message = "The replicas took too long to say that they do not have the target; look for the cause in their logs.";
  return new RouterError("target_unavailable", message, { retryAfterS: 1 });
}

function redistributes(rule: string, { rewriters }: ActiveConfig): boolean {
  return rewriters.some(({ plugin }) =>
    plugin.mappings?.some(({ name, onUnavailable }) => name === rule && onUnavailable === "redistribute"),
  );
}

/** Chooses endpoints and records why. The same inputs always give the same decision; the simulation calls this function too. */
export function decide(request: InferenceRequest, facts: Facts, profile: Profile, load: LoadView, random: Random): Decision {
  // A copy, because observers and a filter's `refuse` are handed this list, and the next decision reads the facts' own.
  const endpoints = facts.endpoints.slice();
  const filtered = filter(request, profile.filters, endpoints, load, random, profile.clientModels);
  const { refusal } = filtered;
  const held = holdBack(filtered.candidates, load, random);
  const { candidates } = held;
  const dropped = held.dropped.length === 0 ? filtered.dropped : [...filtered.dropped, ...held.dropped];
  const scored = refusal === undefined ? score(request, profile.scorers, candidates, load) : NOT_SCORED;
  const { columns, totals } = scored;
  const { picker } = profile;
  const order = refusal === undefined ? trialFirst(held.trial, pick(picker, candidates, totals, random)) : [];
  const { estimates, fault } = estimateBy(profile.estimator, request, order, load);
  return {
    requestId: request.id,
    atMs: load.nowMs,
    model: request.model,
    target: request.target,
    rule: request.rule,
    draw: request.draw,
    endpoints,
    legs: [
      {
        profile: profile.name,
        dropped,
        candidates,
        scores: columns,
        totals,
        picker: picker.name,
        pickerType: picker.type,
        order,
        estimates,
      },
    ],
    refusal,
    faults: fault === undefined ? scored.faults : [...scored.faults, fault],
  };
}
