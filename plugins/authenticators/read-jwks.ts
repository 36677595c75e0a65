import type { Clock } from "../../core/contract/clock.ts";
import { afterAwake } from "../../core/contract/standstill.ts";
import { thrownCode, thrownMessage } from "../../core/contract/thrown-text.ts";
import { readBounded } from "../../core/runtime/read-file.ts";

const MOST_BYTES = 1024 * 1024;
const TIMEOUT_MS = 4_000;

/** The JSON at a URL. Rejects with an Error that says what is wrong. */
export async function readUrl(url: string, signal: AbortSignal, clock: Clock): Promise<unknown> {
  const late = new AbortController();
  const cancel = afterAwake(clock, TIMEOUT_MS, () => late.abort(new Error(`no response within ${TIMEOUT_MS / 1000} seconds`)));
  try {
    const response = await fetch(url, {
      redirect: "error",
      headers: { accept: "application/json, application/jwk-set+json" },
      signal: AbortSignal.any([signal, late.signal]),
    });
    if (response.status !== 200 || response.body === null) {
      await response.body?.cancel();
      throw new Error(`status ${response.status}`);
    }
    return JSON.parse(await textOf(response.body));
  } catch (thrown) {
    if (late.signal.aborted) throw late.signal.reason;
    throw new Error(causeOf(thrown));
  } finally {
    cancel();
  }
}

/** The JSON in a file. Rejects with an Error that says what is wrong. */
export async function readFile(path: string): Promise<unknown> {
  const bytes = await readBounded(path, MOST_BYTES);
  if (bytes.length > MOST_BYTES) throw new Error("more than 1 MiB");
  return JSON.parse(bytes.toString("utf8"));
}

async function textOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of chunks) {
    bytes += part.length;
    if (bytes > MOST_BYTES) throw new Error("more than 1 MiB");
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}

/** fetch itself only says that it failed. */
function causeOf(thrown: unknown): string {
  const inner = thrown instanceof Error && thrown.cause !== undefined ? thrown.cause : thrown;
  return thrownCode(inner) || thrownMessage(inner);
}
