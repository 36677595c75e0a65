import type { Endpoint } from "../contract/endpoint.ts";
import { expectedFirstTokenMs } from "../contract/expected-wait.ts";
import type { AttemptFailure } from "../contract/outcome.ts";
import type { InferenceRequest } from "../contract/request.ts";
import { Booking } from "../pool/booking.ts";
import type { Ticket } from "../request/ticket.ts";
import type { Head } from "../wire/head.ts";
import type { ForwardRun } from "./forward-run.ts";
import { pauseMs } from "./overload-pause.ts";
import { isOverload } from "./retry-policy.ts";
import { tellChosen } from "./tell-chosen.ts";

/** Takes what a try needs at the endpoint. What is expected there is noted before the try itself counts. */
export function book(
  { ticket, config, parts }: ForwardRun,
  request: InferenceRequest,
  endpoint: Endpoint,
  nowMs: number,
): Booking {
  const { pool } = parts;
  const before = pool.load.at(nowMs);
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

/** An endpoint that says it has too much to do is not the first pick for a while. */
export function pauseOverloaded({ parts }: ForwardRun, endpoint: Endpoint, head: Head): void {
  const { pool, services } = parts;
  if (isOverload(head.status) && pool.load.isCurrent(endpoint))
    pool.load.pause(endpoint.slot, services.clock.now() + pauseMs(head));
}

/** A 404 for a target that the endpoint lists: its list is read again. */
export function doubtModels({ parts }: ForwardRun, { target }: InferenceRequest, endpoint: Endpoint, status: number): void {
  if (status === 404 && endpoint.models.has(target)) parts.pool.control.checkModels(endpoint);
}
