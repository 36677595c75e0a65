import { z } from "../../core/contract/options.ts";
import type { Attempt, Outcome, PrefillRecord } from "../../core/contract/outcome.ts";
import { defineObserver } from "../../core/contract/plugin.ts";
import type { Principal } from "../../core/contract/principal.ts";
import type { InferenceRequest } from "../../core/contract/request.ts";
import type { SessionTurn } from "../../core/contract/session-turn.ts";
import { flagsOf } from "../../core/report/response-flags.ts";
import { clean, isoTimes, jsonBoolean, jsonNumber, jsonTenths, jsonText } from "./json-text.ts";

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
  runsByDefault: true,
  options,
  create({ format, replay }, host) {
    if (format === "none") return { finished() {} };
    if (replay) host.usePrefixIndex({});
    const isoTime = isoTimes();
    const texts = new RoutingTexts();
    const isText = format === "text" || (format === "auto" && host.output.isTerminal);
    return {
      finished(record) {
        const time = isoTime(record.wallMs);
        host.output.print(isText ? readableLine(record, time) : jsonLine(record, time, texts.of(record), replay));
      },
    };
  },
});

/**
 * Every line has all keys in this order; config/ACCESS-LOG.md says what they mean. Null is for what is unknown. The line is put
 * together by hand, because an object and JSON.stringify cost three times as much.
 */
function jsonLine(record: Outcome, time: string, routed: RoutingText, replay: boolean): string {
  const { usage, request } = record;
  const promptTokens = known(usage?.promptTokens) ?? (replay ? request?.promptTokens : undefined);
  return (
    `{"time":"${time}","id":"${jsonText(record.id)}${routed.call}${jsonNumber(record.status)},"ending":"${record.ending}"` +
    `,"flags":"${flagsOf(record).join(",")}","error":"${jsonText(record.error?.code ?? "")}${routed.place}` +
    `${attemptsText(record.attempts)}],"durationMs":${jsonTenths(record.durationMs)}` +
    `,"firstByteMs":${jsonTenths(record.firstByteMs)},"expectedFirstByteMs":${jsonTenths(expectedMs(record))}` +
    `,"overheadUs":${jsonNumber(Math.round(record.overheadUs))},"waitedMs":${jsonTenths(record.wait?.waitedMs ?? Number.NaN)},"requestBytes":${jsonNumber(record.requestBytes)}` +
    `,"responseBytes":${jsonNumber(record.responseBytes)},"stream":${jsonBoolean(request?.isStream)}` +
    `,"promptTokens":${jsonNumber(promptTokens)},"outputTokens":${jsonNumber(record.outputTokens)}` +
    `,"outputEstimated":${jsonBoolean(record.isOutputEstimated)},"cachedTokens":${jsonNumber(usage?.cachedTokens)}` +
    `,"predictedCachedTokens":${jsonNumber(record.predictedTokens)},"finishReason":"${jsonText(record.finishReason)}"${whoText(record.principal)}${poolText(record.pool)}` +
    `${sessionText(record.session)}${record.prefill === undefined ? "" : prefillText(record.prefill)}` +
    `${replay ? prefixText(request) : ""}}`
  );
}

/** Only where there are several. */
function poolText(pool: string | undefined): string {
  return pool === undefined ? "" : `,"pool":"${jsonText(pool)}"`;
}

/** The parts of a line that most requests to one endpoint have in common. */
interface RoutingText extends Routing {
  readonly method: string;
  readonly path: string;
  /** From the id to the status, without them. */
  readonly call: string;
  /** From the error to the tries, without them. */
  readonly place: string;
}

/** Endpoints of which the last text is kept. */
const MOST_KEPT = 1024;
/** Longer names are not kept: a client may send one of megabytes. */
const LONGEST_KEPT = 1024;

/** Makes these parts, and keeps the last ones of each endpoint: putting them together anew takes a fifth of a line's time. */
class RoutingTexts {
  readonly #kept = new Map<string, RoutingText>();

  of(record: Outcome): RoutingText {
    const { method, path } = record;
    const now = routing(record);
    const kept = this.#kept.get(now.endpoint);
    if (kept !== undefined && isSame(kept, now) && kept.method === method && kept.path === path) return kept;
    const { model, target, rule, endpoint } = now;
    const text = {
      ...now,
      method,
      path,
      call: `","method":"${jsonText(method)}","path":"${jsonText(withoutQuery(path))}","status":`,
      place:
        `","model":"${jsonText(model)}","target":"${jsonText(target)}","rule":"${jsonText(rule)}"` +
        `,"endpoint":"${jsonText(endpoint)}","attempts":[`,
    };
    if (model.length + target.length + path.length > LONGEST_KEPT) return text;
    if (this.#kept.size >= MOST_KEPT) this.#kept.clear();
    this.#kept.set(endpoint, text);
    return text;
  }
}

type Routing = ReturnType<typeof routing>;

function isSame(one: Routing, other: Routing): boolean {
  return one.model === other.model && one.target === other.target && one.rule === other.rule;
}

function attemptsText(attempts: readonly Attempt[]): string {
  let text = "";
  for (let at = 0; at < attempts.length && at < MAX_ATTEMPTS; at++) {
    const { endpoint, result, startedMs, endedMs } = attempts[at]!;
    const shown = typeof result === "number" ? jsonNumber(result) : `"${result}"`;
    text +=
      `${at === 0 ? "" : ","}{"endpoint":"${jsonText(endpoint)}","result":${shown}` +
      `,"startedMs":${jsonTenths(startedMs)},"endedMs":${jsonTenths(endedMs)}}`;
  }
  return text;
}

function readableLine(record: Outcome, time: string): string {
  const { model, target, endpoint } = routing(record);
  const words = [
    time.slice(11, 23),
    record.status === 0 ? "---" : String(record.status),
    clean(record.method),
    clean(withoutQuery(record.path)),
    model === target ? clean(model) : `${clean(model)} -> ${clean(target)}`,
    promptText(record.prefill),
    endpoint === "" ? "" : `on ${clean(endpoint)}`,
    record.principal === undefined ? "" : `for ${clean(record.principal.name)}`,
    record.session === undefined ? "" : `turn ${record.session.turn} of ${clean(record.session.name)}`,
    `${rounded(record.durationMs)} ms`,
    firstByteText(record),
    tokensText(record),
    record.wait === undefined ? "" : `waited ${rounded(record.wait.waitedMs)} ms`,
    Number.isNaN(record.overheadUs) ? "" : `router ${whole(record.overheadUs)} us`,
    failedTries(record),
    record.ending === "complete" ? "" : record.ending,
    record.error?.code ?? "",
    bracketed(flagsOf(record).join(",")),
  ];
  return words.filter((word) => word !== "").join(" ");
}

const NOBODY = ',"key":"","tenant":""';

function whoText(principal: Principal | undefined): string {
  return principal === undefined ? NOBODY : `,"key":"${jsonText(principal.name)}","tenant":"${jsonText(principal.tenant)}"`;
}

const NO_SESSION = ',"session":"","turn":null,"pausedMs":null';

function sessionText(session: SessionTurn | undefined): string {
  if (session === undefined) return NO_SESSION;
  const { name, turn, pausedMs } = session;
  return `,"session":"${jsonText(name)}","turn":${turn},"pausedMs":${jsonTenths(pausedMs)}`;
}

/** Only of requests that a pair of endpoints was to serve. */
function prefillText(prefill: PrefillRecord): string {
  const { transfer, endpoint, end, cause, tookMs, transferMs, expectedTransferMs, cachedTokens, attempts } = prefill;
  return (
    `,"prefill":{"transfer":"${transfer}","endpoint":"${jsonText(endpoint)}","end":"${end}","cause":"${jsonText(cause)}"` +
    `,"tookMs":${jsonTenths(tookMs)},"transferMs":${jsonTenths(transferMs)},"expectedTransferMs":${jsonTenths(expectedTransferMs)}` +
    `,"cachedTokens":${jsonNumber(cachedTokens)},"attempts":[${attemptsText(attempts)}]}`
  );
}

/** "prompt on p1", or why not. */
function promptText(prefill: PrefillRecord | undefined): string {
  if (prefill === undefined) return "";
  return `prompt on ${clean(prefill.endpoint)}${prefill.end === "alone" ? ` failed (${clean(prefill.cause)})` : ""}`;
}

const bracketed = (text: string) => (text === "" ? "" : `[${text}]`);

function firstByteText(record: Outcome): string {
  const seenMs = rounded(record.firstByteMs);
  const expected = rounded(expectedMs(record));
  if (seenMs === null) return "";
  return expected === null ? `(first byte ${seenMs} ms)` : `(first byte ${seenMs} ms, expected ${expected})`;
}

/** Only a stream's first byte comes with the first token. */
function expectedMs(record: Outcome): number {
  return record.request?.isStream ? record.expectedFirstByteMs : Number.NaN;
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

/** The model, the target, the rule, and the endpoint that was tried last; as they came from outside. */
function routing({ request, decision, attempts }: Outcome) {
  return {
    model: decision?.model ?? request?.model ?? "",
    target: decision?.target ?? request?.target ?? "",
    rule: decision?.rule ?? request?.rule ?? "",
    endpoint: attempts.at(-1)?.endpoint ?? "",
  };
}

/** What a simulation needs. Eight hex digits of each block's hash are enough: of a million blocks, about 100 pairs agree. */
function prefixText(request: InferenceRequest | undefined): string {
  const prefix = request?.prefix;
  if (!prefix?.hashes || prefix.blocks === 0) return "";
  const blockTokens = prefix.tokensIn?.(0);
  const length = blockTokens === undefined ? "" : `,"prefixBlockTokens":${jsonNumber(blockTokens)}`;
  return `${length},"prefixHashes":"${hashText(prefix.hashes)}"`;
}

function hashText(hashes: ArrayLike<number>): string {
  let text = "";
  for (let at = 0; at < hashes.length; at += 2) text += (hashes[at]! >>> 0).toString(16).padStart(8, "0");
  return text;
}

function known(count = Number.NaN): number | null {
  return Number.isNaN(count) ? null : count;
}

/** A query may hold a key. */
function withoutQuery(path: string): string {
  const query = path.indexOf("?");
  return query < 0 ? path : path.slice(0, query);
}

function whole(value: number): number | null {
  return known(Math.round(value));
}

function rounded(ms: number): number | null {
  return known(Math.round(ms * 10) / 10);
}
