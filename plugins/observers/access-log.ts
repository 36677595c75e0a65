import { z } from "../../core/contract/options.ts";
import type { Outcome } from "../../core/contract/outcome.ts";
import { defineObserver } from "../../core/contract/plugin.ts";
import { printable } from "../../core/contract/printable.ts";

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

function jsonLine(record: Outcome, replay: boolean): string {
  return JSON.stringify({
    time: new Date(record.wallMs).toISOString(),
    id: clean(record.id),
    method: clean(record.method),
    path: cleanPath(record.path),
    status: record.status,
    ending: record.ending,
    error: record.error?.code ?? "",
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
    Number.isNaN(record.firstByteMs) ? "" : `(first byte ${rounded(record.firstByteMs)} ms)`,
    record.attempts.length > 1 ? `${record.attempts.length} attempts` : "",
    record.ending === "complete" ? "" : record.ending,
    record.error?.code ?? "",
  ];
  return words.filter((word) => word !== "").join(" ");
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

/** The token counts that the replica reported; those that it did not report are left out. */
function reported({ usage, predictedTokens }: Outcome) {
  if (usage === undefined) return {};
  return {
    promptTokens: known(usage.promptTokens),
    outputTokens: known(usage.outputTokens),
    cachedTokens: known(usage.cachedTokens),
    predictedCachedTokens: known(usage.cachedTokens) === undefined ? undefined : predictedTokens,
  };
}

/** What a simulation needs. Eight hex digits of each block's hash are enough: of a million blocks, about 100 pairs agree. */
function replayable({ request, usage }: Outcome) {
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

/** The path without its query, which may hold a key. */
function cleanPath(path: string): string {
  return clean(path.split("?", 1)[0]!);
}

function clean(text: string): string {
  return printable(text.slice(0, MAX_LENGTH));
}

function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}
