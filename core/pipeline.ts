import type { Decision } from "./contract/decision.ts";
import { RouterError } from "./contract/errors.ts";
import type { InferenceRequest, ParsedBody } from "./contract/request.ts";
import { decide } from "./decide/decide.ts";
import type { WaitingPlace, WaitOwner } from "./features/feature.ts";
import { Forward } from "./forward/forward.ts";
import type { ForwardOwner, Sending } from "./forward/forward-run.ts";
import { Handover } from "./forward/handover.ts";
import { redistributes } from "./request/draw-target.ts";
import { parse, withTarget } from "./request/parse.ts";
import { type Draft, rewrite } from "./request/rewrite.ts";
import type { Run } from "./run.ts";
import type { Facts } from "./state/facts.ts";

/**
 * What the body asks for, and the place where the request waits for room in the pool; undefined if it may go on at once. Throws
 * RouterError for a request that can't be routed.
 */
export function admit(run: Run, owner: WaitOwner): WaitingPlace | undefined {
  run.parsed = asked(run);
  if (run.ticket.principal !== undefined) run.parts.features.access?.route(run.ticket, run.parsed);
  const { admitter } = run.parts.features;
  return admitter?.isOn === true ? admitter.enter(run, run.parsed, owner) : undefined;
}

/**
 * The way of a request that was admitted: draw the target, decide, rewrite, forward. Facts are read and shares are drawn here, after it
 * has waited. The caller stores what it returns, then begins it. Throws RouterError for a request that can't be routed.
 */
export function route(run: Run, owner: ForwardOwner): Sending {
  const { times } = run.ticket;
  const { clock } = run.parts.services;
  const parsed = run.parsed!;
  times.admittedAtMs = clock.now();
  const request = drawn(run, parsed, times.admittedAtMs);
  const decision = decided(run, request, times.admittedAtMs);
  times.decidedAtMs = clock.now();
  const { gateway } = run.response;
  if (gateway !== undefined) return new Handover(run, gateway, request, legOf(run, decision), draftOf(run, request), owner);
  return new Forward(run, request, legOf(run, decision), draftOf(run, request), owner);
}

/**
 * Decides again: by now it is known that the endpoint does not have the target. Where nobody is left to load it, its rule draws
 * another one, if it redistributes.
 */
export function routeAgain(run: Run, forward: Sending): void {
  const { ticket, config, parts } = run;
  const { clock } = parts.services;
  // Each refusal makes the target rest at its endpoint, so there are at most as many as endpoints, unless they take very long.
  if (ticket.attempts.length > parts.pool.facts.endpoints.length) throw tooSlowRefusals();
  let request = ticket.request!;
  let decision = decided(run, request, clock.now());
  if (decision.refusal !== undefined && redistributes(request.rule, config)) {
    request = drawn(run, run.parsed!, clock.now());
    decision = decided(run, request, clock.now());
  }
  forward.beginAgain(request, legOf(run, decision), draftOf(run, request), clock.now());
}

/** Copies of the request may be sent behind it, which never waits for them. */
export function copy(run: Run): void {
  const { ticket, parts } = run;
  const { copier } = parts.features;
  if (copier?.isOn !== true || ticket.request === undefined) return;
  copier.sent(run, ticket.request, (request) => choose(run, request, parts.services.clock.now()));
}

function asked({ ticket, incoming, config, parts }: Run): ParsedBody {
  const parsed = parse(incoming);
  return ticket.principal === undefined ? parsed : (parts.features.access?.salted(ticket, parsed, config) ?? parsed);
}

function drawn(run: Run, parsed: ParsedBody, nowMs: number): InferenceRequest {
  run.ticket.request = withTarget(parsed, run.incoming, run.config, run.parts.pool, nowMs);
  return run.ticket.request;
}

/** The decision, which the ticket keeps. Another profile may decide beside the first decision. */
function decided(run: Run, request: InferenceRequest, nowMs: number): Decision {
  const { ticket, config, parts } = run;
  const { pool, services, plugins, features } = parts;
  if (features.beside === undefined || config.others.size === 0 || ticket.decision !== undefined)
    ticket.decision = choose(run, request, nowMs);
  else {
    const view = pool.load.at(nowMs);
    const profile = plugins.times.profileFor(config.profile, nowMs);
    ticket.decision = features.beside.decide(ticket, config, profile, services.random, {
      request,
      load: view,
      decide: (each, random) => decide(request, factsFor(run), each, view, random),
    });
  }
  return ticket.decision;
}

function choose(run: Run, request: InferenceRequest, nowMs: number): Decision {
  const { config, parts } = run;
  const { pool, services, plugins } = parts;
  return decide(request, factsFor(run), plugins.times.profileFor(config.profile, nowMs), pool.load.at(nowMs), services.random);
}

/** What the decision reads of the pool: where a gateway sends the request, the endpoints that it can send it to. */
function factsFor({ response, parts }: Run): Facts {
  const { facts } = parts.pool;
  return response.gateway === undefined ? facts : response.gateway.reachable(facts);
}

/** Today there is always one leg, and the client gets its response. */
function legOf({ ticket }: Run, { legs, refusal }: Decision): Decision["legs"][number] {
  if (refusal !== undefined) throw ticket.principal?.models === undefined ? refusal : withoutNames(refusal);
  return legs[0]!;
}

/** The message of an unknown model names others, and this client may not even know of them. */
function withoutNames(refusal: RouterError): RouterError {
  if (refusal.code !== "model_not_found") return refusal;
  return new RouterError("model_not_found", "No replica serves this model; GET /v1/models lists those that this key may use.");
}

function draftOf({ incoming, config, ticket }: Run, request: InferenceRequest): Draft {
  return rewrite(request, incoming, config.settings, ticket.trace);
}

function tooSlowRefusals(): RouterError {
  const message = "The replicas took too long to say that they do not have the target; look for the cause in their logs.";
  return new RouterError("target_unavailable", message, { retryAfterS: 1 });
}
