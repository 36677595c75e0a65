import { z } from "../../core/contract/options.ts";
import { defineSource } from "../../core/contract/plugin.ts";
import type { EndpointFacts, SourceOrigin } from "../../core/contract/source.ts";
import { tlsOptions } from "../../core/contract/tls-options.ts";
import { EngineFactsReader } from "./engine-facts.ts";
import { EngineTally } from "./engine-tally.ts";
import { readSamples } from "./prometheus-text.ts";
import { urlAt } from "./url-at.ts";

const ENGINES = ["vllm", "sglang", "trtllm", "triton", "llamacpp"] as const;

const base = z.strictObject({
  /** Where the metrics are not at the endpoint's own port, as with a side-car there: the port on its host. One for all ranks of a host. */
  port: z.int().min(1).max(65_535).exactOptional(),
  /** Of that port. Default: https with `tls`, otherwise that of the endpoint's url. */
  scheme: z.enum(["http", "https"]).exactOptional(),
  /** TLS to the metrics alone. They then get no key, as at a port of their own. Default: TLS to a port is as to the replica. */
  tls: tlsOptions.exactOptional(),
  path: z.string().startsWith("/").default("/metrics"),
  /** Period while the replica has requests in flight. */
  periodMs: z.int().min(50).max(3_600_000).default(1_000),
  /** Period while it has none. */
  idlePeriodMs: z.int().min(50).max(3_600_000).default(5_000),
  /** The engine whose series are read; "auto": the series of any engine. */
  engine: z.enum(["auto", ...ENGINES]).default("auto"),
});

const options = base
  .refine(({ port, scheme }) => port !== undefined || scheme === undefined, {
    message: "port beside it: without one, the metrics are at the endpoint's url",
    path: ["scheme"],
  })
  .refine(({ scheme, tls }) => scheme !== "http" || tls === undefined, { message: "scheme: https beside it", path: ["tls"] });

/** Another server than the replica, although on its host: it gets no key. */
function originAt({ port, scheme, tls }: z.output<typeof options>, plugin: string): SourceOrigin | undefined {
  if (port === undefined && tls === undefined) return undefined;
  return {
    name: tls === undefined ? `${scheme ?? "*"}://*:${port}` : `https://*:${port ?? "*"} (${plugin})`,
    ...(tls === undefined ? { isOnReplica: true } : { tlsOfPlugin: plugin }),
    urlFor: ({ url }) => {
      if (port !== undefined) return urlAt(url.hostname, port, scheme ?? (url.isTls || tls !== undefined ? "https" : "http"));
      if (url.isTls) return url;
      throw new Error(`Its url (${url.href}) has no TLS: write the metrics' port beside tls, or leave tls out`);
    },
  };
}

interface Series {
  readonly engine: (typeof ENGINES)[number];
  readonly fact: "waiting" | "running" | "kvUsage";
  readonly name: string;
  /** A label and the value it must have. */
  readonly only?: readonly [label: string, value: string];
}

/** The series of each engine; if several series give the same fact, the first in this list counts. */
const SERIES: readonly Series[] = [
  // Those that are deferred (until a transfer has come, or their adapter has a place) make nobody else wait.
  { engine: "vllm", fact: "waiting", name: "vllm:num_requests_waiting_by_reason", only: ["reason", "capacity"] },
  { engine: "vllm", fact: "waiting", name: "vllm:num_requests_waiting" },
  { engine: "vllm", fact: "running", name: "vllm:num_requests_running" },
  { engine: "vllm", fact: "kvUsage", name: "vllm:kv_cache_usage_perc" },
  { engine: "vllm", fact: "kvUsage", name: "vllm:gpu_cache_usage_perc" },
  { engine: "sglang", fact: "waiting", name: "sglang:num_queue_reqs" },
  { engine: "sglang", fact: "running", name: "sglang:num_running_reqs" },
  { engine: "sglang", fact: "kvUsage", name: "sglang:token_usage" },
  { engine: "trtllm", fact: "waiting", name: "trtllm_num_requests_waiting" },
  { engine: "trtllm", fact: "running", name: "trtllm_num_requests_running" },
  { engine: "trtllm", fact: "kvUsage", name: "trtllm_kv_cache_utilization" },
  { engine: "triton", fact: "waiting", name: "nv_trt_llm_request_metrics", only: ["request_type", "waiting"] },
  { engine: "triton", fact: "running", name: "nv_trt_llm_request_metrics", only: ["request_type", "scheduled"] },
  { engine: "triton", fact: "kvUsage", name: "nv_trt_llm_kv_cache_block_metrics", only: ["kv_cache_block_type", "fraction"] },
  // nv_inference_exec_count counts all executions since the start, so Triton without TensorRT-LLM has no series for running.
  { engine: "triton", fact: "waiting", name: "nv_inference_pending_request_count" },
  { engine: "llamacpp", fact: "waiting", name: "llamacpp:requests_deferred" },
  { engine: "llamacpp", fact: "running", name: "llamacpp:requests_processing" },
];

export default defineSource({
  type: "metrics",
  summary: "Reads a replica's Prometheus metrics: queue depth, running requests, KV-cache use and size, adapters in use, sleep.",
  runsByDefault: true,
  reports: ["waiting", "running", "kvUsage"],
  options,
  tls: ({ tls }) => tls,
  create(settings, host) {
    const { path, periodMs, idlePeriodMs, engine } = settings;
    const origin = originAt(settings, host.name);
    const series = SERIES.filter((one) => engine === "auto" || one.engine === engine);
    const counts = new Set(series.map(({ name }) => name));
    const facts = new Set(EngineFactsReader.namesOf(engine));
    return {
      path,
      periodMs,
      idlePeriodMs,
      ...(origin && { origin }),
      read: (body) => readFacts(body, series, { counts, facts }),
    };
  },
});

type SeriesNames = Readonly<Record<"counts" | "facts", ReadonlySet<string>>>;

function readFacts(text: string, series: readonly Series[], names: SeriesNames): EndpointFacts {
  const tallies = series.map(() => new EngineTally());
  const engineFacts = new EngineFactsReader();
  readSamples(
    text,
    (name) => names.counts.has(name) || names.facts.has(name),
    (name, labels, value) => {
      if (!Number.isFinite(value) || value < 0) return;
      if (names.facts.has(name)) engineFacts.note(name, labels, value);
      for (let index = 0; index < series.length; index++) {
        const { name: wanted, only } = series[index]!;
        if (wanted !== name || (only !== undefined && labels.get(only[0]) !== only[1])) continue;
        tallies[index]!.add(labels, value);
      }
    },
  );
  const facts: { -readonly [Fact in Series["fact"]]?: number } = {};
  for (let index = 0; index < series.length; index++) {
    const { fact } = series[index]!;
    const told = fact === "kvUsage" ? tallies[index]!.mean() : tallies[index]!.sum();
    if (told !== undefined) facts[fact] ??= fact === "kvUsage" ? Math.min(1, told) : told;
  }
  if (Object.keys(facts).length === 0) throw new Error(NOTHING_KNOWN);
  return { ...facts, ...engineFacts.facts() };
}

const NOTHING_KNOWN =
  "The metrics have no series of vLLM, SGLang, TensorRT-LLM, Triton or llama.cpp that counts requests; " +
  "start the engine with its metrics on (SGLang --enable-metrics, llama.cpp --metrics), " +
  "or remove the metrics source from the config";
