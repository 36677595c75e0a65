import type { Endpoint } from "../../../core/contract/endpoint.ts";
import type { Attempt, PrefillRecord } from "../../../core/contract/outcome.ts";
import type { Run } from "../../../core/run.ts";

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

/** 63 random bits. */
export function newRoom({ parts: { services } }: Run): string {
  const high = BigInt(Math.floor(services.random() * 2 ** 31));
  return String((high << 32n) | BigInt(Math.floor(services.random() * 2 ** 32)));
}
