import type { Endpoint } from "../contract/endpoint.ts";
import { expectedFirstTokenMs } from "../contract/expected-wait.ts";
import type { AttemptFailure } from "../contract/outcome.ts";
import type { InferenceRequest } from "../contract/request.ts";
import { Booking } from "../pool/booking.ts";
import type { Run } from "../run.ts";
import type { Ticket } from "../ticket.ts";
import { tellChosen } from "./tell-chosen.ts";

/** Takes what a try needs at the endpoint. What is expected there is noted before the try itself counts. */
export function book(
  { ticket, config, pool, parts }: Run,
  request: InferenceRequest,
  endpoint: Endpoint,
  nowMs: number,
): Booking {
  const before = pool.load.at(nowMs);
  ticket.endpoint = endpoint.name;
  ticket.expectedFirstByteMs = expectedFirstTokenMs(request, endpoint, before);
  tellChosen(config.profile, request, endpoint, before, parts.services.log);
  const booking = new Booking(request, endpoint, pool, pool.control.traffic, nowMs);
  booking.sent();
  ticket.predictedTokens = pool.prefixIndex && booking.predictedTokens;
  return booking;
}

/** Adds a try that is over to the ticket. */
export function noteTry(
  { attempts, times }: Ticket,
  { name }: Endpoint,
  result: number | AttemptFailure,
  beganAtMs: number,
  endedAtMs: number,
): void {
  attempts.push({ endpoint: name, result, startedMs: beganAtMs - times.headAtMs, endedMs: endedAtMs - times.headAtMs });
}
