import type { Decision } from "../../core/contract/decision.ts";
import type { SendEvent } from "../../core/contract/observer.ts";
import { z } from "../../core/contract/options.ts";
import type { Outcome } from "../../core/contract/outcome.ts";
import { defineObserver } from "../../core/contract/plugin.ts";
import { type EndedRequest, reportOf } from "../../core/report/decision-report.ts";
import { type DecisionFilter, decisionFilter, FILTER_PARAMETERS } from "./decision-filter.ts";

const options = z.strictObject({
  /**
   * How many requests are remembered. With more than about 200, V8 treats all decisions as long-lived under load, and only its
   * full garbage collection frees them: on Deno, each small request then costs a tenth more.
   */
  size: z.int().min(1).max(10_000).default(100),
});

/** Longer names are not kept: no replica serves them, and they would take too much memory. */
const MAX_NAME = 512;

export default defineObserver({
  type: "decisions",
  summary: "Remembers why the last requests went where they went, shows it at /decisions, and streams it as they end.",
  options,
  create({ size }, host) {
    const { kept, listeners } = host.keep(1, () => ({ kept: new LatestRequests(), listeners: new DecisionListeners() }));
    let isResized = false;
    /** Resized at the first use, because until then this config may be refused, and the one before goes on. */
    const latest = () => {
      if (!isResized) kept.resize(size);
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
            return JSON.stringify({ size, decisions: found.slice(0, limitOf(query, size)).map(reportOf) });
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

/** A ring of the latest requests. */
class LatestRequests {
  #size = 0;
  #ring: EndedRequest[] = [];
  #next = 0;

  /** Sets the number of requests to keep; keeps the latest. */
  resize(size: number): void {
    if (size === this.#size) return;
    this.#ring = this.latestFirst().slice(0, size).reverse();
    this.#next = this.#ring.length % size;
    this.#size = size;
  }

  add(ended: EndedRequest): void {
    this.#ring[this.#next] = ended;
    this.#next = (this.#next + 1) % this.#size;
  }

  latestFirst(): EndedRequest[] {
    return [...this.#ring.slice(this.#next), ...this.#ring.slice(0, this.#next)].reverse();
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
    wait: record.wait,
    attempts: record.attempts,
    mirrors: record.mirrors,
    shadow: record.shadow,
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
