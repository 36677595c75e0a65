import { GetError, type GetTarget, type HttpGet } from "../../wire/http-get-result.ts";
import type { ProbeFailure } from "./replica-health.ts";

export interface Fetched {
  readonly failure: ProbeFailure | undefined;
  readonly body: string;
}

const PROBE_BODY_BYTES = 1024 * 1024;

/** A probe, or a source's text: never rejects. */
export async function probeGet(
  get: HttpGet,
  from: GetTarget,
  path: string,
  timeoutMs: number,
  signal: AbortSignal,
  maxBytes = PROBE_BODY_BYTES,
): Promise<Fetched> {
  try {
    const { status, body } = await get(from, path, timeoutMs, maxBytes, signal);
    return { failure: status === 200 ? undefined : `status ${status}`, body };
  } catch (thrown) {
    return { failure: thrown instanceof GetError ? thrown.reason : "invalid", body: "" };
  }
}
