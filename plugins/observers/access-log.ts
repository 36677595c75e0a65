import type { RequestRecord } from "../../core/contract/decision.ts";
import { z } from "../../core/contract/options.ts";
import { defineObserver } from "../../core/contract/plugin.ts";
import { printable } from "../../core/contract/printable.ts";

const MAX_LENGTH = 256;
const MAX_ATTEMPTS = 16;

const options = z.strictObject({
  /** auto: JSON, or for people when the output is a terminal. none: no log. */
  format: z.enum(["auto", "json", "text", "none"]).default("auto"),
  /** Adds what `signalbox simulate` needs to replay the traffic: lengths, and which prompts began alike, as hashes. */
  replay: z.boolean().default(false),
});

export default defineObserver({
  type: "access-log",
  summary: "Prints one line per request: JSON, or for people when the output is a terminal.",
  options,
  create({ format, replay }, host) {
    if (format === "none") return { finished() {} };
    if (replay) host.usePrefixIndex({});
    const isText = format === "text" || (format === "auto" && host.isTerminal);
    return { finished: (record) => host.print(isText ? readableLine(record) : jsonLine(record, replay)) };
  },
});

function jsonLine(record: RequestRecord, replay: boolean): string {
  return JSON.stringify({
    time: new Date(record.wallMs).toISOString(),
    id: clean(record.id),
    method: clean(record.method),
    path: cleanPath(record.path),
    status: record.status,
    ending: record.ending,
    error: record.errorCode,
    ...routing(record),
    attempts: record.attempts.slice(0, MAX_ATTEMPTS).map(({ endpoint, result }) => ({ endpoint: clean(endpoint), result })),
    durationMs: rounded(record.durationMs),
    firstByteMs: Number.isNaN(record.firstByteMs) ? null : rounded(record.firstByteMs),
    requestBytes: record.requestBytes,
    responseBytes: record.responseBytes,
    ...reported(record),
    ...(replay && replayable(record)),
  });
}

function readableLine(record: RequestRecord): string {
  const { model, target, endpoint } = routing(record);
  const words = [
    new Date(record.wallMs).toISOString().slice(11, 23),
    record.status === 0 ? "---" : String(record.status),
    clean(record.method),
    cleanPath(record.path),
    model === target ? model : `${model} -> ${target}`,
    endpoint === "" ? "" : `on ${endpoint}`,
    `${rounded(record.durationMs)} ms`,
    Number.isNaN(record.firstByteMs) ? "" : `(first byte ${rounded(record.firstByteMs)} ms)`,
    record.attempts.length > 1 ? `${record.attempts.length} attempts` : "",
    record.ending === "complete" ? "" : record.ending,
    record.errorCode,
  ];
  return words.filter((word) => word !== "").join(" ");
}

/** What was asked for, what it became, and who answered last. */
function routing({ request, decision, attempts }: RequestRecord) {
  return {
    model: clean(decision?.model ?? request?.model ?? ""),
    target: clean(decision?.target ?? request?.target ?? ""),
    rule: clean(decision?.rule ?? request?.rule ?? ""),
    endpoint: clean(attempts.at(-1)?.endpoint ?? ""),
  };
}

/** What the replica counted; left out where it does not say. */
function reported({ usage, predictedTokens }: RequestRecord) {
  if (usage === undefined) return {};
  return {
    promptTokens: known(usage.promptTokens),
    outputTokens: known(usage.outputTokens),
    cachedTokens: known(usage.cachedTokens),
    predictedCachedTokens: known(usage.cachedTokens) === undefined ? undefined : predictedTokens,
  };
}

/** The request as a simulation needs it. Eight digits of each block's hash keep even millions of blocks apart. */
function replayable({ request, usage }: RequestRecord) {
  if (request === undefined) return {};
  const { prefix } = request;
  return {
    stream: request.isStream,
    promptTokens: known(usage?.promptTokens ?? Number.NaN) ?? request.promptTokens,
    ...(prefix.hashes && prefix.blocks > 0 && { prefixBlockTokens: prefix.tokensIn?.(0), prefixHashes: hashText(prefix.hashes) }),
  };
}

function hashText(hashes: ArrayLike<number>): string {
  let text = "";
  for (let at = 0; at < hashes.length; at += 2) text += (hashes[at]! >>> 0).toString(16).padStart(8, "0");
  return text;
}

function known(count: number): number | undefined {
  return Number.isNaN(count) ? undefined : count;
}

/** A query may hold a key, so it stays out. */
function cleanPath(path: string): string {
  return clean(path.split("?", 1)[0]!);
}

function clean(text: string): string {
  return printable(text.slice(0, MAX_LENGTH));
}

function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}
