import type { Decision } from "../../core/contract/decision.ts";
import type { SendEvent } from "../../core/contract/observer.ts";
import { z } from "../../core/contract/options.ts";
import type { Outcome } from "../../core/contract/outcome.ts";
import { defineObserver } from "../../core/contract/plugin.ts";
import { type EndedRequest, reportOf } from "../../core/report/decision-report.ts";
import { type DecisionFilter, decisionFilter, FILTER_PARAMETERS } from "./decision-filter.ts";
import { RememberedRequests } from "./remembered-requests.ts";

const options = z.strictObject({
  /** How many requests are remembered in any case. */
  size: z.int().min(1).max(10_000).default(100),
  /** How much memory older ones may take. */
  memoryBytes: z
    .int()
    .min(0)
    .max(1024 ** 3)
    .default(4 * 1024 ** 2),
});

/** Longer names are not kept: no replica serves them, and they would take too much memory. */
const MAX_NAME = 512;

export default defineObserver({
  type: "decisions",
  summary: "Remembers why the last requests went where they went, shows it at /decisions, and streams it as they end.",
  runsByDefault: true,
  options,
  create({ size, memoryBytes }, host) {
    const { kept, listeners } = host.keep(2, () => ({ kept: new RememberedRequests(), listeners: new DecisionListeners() }));
    let isResized = false;
    /** Resized at the first use, because until then this config may be refused, and the one before goes on. */
    const latest = () => {
      if (!isResized) kept.resize(size, memoryBytes);
      isResized = true;
      return kept;
    };
    return {
      finished(record) {
        // Requests to the router's own paths, such as health probes, and those without a key would push all others out.
        if (record.api === "" || record.error?.code === "invalid_api_key") return;
        const ended = keep(record);
        latest().add(ended);
        listeners.tell(ended);
      },
      pages: [
        {
          path: "/decisions",
          contentType: "application/json",
          render(_view, query) {
            const latestFirst = latest().latestFirst();
            const asked = query.get("id");
            const found = asked === null ? latestFirst : latestFirst.filter(({ id }) => id === asked);
            return JSON.stringify({ size, decisions: found.slice(0, limitOf(query, size)).map(({ report }) => report()) });
          },
        },
      ],
      streams: [
        {
          path: "/decisions/stream",
          summary: "Each request that ends, as one event: its report as /decisions has it.",
          parameters: FILTER_PARAMETERS,
          listen: (query, send) => listeners.add(decisionFilter(query), send),
        },
      ],
    };
  },
});

interface Listener {
  readonly filter: DecisionFilter;
  readonly send: SendEvent;
}

/** Who wants to hear of each request that ends. Without any, no report is made. */
class DecisionListeners {
  readonly #listeners = new Set<Listener>();

  /** Returns what ends it. */
  add(filter: DecisionFilter, send: SendEvent): () => void {
    const listener = { filter, send };
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Makes the report once, when the first listener takes it. */
  tell(ended: EndedRequest): void {
    if (this.#listeners.size === 0) return;
    let text: string | undefined;
    const make = () => {
      text ??= JSON.stringify(reportOf(ended));
      return text;
    };
    for (const { filter, send } of this.#listeners) if (filter(ended)) send(make);
  }
}

/**
 * Keeps the decision as it is; it is converted to a report only when the page is requested. Drops everything that refers to a
 * body or to headers: a RouterError does so through its stack.
 */
function keep(record: Outcome): EndedRequest {
  const { request, decision } = record;
  const refusal = decision?.refusal;
  return {
    id: record.id,
    api: record.api,
    method: record.method,
    path: record.path,
    status: record.status,
    error: record.error,
    ending: record.ending,
    wallMs: record.wallMs,
    times: record.times,
    overheadUs: record.overheadUs,
    durationMs: record.durationMs,
    firstByteMs: record.firstByteMs,
    expectedFirstByteMs: record.expectedFirstByteMs,
    requestBytes: record.requestBytes,
    responseBytes: record.responseBytes,
    usage: record.usage,
    predictedTokens: record.predictedTokens,
    outputTokens: record.outputTokens,
    isOutputEstimated: record.isOutputEstimated,
    finishReason: record.finishReason,
    principal: record.principal,
    session: record.session,
    pool: record.pool,
    wait: record.wait,
    attempts: record.attempts,
    prefill: record.prefill,
    mirrors: record.mirrors,
    shadow: record.shadow,
    notes: record.notes,
    isStream: request?.isStream ?? false,
    promptTokens: request?.promptTokens ?? 0,
    decision: decision && withoutBallast(decision),
    refusal: refusal && { code: refusal.code, message: refusal.message },
    // Optional fields too.
  } satisfies Record<keyof EndedRequest, unknown>;
}

function withoutBallast(decision: Decision): EndedRequest["decision"] {
  if (decision.refusal === undefined && decision.model.length <= MAX_NAME && decision.target.length <= MAX_NAME) return decision;
  const { refusal, ...rest } = decision;
  return { ...rest, model: shortName(rest.model), target: shortName(rest.target) };
}

function shortName(name: string): string {
  return name.length <= MAX_NAME ? name : `(a name of ${name.length} characters)`;
}

function limitOf(query: URLSearchParams, size: number): number {
  const limit = Number(query.get("limit") ?? size);
  return Number.isInteger(limit) && limit >= 0 ? limit : size;
}
