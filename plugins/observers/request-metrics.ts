import { z } from "../../core/contract/options.ts";
import type { Attempt, Outcome } from "../../core/contract/outcome.ts";
import { defineObserver } from "../../core/contract/plugin.ts";
import type { RouterView } from "../../core/contract/router-view.ts";
import { besideMetrics } from "./beside-metrics.ts";
import { CounterFamily } from "./counter-family.ts";
import { EXPOSITION_TYPE } from "./exposition.ts";
import { HistogramFamily } from "./histogram-family.ts";
import { stateGauges } from "./state-gauges.ts";

const options = z.strictObject({
  /** Most series of one counter; further ones are counted together as "other". */
  maxSeries: z.int().min(16).max(1_000_000).default(10_000),
});

const DURATION_BOUNDS_S = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 60, 120, 300, 600];
const FIRST_BYTE_BOUNDS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 60];

/** The label's value if there is no API, endpoint or status. */
const NONE = "none";

export default defineObserver({
  type: "request-metrics",
  summary: "Counts requests and shows them with the state of the pool as Prometheus text at /metrics.",
  options,
  create({ maxSeries }, host) {
    const kept = host.keep(1, () => makeFamilies(maxSeries));
    let isBounded = false;
    /** Bounded at the first use, because until then this config may be refused, and the one before goes on. */
    const families = () => {
      if (!isBounded) for (const family of Object.values(kept)) if (family instanceof CounterFamily) family.maxSeries = maxSeries;
      isBounded = true;
      return kept;
    };
    return {
      finished: (record) => count(families(), record),
      pages: [{ path: "/metrics", contentType: EXPOSITION_TYPE, render: (view) => page(families(), view) }],
    };
  },
});

type Families = ReturnType<typeof makeFamilies>;

/** All label values come from the config, the replicas or the router itself, so clients can't create series. */
function makeFamilies(maxSeries: number) {
  const counter = (name: string, help: string, ...labels: readonly string[]) =>
    new CounterFamily(`signalbox_${name}_total`, help, labels, maxSeries);
  return {
    requests: counter("requests", REQUESTS_HELP, "api", "endpoint", "status"),
    errors: counter("request_errors", "Requests that the router ended with an error of its own.", "code"),
    attempts: counter("attempts", "Tries at endpoints, by status or failure.", "endpoint", "result"),
    rewrites: counter("rewrite", "Requests whose model name a rewrite rule turned into a target.", "rule", "target"),
    clientLeft: counter("client_left", "Requests whose client left before the response was complete."),
    broken: counter("stream_broken", "Responses that broke off after their head was sent."),
    requestBytes: counter("request_bytes", "Bytes of request bodies.", "api"),
    responseBytes: counter("response_bytes", "Bytes of response bodies that came from replicas.", "api"),
    outputTokens: counter("output_tokens", "Generated tokens, as replicas report them.", "api"),
    promptTokens: counter(
      "prefix_prompt_tokens",
      "Prompt tokens of requests whose response reports how many were cached.",
      "endpoint",
    ),
    cachedTokens: counter(
      "prefix_reported_tokens",
      "Prompt tokens that the replica's cache held, as the replica reports them.",
      "endpoint",
    ),
    predictedTokens: counter(
      "prefix_predicted_tokens",
      "Prompt tokens of the same requests that the router believed cached.",
      "endpoint",
    ),
    errorTokens: counter(
      "prefix_error_tokens",
      "Absolute differences between reported and predicted tokens of each request, added up.",
      "endpoint",
    ),
    durations: new HistogramFamily("signalbox_request_duration_seconds", DURATION_HELP, "api", DURATION_BOUNDS_S),
    firstBytes: new HistogramFamily("signalbox_time_to_first_byte_seconds", FIRST_BYTE_HELP, "api", FIRST_BYTE_BOUNDS_S),
  };
}

const REQUESTS_HELP = "Requests that have ended, by the endpoint that was tried last and the class of the status.";
const DURATION_HELP = "Seconds from a request's head to the end of its response.";
const FIRST_BYTE_HELP = "Seconds from the last byte of a request to the first body byte of its response.";

function count(families: Families, record: Outcome): void {
  const { attempts, decision } = record;
  const api = record.api === "" ? NONE : record.api;
  const last = attempts.length === 0 ? "" : attempts[attempts.length - 1]!.endpoint;
  families.requests.add(1, api, last === "" ? NONE : last, statusClass(record.status));
  if (record.error !== undefined) families.errors.add(1, record.error.code);
  for (const { endpoint, result } of attempts) families.attempts.add(1, endpoint === "" ? NONE : endpoint, resultText(result));
  if (decision !== undefined && decision.rule !== "") families.rewrites.add(1, decision.rule, decision.target);
  if (record.ending === "client-left") families.clientLeft.add(1);
  if (record.ending === "broken") families.broken.add(1);
  if (record.api === "") return;
  families.requestBytes.add(record.requestBytes, api);
  families.responseBytes.add(record.responseBytes, api);
  families.durations.observe(record.durationMs / 1000, api);
  countTokens(families, record, api, last);
  if (!Number.isNaN(record.firstByteMs)) families.firstBytes.observe(record.firstByteMs / 1000, api);
}

function countTokens(families: Families, { usage, predictedTokens }: Outcome, api: string, endpoint: string): void {
  if (usage === undefined) return;
  const { promptTokens, outputTokens, cachedTokens } = usage;
  if (!Number.isNaN(outputTokens)) families.outputTokens.add(outputTokens, api);
  if (Number.isNaN(promptTokens) || Number.isNaN(cachedTokens)) return;
  families.promptTokens.add(promptTokens, endpoint);
  families.cachedTokens.add(cachedTokens, endpoint);
  if (predictedTokens === undefined) return;
  families.predictedTokens.add(predictedTokens, endpoint);
  families.errorTokens.add(Math.abs(predictedTokens - cachedTokens), endpoint);
}

function page(families: Families, view: RouterView): string {
  const names = new Set(view.endpoints.map(({ name }) => name)).add(NONE);
  families.requests.makeRoom("endpoint", names);
  families.attempts.makeRoom("endpoint", names);
  families.promptTokens.makeRoom("endpoint", names);
  families.cachedTokens.makeRoom("endpoint", names);
  families.predictedTokens.makeRoom("endpoint", names);
  families.errorTokens.makeRoom("endpoint", names);
  const texts = Object.values(families).map((family) => family.text());
  return texts.join("") + stateGauges(view) + besideMetrics(view);
}

const CLASSES = [NONE, "1xx", "2xx", "3xx", "4xx", "5xx"] as const;

function statusClass(status: number): string {
  return CLASSES[Math.floor(status / 100)] ?? NONE;
}

function resultText(result: Attempt["result"]): string {
  return typeof result === "number" ? statusClass(result) : result;
}
