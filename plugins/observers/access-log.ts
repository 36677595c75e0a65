import { z } from "../../core/contract/options.ts";
import type { Outcome } from "../../core/contract/outcome.ts";
import { defineObserver } from "../../core/contract/plugin.ts";
import { printable } from "../../core/contract/printable.ts";
import { flagsOf } from "../../core/contract/response-flags.ts";

const MAX_LENGTH = 256;
const MAX_ATTEMPTS = 16;

const options = z.strictObject({
  /** auto: JSON, but text for people when the output is a terminal. none: no log. */
  format: z.enum(["auto", "json", "text", "none"]).default("auto"),
  /** Adds what `signalbox simulate` needs to replay the traffic: lengths, and hashes that show common beginnings of prompts. */
  replay: z.boolean().default(false),
});

export default defineObserver({
  type: "access-log",
  summary: "Prints one line per request: JSON, or for people when the output is a terminal.",
  options,
  create({ format, replay }, host) {
    if (format === "none") return { finished() {} };
    if (replay) host.usePrefixIndex({});
    const isText = format === "text" || (format === "auto" && host.output.isTerminal);
    return { finished: (record) => host.output.print(isText ? readableLine(record) : jsonLine(record, replay)) };
  },
});

/** Every line has all keys in this order; config/ACCESS-LOG.md says what they mean. Null is for what is unknown. */
function jsonLine(record: Outcome, replay: boolean): string {
  const { usage, request } = record;
  return JSON.stringify({
    time: new Date(record.wallMs).toISOString(),
    id: clean(record.id),
    method: clean(record.method),
    path: cleanPath(record.path),
    status: record.status,
    ending: record.ending,
    flags: flagsOf(record).join(","),
    error: record.error?.code ?? "",
    ...routing(record),
    attempts: record.attempts.slice(0, MAX_ATTEMPTS).map(({ endpoint, result, startedMs, endedMs }) => ({
      endpoint: clean(endpoint),
      result,
      startedMs: rounded(startedMs),
      endedMs: rounded(endedMs),
    })),
    durationMs: rounded(record.durationMs),
    firstByteMs: rounded(record.firstByteMs),
    expectedFirstByteMs: rounded(expectedMs(record)),
    overheadUs: whole(record.overheadUs),
    requestBytes: record.requestBytes,
    responseBytes: record.responseBytes,
    stream: request?.isStream ?? null,
    promptTokens: known(usage?.promptTokens),
    outputTokens: known(record.outputTokens),
    outputEstimated: record.isOutputEstimated,
    cachedTokens: known(usage?.cachedTokens),
    predictedCachedTokens: record.predictedTokens ?? null,
    finishReason: clean(record.finishReason),
    ...(replay && replayable(record)),
  });
}

function readableLine(record: Outcome): string {
  const { model, target, endpoint } = routing(record);
  const words = [
    new Date(record.wallMs).toISOString().slice(11, 23),
    record.status === 0 ? "---" : String(record.status),
    clean(record.method),
    cleanPath(record.path),
    model === target ? model : `${model} -> ${target}`,
    endpoint === "" ? "" : `on ${endpoint}`,
    `${rounded(record.durationMs)} ms`,
    firstByteText(record),
    tokensText(record),
    Number.isNaN(record.overheadUs) ? "" : `router ${whole(record.overheadUs)} us`,
    failedTries(record),
    record.ending === "complete" ? "" : record.ending,
    record.error?.code ?? "",
    bracketed(flagsOf(record).join(",")),
  ];
  return words.filter((word) => word !== "").join(" ");
}

const bracketed = (text: string) => (text === "" ? "" : `[${text}]`);

function firstByteText(record: Outcome): string {
  const seenMs = rounded(record.firstByteMs);
  const expected = rounded(expectedMs(record));
  if (seenMs === null) return "";
  return expected === null ? `(first byte ${seenMs} ms)` : `(first byte ${seenMs} ms, expected ${expected})`;
}

/** Only a stream's first byte comes with the first token. */
function expectedMs({ request, expectedFirstByteMs }: Outcome): number {
  return request?.isStream ? expectedFirstByteMs : Number.NaN;
}

/** "110 tokens in, 9 out"; an estimate has a tilde. */
function tokensText({ usage, outputTokens, isOutputEstimated }: Outcome): string {
  const out = Number.isNaN(outputTokens) ? "" : `${isOutputEstimated ? "~" : ""}${outputTokens} out`;
  const prompt = known(usage?.promptTokens);
  if (prompt === null) return out === "" ? "" : `tokens: ${out}`;
  return `tokens: ${prompt} in${out === "" ? "" : `, ${out}`}`;
}

function failedTries({ attempts }: Outcome): string {
  const failed = attempts.slice(0, -1).slice(0, MAX_ATTEMPTS);
  return failed.length === 0 ? "" : `after ${failed.map(({ endpoint, result }) => `${clean(endpoint)} (${result})`).join(", ")}`;
}

/** The model, the target, the rule, and the endpoint that was tried last. */
function routing({ request, decision, attempts }: Outcome) {
  return {
    model: clean(decision?.model ?? request?.model ?? ""),
    target: clean(decision?.target ?? request?.target ?? ""),
    rule: clean(decision?.rule ?? request?.rule ?? ""),
    endpoint: clean(attempts.at(-1)?.endpoint ?? ""),
  };
}

/** What a simulation needs. Eight hex digits of each block's hash are enough: of a million blocks, about 100 pairs agree. */
function replayable({ request, usage }: Outcome) {
  if (request === undefined) return {};
  const { prefix } = request;
  return {
    promptTokens: known(usage?.promptTokens) ?? request.promptTokens,
    ...(prefix.hashes && prefix.blocks > 0 && { prefixBlockTokens: prefix.tokensIn?.(0), prefixHashes: hashText(prefix.hashes) }),
  };
}

function hashText(hashes: ArrayLike<number>): string {
  let text = "";
  for (let at = 0; at < hashes.length; at += 2) text += (hashes[at]! >>> 0).toString(16).padStart(8, "0");
  return text;
}

function known(count = Number.NaN): number | null {
  return Number.isNaN(count) ? null : count;
}

/** The path without its query, which may hold a key. */
function cleanPath(path: string): string {
  return clean(path.split("?", 1)[0]!);
}

function clean(text: string): string {
  return printable(text.slice(0, MAX_LENGTH));
}

function whole(value: number): number | null {
  return known(Math.round(value));
}

function rounded(ms: number): number | null {
  return known(Math.round(ms * 10) / 10);
}
