import type { Profile } from "../active-config.ts";
import type { LegRole } from "../contract/decision.ts";
import type { Endpoint } from "../contract/endpoint.ts";
import { expectedFirstTokenMs } from "../contract/expected-wait.ts";
import type { Attempt, AttemptFailure } from "../contract/outcome.ts";
import type { InferenceRequest } from "../contract/request.ts";
import { Booking } from "../pool/booking.ts";
import type { Run } from "../run.ts";
import { tellChosen } from "./tell-chosen.ts";

/**
 * Takes what a try needs at the endpoint. What is expected there is noted before the try itself counts; of a leg, whoever sends
 * it notes that.
 */
export function book(
  { ticket, config, pool, parts }: Run,
  request: InferenceRequest,
  endpoint: Endpoint,
  nowMs: number,
  role?: LegRole,
  profile: Profile = config.profile,
): Booking {
  const before = pool.load.at(nowMs);
  if (role !== "prefill") ticket.endpoint = endpoint.name;
  if (role === undefined) ticket.expectedFirstByteMs = expectedFirstTokenMs(request, endpoint, before);
  tellChosen(profile, request, endpoint, before, parts.services.log);
  const booking = new Booking(request, endpoint, pool, pool.control.traffic, nowMs, role);
  booking.sent();
  if (role === undefined) ticket.predictedTokens = pool.prefixIndex && booking.predictedTokens;
  return booking;
}

/** Adds a try that is over to the list. */
export function noteTry(
  attempts: Attempt[],
  { ticket: { times } }: Run,
  { name }: Endpoint,
  result: number | AttemptFailure,
  beganAtMs: number,
  endedAtMs: number,
): void {
  attempts.push({ endpoint: name, result, startedMs: beganAtMs - times.headAtMs, endedMs: endedAtMs - times.headAtMs });
}
