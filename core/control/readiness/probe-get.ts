import type { Clock } from "../../contract/clock.ts";
import { lostMs } from "../../contract/standstill.ts";
import { GetError } from "../../wire/get-error.ts";
import type { GetTarget, HttpGet } from "../../wire/http-get-result.ts";
import type { ProbeFailure } from "./replica-health.ts";

export interface Fetched {
  readonly failure: ProbeFailure | undefined;
  readonly body: string;
}

const PROBE_BODY_BYTES = 1024 * 1024;

/** No exchange takes so many times its limit while the process runs. */
const MUCH_LONGER = 1.5;

interface Asker {
  readonly get: HttpGet;
  readonly clock: Clock;
}

/** A probe, or a source's text: never rejects. What failed while this process stood still may have failed for that: once more, then. */
export async function probeGet(
  asker: Asker,
  from: GetTarget,
  path: string,
  timeoutMs: number,
  signal: AbortSignal,
  maxBytes = PROBE_BODY_BYTES,
): Promise<Fetched> {
  const { get, clock } = asker;
  const askedAtMs = clock.now();
  const fetched = await once(get, from, path, timeoutMs, signal, maxBytes);
  const stoodStill = lostMs(clock.now() - askedAtMs, timeoutMs * MUCH_LONGER) > 0;
  return fetched.failure !== undefined && stoodStill ? once(get, from, path, timeoutMs, signal, maxBytes) : fetched;
}

async function once(
  get: HttpGet,
  from: GetTarget,
  path: string,
  timeoutMs: number,
  signal: AbortSignal,
  maxBytes: number,
): Promise<Fetched> {
  try {
    const { status, body } = await get(from, path, timeoutMs, maxBytes, signal);
    return { failure: status === 200 ? undefined : `status ${status}`, body };
  } catch (thrown) {
    return { failure: thrown instanceof GetError ? thrown.reason : "invalid", body: "" };
  }
}
