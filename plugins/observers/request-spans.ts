import type { Decision } from "../../core/contract/decision.ts";
import type { Attempt, Outcome } from "../../core/contract/outcome.ts";
import { printable } from "../../core/contract/printable.ts";
import { ADMISSION, DECISION, FIRST_PROMPT_TRY, FIRST_TRY, innerSpanId, type Trace } from "../../core/contract/trace.ts";
import { whyOf } from "../../core/report/decision-report.ts";
import type { Span } from "./otlp-exporter.ts";

/** A request that its model's replicas refuse one after the other may have many tries. */
const MOST_TRIES = 32;
const MOST_CHARS = 256;

/** Numbers of OpenTelemetry's API. */
const INTERNAL = 0;
const SERVER = 1;
const CLIENT = 2;
const UNSET = { code: 0 };
const ERROR = 2;
const SAMPLED = 1;

/** OpenTelemetry's names for what the APIs do, by our parsers' types. */
const OPERATIONS: Readonly<Record<string, string>> = {
  "chat-completions": "chat",
  messages: "chat",
  responses: "chat",
  completions: "text_completion",
  generate: "text_completion",
  embeddings: "embeddings",
};

type Attributes = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** What a span is made of; moments in milliseconds since the request's head. */
interface Part {
  readonly id: string;
  readonly name: string;
  readonly kind: number;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Attributes;
  /** What failed; undefined if nothing did. */
  readonly error?: string | undefined;
  readonly events?: readonly { readonly name: string; readonly atMs: number }[];
}

/**
 * The spans of a request that has ended: the request itself and, inside it, admission, decision and each try at an endpoint, as far as
 * it came to them. Names of attributes are OpenTelemetry's (HTTP, and `gen_ai.*` of its GenAI conventions) where it has one.
 */
export function spansOf(outcome: Outcome, trace: Trace, resource: Span["resource"]): Span[] {
  const parts = [requestPart(outcome, trace), ...admissionPart(outcome, trace), ...decisionPart(outcome, trace)];
  const tries = outcome.attempts.slice(0, MOST_TRIES).map((attempt, index) => tryPart(outcome, trace, attempt, index));
  const prompts = (outcome.prefill?.attempts ?? [])
    .slice(0, MOST_TRIES)
    .map((attempt, index) => promptPart(outcome, trace, attempt, index));
  const headMs = outcome.wallMs - outcome.durationMs;
  return [...parts, ...prompts, ...tries].map((part) => toSpan(part, trace, headMs, resource));
}

function requestPart(outcome: Outcome, { spanId }: Trace): Part {
  const { method, path, status, ending, error, request, attempts } = outcome;
  return {
    id: spanId,
    name: `${method} ${path}`,
    kind: SERVER,
    startMs: 0,
    endMs: outcome.durationMs,
    attributes: {
      "http.request.method": method,
      "url.path": path,
      "http.response.status_code": status === 0 ? undefined : status,
      "http.request.body.size": outcome.requestBytes,
      "http.response.body.size": outcome.responseBytes,
      "error.type": error?.code ?? (ending === "complete" ? undefined : ending),
      "signalbox.request.id": outcome.id,
      "signalbox.api": outcome.api,
      "signalbox.key": outcome.principal?.name,
      "signalbox.tenant": outcome.principal?.tenant,
      "gen_ai.conversation.id": outcome.session?.name,
      "signalbox.session.turn": outcome.session?.turn,
      "signalbox.session.paused_time": seconds(outcome.session?.pausedMs ?? Number.NaN),
      "signalbox.ending": ending,
      "signalbox.endpoint": attempts.at(-1)?.endpoint,
      "signalbox.tries": attempts.length,
      "gen_ai.operation.name": OPERATIONS[outcome.api],
      "gen_ai.request.model": request?.model,
      "gen_ai.request.max_tokens": request?.maxOutputTokens || undefined,
      ...generation(outcome),
    },
    // As OpenTelemetry wants it: what the client did wrong is no error of the server.
    error: status >= 500 || ending === "broken" ? (error?.message ?? ending) : undefined,
  };
}

/** What came of it: the target, tokens, and when the first of them came. */
function generation(outcome: Outcome): Attributes {
  const { usage, request, decision, finishReason, attempts } = outcome;
  if (attempts.length === 0) return {};
  return {
    "gen_ai.response.model": decision?.target ?? request?.target,
    "gen_ai.response.finish_reasons": finishReason === "" ? undefined : [finishReason],
    "gen_ai.response.time_to_first_chunk": request?.isStream ? seconds(outcome.firstByteMs) : undefined,
    "gen_ai.usage.input_tokens": usage?.promptTokens,
    "gen_ai.usage.output_tokens": outcome.outputTokens,
    "signalbox.output_tokens.estimated": outcome.isOutputEstimated || undefined,
    "gen_ai.usage.cache_read.input_tokens": usage?.cachedTokens,
  };
}

function admissionPart({ times, wait }: Outcome, trace: Trace): Part[] {
  const { receivedMs, admittedMs } = times;
  // One that was not admitted may have waited all the same.
  const endMs = Number.isNaN(admittedMs) && wait !== undefined ? times.endMs : admittedMs;
  if (Number.isNaN(receivedMs) || Number.isNaN(endMs)) return [];
  const id = innerSpanId(trace, ADMISSION);
  return [{ id, name: "admission", kind: INTERNAL, startMs: receivedMs, endMs, attributes: waitAttributes(wait) }];
}

function waitAttributes(wait: Outcome["wait"]): Attributes {
  if (wait === undefined) return {};
  const { priority, tenant, position, reason, end } = wait;
  return {
    "signalbox.wait.priority": priority,
    "signalbox.wait.tenant": printable(tenant),
    "signalbox.wait.position": position,
    "signalbox.wait.reason": reason,
    "signalbox.wait.end": end,
  };
}

function decisionPart(outcome: Outcome, trace: Trace): Part[] {
  const { decision, times } = outcome;
  if (decision === undefined || Number.isNaN(times.decidedMs)) return [];
  return [
    {
      id: innerSpanId(trace, DECISION),
      name: "decision",
      kind: INTERNAL,
      startMs: Number.isNaN(times.admittedMs) ? times.decidedMs : times.admittedMs,
      endMs: times.decidedMs,
      attributes: decisionAttributes(outcome, decision),
      error: decision.refusal?.message,
    },
  ];
}

function decisionAttributes(outcome: Outcome, decision: Decision): Attributes {
  const { legs, endpoints, refusal } = decision;
  const { promptTokens = 0 } = outcome.request ?? {};
  const [leg] = legs;
  return {
    "signalbox.model": decision.model,
    "signalbox.target": decision.target,
    "signalbox.rule": decision.rule === "" ? undefined : decision.rule,
    "signalbox.profile": leg?.profile,
    "signalbox.endpoints": endpoints.length,
    "signalbox.candidates": leg?.candidates.length,
    "signalbox.endpoint": leg?.order[0]?.name,
    "signalbox.why": refusal?.message ?? whyOf(decision, outcome, promptTokens),
    "signalbox.expected_time_to_first_token": seconds(outcome.expectedFirstByteMs),
    "signalbox.predicted_cached_tokens": outcome.predictedTokens,
    "error.type": refusal?.code,
  };
}

function tryPart(outcome: Outcome, trace: Trace, attempt: Attempt, index: number): Part {
  const { endpoint, result, startedMs, endedMs } = attempt;
  const { times } = outcome;
  const url = outcome.decision?.endpoints.find(({ name }) => name === endpoint)?.url;
  const isGood = typeof result === "number" && result < 400;
  // Only the last one's response is passed on.
  const hasFirstByte = index === outcome.attempts.length - 1 && !Number.isNaN(times.firstByteMs);
  return {
    id: innerSpanId(trace, FIRST_TRY + index),
    name: `try ${endpoint}`,
    kind: CLIENT,
    startMs: startedMs,
    endMs: endedMs,
    attributes: {
      "http.request.method": outcome.method,
      "url.path": outcome.path,
      "server.address": url?.hostname,
      "server.port": url?.port,
      "http.response.status_code": typeof result === "number" ? result : undefined,
      "http.request.resend_count": index === 0 ? undefined : index,
      "error.type": isGood ? undefined : String(result),
      "signalbox.endpoint": endpoint,
    },
    error: isGood ? undefined : String(result),
    events: hasFirstByte ? [{ name: "first byte", atMs: times.firstByteMs }] : [],
  };
}

/** A try for the prompt alone, on an endpoint of its own. */
function promptPart(outcome: Outcome, trace: Trace, attempt: Attempt, index: number): Part {
  const part = tryPart(outcome, trace, attempt, index);
  return {
    ...part,
    id: innerSpanId(trace, FIRST_PROMPT_TRY + index),
    name: `prompt at ${attempt.endpoint}`,
    attributes: { ...part.attributes, "signalbox.role": "prefill", "signalbox.transfer": outcome.prefill?.transfer },
    events: [],
  };
}

function toSpan(part: Part, trace: Trace, headMs: number, resource: Span["resource"]): Span {
  const { traceId, spanId, parentId } = trace;
  const isRequest = part.id === spanId;
  const state = trace.state === "" ? undefined : stateOf(trace.state);
  const context = { traceId, spanId: part.id, traceFlags: SAMPLED, ...(state && { traceState: state }) };
  const parent = isRequest ? parentId : spanId;
  const endMs = Math.max(part.startMs, part.endMs);
  return {
    name: shortened(part.name),
    kind: part.kind,
    spanContext: () => context,
    ...(parent !== "" && { parentSpanContext: { traceId, spanId: parent, traceFlags: SAMPLED, isRemote: isRequest } }),
    startTime: momentOf(headMs + part.startMs),
    endTime: momentOf(headMs + endMs),
    duration: momentOf(endMs - part.startMs),
    ended: true,
    status: part.error === undefined ? UNSET : { code: ERROR, message: shortened(part.error) },
    attributes: known(part.attributes),
    links: [],
    events: (part.events ?? []).map(({ name, atMs }) => ({ name, time: momentOf(headMs + atMs) })),
    resource,
    instrumentationScope: { name: "signalbox" },
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

/** What the exporter asks of a `tracestate`; nobody changes one of a finished span. */
function stateOf(text: string) {
  const state = { serialize: () => text, get: () => undefined, set: () => state, unset: () => state };
  return state;
}

/** The attributes that have a value. Texts are short and printable, whatever a client or replica put into them. */
function known(attributes: Attributes): Span["attributes"] {
  const found: Record<string, string | number | boolean | string[]> = {};
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || Number.isNaN(value)) continue;
    if (typeof value === "string") found[name] = shortened(value);
    else found[name] = typeof value === "object" ? value.map(shortened) : value;
  }
  return found;
}

const seconds = (ms: number) => ms / 1000;
const shortened = (text: string) => printable(text.slice(0, MOST_CHARS));

/** Whole seconds since 1970, and the nanoseconds after them. */
function momentOf(ms: number): [seconds: number, nanoseconds: number] {
  const wholeS = Math.floor(ms / 1000);
  return [wholeS, Math.min(999_999_999, Math.round((ms - wholeS * 1000) * 1e6))];
}
