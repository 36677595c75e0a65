import type { Profile } from "./active-config.ts";
import type { Decision } from "./contract/decision.ts";
import { RouterError } from "./contract/errors.ts";
import type { LoadView } from "./contract/load-view.ts";
import type { Random } from "./contract/profile-plugin.ts";
import type { InferenceRequest } from "./contract/request.ts";
import type { WaitingPlace, WaitOwner } from "./contract/slots/admit.ts";
import type { Answer } from "./contract/slots/answer.ts";
import type { BodyDecoder, RequestReceiver } from "./contract/slots/decode.ts";
import type { ForwardOwner, Sending } from "./contract/slots/send.ts";
import type { UpgradedRequest } from "./contract/slots/upgrade.ts";
import { decide } from "./decide/decide.ts";
import { plan } from "./decide/plan.ts";
import { Forward } from "./forward/forward.ts";
import { makeDraft } from "./request/draft.ts";
import { redistributes } from "./request/draw-target.ts";
import { parse, withTarget } from "./request/parse.ts";
import type { Run } from "./run.ts";
import type { Facts } from "./state/facts.ts";
import { codedBody } from "./wire/content-type.ts";

/** What gets all that follows the head, where a feature carries another protocol. Throws RouterError for a client that is to do without. */
export function upgrade(run: Run, request: UpgradedRequest): RequestReceiver | undefined {
  const [first] = run.config.slots.upgrade;
  return first?.plugin.upgrade(run, request);
}

/** Learns who asks. The body waits for a promise. Throws RouterError, or rejects with one, for a client that may not ask. */
export function enter(run: Run): Promise<void> | undefined {
  let entering: Promise<void> | undefined;
  for (const { plugin } of run.config.slots.enter)
    entering = entering === undefined ? plugin.enter(run) : entering.then(() => plugin.enter(run));
  return entering;
}

/** What decodes the body on its way to `receiver`. Throws RouterError (415) where no feature does. */
export function decode(run: Run, receiver: RequestReceiver): BodyDecoder {
  for (const { plugin } of run.config.slots.decode) {
    const decoder = plugin.decode(run, receiver);
    if (decoder !== undefined) return decoder;
  }
  throw codedBody();
}

/**
 * What the body asks for, and the place where the request waits, if a feature has it wait; undefined if it may go on. Called again after
 * a wait: it goes on with the next feature. Throws RouterError for a request that can't be routed.
 */
export function admit(run: Run, owner: WaitOwner): WaitingPlace | undefined {
  if (run.parsed === undefined) {
    run.parsed = parse(run);
    for (const { plugin } of run.config.slots.choosePool) plugin.choosePool(run);
  }
  const { admit } = run.config.slots;
  while (run.admissions < admit.length) {
    const { plugin } = admit[run.admissions]!;
    run.admissions += 1;
    const place = plugin.admit(run, owner);
    if (place !== undefined) return place;
  }
  return undefined;
}

/** The first answer that a feature has for the request; undefined: it goes to a replica. */
export function answer(run: Run, from = 0): Answer | Promise<Answer | undefined> | undefined {
  const features = run.config.slots.answer;
  for (let at = from; at < features.length; at++) {
    const found = features[at]!.plugin.answer(run);
    if (found instanceof Promise) return found.then((late) => late ?? answer(run, at + 1));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Lets a request wait that no replica could be reached for. Throws `error` if it is not to wait, or has waited enough. */
export function admitAgain(run: Run, owner: WaitOwner, error: RouterError): void {
  for (const { plugin } of run.config.slots.admitAgain) {
    run.place = plugin.admitAgain(run, owner);
    if (run.place !== undefined) return;
  }
  throw error;
}

/**
 * The way of a request that was admitted: draw the target, decide, make the draft, forward. Facts are read and shares are drawn here, after it
 * has waited. The caller stores what it returns, then begins it. Throws RouterError for a request that can't be routed.
 */
export function route(run: Run, owner: ForwardOwner): Sending {
  const { times } = run.ticket;
  const { clock } = run.parts.services;
  times.admittedAtMs = clock.now();
  const load = run.pool.load.at(times.admittedAtMs);
  const request = drawn(run, load);
  const decision = decided(run, request, load);
  times.decidedAtMs = clock.now();
  const leg = legOf(decision, run);
  const sender = decision.legs.length > 1 ? run.config.slots.send[0] : undefined;
  const sending = sender?.plugin.send(run, owner);
  if (sending !== undefined) return sending;
  const draft = makeDraft(request, run, run.ticket.trace);
  const { gateway } = run.response;
  return gateway === undefined ? new Forward(run, request, leg, draft, owner) : gateway.handOver(run, leg, draft, owner);
}

/**
 * Decides again: by now it is known that the endpoint does not have the target. Where nobody is left to load it, its rule draws
 * another one, if it redistributes.
 */
export function routeAgain(run: Run, forward: Sending): void {
  const { ticket, pool } = run;
  // Each refusal makes the target rest at its endpoint, so there are at most as many as endpoints, unless they take very long.
  if (ticket.attempts.length > pool.facts.endpoints.length) throw tooSlowRefusals();
  decideAgain(run, forward);
}

/** The target stays as it was drawn, unless nobody is left for it. */
export function decideAgain(run: Run, forward: Sending): void {
  const { ticket, config, pool, parts } = run;
  const { clock } = parts.services;
  const load = pool.load.at(clock.now());
  let request = ticket.request!;
  let decision = decided(run, request, load);
  if (decision.refusal !== undefined && redistributes(request.rule, config)) {
    request = drawn(run, load);
    decision = decided(run, request, load);
  }
  legOf(decision, run);
  forward.beginAgain(clock.now());
}

/** Copies of the request may be sent behind it, which never waits for them. */
export function copy(run: Run): void {
  const { ticket, config, pool, parts, connections } = run;
  const { copy } = config.slots;
  if (copy.length === 0 || ticket.request === undefined || connections !== undefined) return;
  const decideCopy = (request: InferenceRequest) => choose(run, request, pool.load.at(parts.services.clock.now()));
  for (const { plugin } of copy) plugin.copy(run, ticket.request, decideCopy);
}

function drawn(run: Run, load: LoadView): InferenceRequest {
  run.ticket.request = withTarget(run.parsed!, run, run.config, run.pool, load);
  return run.ticket.request;
}

/** The decision, which the ticket keeps. Another profile may decide beside the first decision. */
function decided(run: Run, request: InferenceRequest, load: LoadView): Decision {
  const { ticket, config, parts } = run;
  const { services, plugins } = parts;
  const [comparer] = config.slots.compare;
  if (comparer === undefined || ticket.decision !== undefined) ticket.decision = choose(run, request, load);
  else {
    const own = plugins.times.profileFor(config.profile, load.nowMs);
    ticket.decision = comparer.plugin.compare(run, {
      request,
      load,
      profile: own,
      random: services.random,
      decide: (profile: Profile, random: Random) =>
        profile === own
          ? plan(config.slots, request, factsFor(run), own, load, random)
          : decide(request, factsFor(run), profile, load, random),
    });
  }
  return ticket.decision;
}

function choose(run: Run, request: InferenceRequest, load: LoadView): Decision {
  const { config, parts } = run;
  const { services, plugins } = parts;
  const profile = plugins.times.profileFor(config.profile, load.nowMs);
  return plan(config.slots, request, factsFor(run), profile, load, services.random);
}

/** What the decision reads of the pool: where a gateway sends the request, the endpoints that it can send it to. */
function factsFor({ response, pool }: Run): Facts {
  const { facts } = pool;
  return response.gateway === undefined ? facts : response.gateway.reachable(facts);
}

/** The leg whose response the client gets. Throws RouterError where no endpoint may serve it. */
function legOf({ legs, refusal }: Decision, { ticket }: Run): Decision["legs"][number] {
  if (refusal !== undefined)
    throw ticket.principal?.models === undefined && ticket.pool === undefined ? refusal : withoutNames(refusal);
  return legs[0]!;
}

/** The message of an unknown model names others: those of one pool of several, or such that this client may not even know of. */
function withoutNames(refusal: RouterError): RouterError {
  if (refusal.code !== "model_not_found") return refusal;
  return new RouterError("model_not_found", "No replica serves this model; GET /v1/models lists those that you may use.");
}

function tooSlowRefusals(): RouterError {
  const message = "The replicas took too long to say that they do not have the target; look for the cause in their logs.";
  return new RouterError("target_unavailable", message, { retryAfterS: 1 });
}
