import type { LegRole } from "../../../core/contract/decision.ts";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import type { Attempt, PrefillRecord } from "../../../core/contract/outcome.ts";
import { Booking } from "../../../core/pool/booking.ts";
import type { Run } from "../../../core/run.ts";
import { UNWATCHED } from "../../../core/state/traffic.ts";

/** A record while it is written. */
export type OpenRecord = { -readonly [Key in keyof PrefillRecord]: PrefillRecord[Key] };

export function newRecord(transfer: string, { name }: Endpoint, attempts: readonly Attempt[]): OpenRecord {
  const unknown = Number.NaN;
  return {
    transfer,
    endpoint: name,
    end: "",
    cause: "",
    tookMs: unknown,
    transferMs: unknown,
    expectedTransferMs: unknown,
    cachedTokens: unknown,
    attempts,
  };
}

/** No pair serves the request; the first cause counts. */
export function noteAlone(record: OpenRecord, cause: string): void {
  if (record.end !== "") return;
  record.end = "alone";
  record.cause = cause;
}

/** A request that is wrong, not an endpoint that has too much to do. */
const REFUSED = /^status 4(?!29)/;
const PATIENCE_MS = 1_000;

/** How long the other endpoint of two that meet may take to refuse a request that one has refused: its word goes to the client. */
export function patienceMs(cause: string): number {
  return REFUSED.test(cause) ? PATIENCE_MS : 0;
}

/** A part of the load of an endpoint that has not got the request yet, or gets it from another one. */
export function reservation({ ticket, pool }: Run, endpoint: Endpoint, role: LegRole, nowMs: number): Booking {
  return new Booking(ticket.request!, endpoint, pool, UNWATCHED, nowMs, role);
}

/** 63 random bits. */
export function newRoom({ parts: { services } }: Run): string {
  const high = BigInt(Math.floor(services.random() * 2 ** 31));
  return String((high << 32n) | BigInt(Math.floor(services.random() * 2 ** 32)));
}
