import { Bounds, Histogram } from "../../../core/contract/histogram.ts";
import type { Engine } from "./engine.ts";
import type { MockSettings } from "./options.ts";
import { TRANSFER_BOUNDS_S, type Transfers } from "./transfer/transfers.ts";

/** Upper bounds of the time-to-first-token histogram, in seconds. */
const FIRST_TOKEN_BOUNDS_S = [0.001, 0.01, 0.1, 0.5, 1, 5, 20];
/** Most combinations of adapters that are kept. */
const MAX_ADAPTER_SERIES = 64;

const EXTERNAL_QUERIES =
  "External prefix cache queries from KV connector cross-instance cache sharing, in terms of number of queried tokens.";
const EXTERNAL_HITS =
  "External prefix cache hits from KV connector cross-instance cache sharing, in terms of number of cached tokens.";

type Labels = Readonly<Record<string, string>>;
type Sample = readonly [value: number, labels: Labels, suffix?: string];
type Family = readonly [name: string, type: string, help: string, samples: readonly Sample[]];

/** The metrics text of /metrics, with vLLM's names and labels. */
export class Metrics {
  readonly firstTokenS = new Histogram(new Bounds(FIRST_TOKEN_BOUNDS_S));
  /** Responses by their finish reason. */
  readonly finished = { stop: 0, length: 0 };
  readonly #settings: MockSettings;
  readonly #engine: Engine;
  readonly #transfers: Transfers;
  /** When each combination of adapters was last in use, in seconds since 1970. Like vLLM, the text lists old combinations too. */
  readonly #adapterSeries = new Map<string, number>();

  constructor(settings: MockSettings, engine: Engine, transfers: Transfers) {
    this.#settings = settings;
    this.#engine = engine;
    this.#transfers = transfers;
  }

  /** A request entered or left the engine. */
  adaptersChanged(): void {
    const key = this.#engine.adapters.join(",");
    this.#adapterSeries.delete(key);
    this.#adapterSeries.set(key, this.#settings.clock.wall() / 1000);
    const oldest = this.#adapterSeries.keys().next().value;
    if (this.#adapterSeries.size > MAX_ADAPTER_SERIES && oldest !== undefined) this.#adapterSeries.delete(oldest);
  }

  /** The metrics text, in the Prometheus format. */
  page(): string {
    const { totals, cache, running, waiting, deferred, preemptions } = this.#engine;
    const { model, isEmbedding, blockTokens, kvTokens, transfer, maxLoras } = this.#settings;
    const own = { engine: "0", model_name: model };
    const one = (value: number, more: Labels = {}): Sample => [value, { ...own, ...more }];
    const { stop, length } = this.finished;
    const finished = [
      one(stop, { finished_reason: "stop" }),
      one(length, { finished_reason: "length" }),
      one(totals.aborted, { finished_reason: "abort" }),
    ];
    const waitingFor = [one(waiting, { reason: "capacity" }), one(deferred, { reason: "deferred" })];
    const bySource = [
      one(totals.promptTokens - totals.cachedTokens - totals.receivedTokens, { source: "local_compute" }),
      one(totals.cachedTokens, { source: "local_cache_hit" }),
      one(totals.receivedTokens, { source: "external_kv_transfer" }),
    ];
    const firstTokens = histogramSamples(this.firstTokenS, FIRST_TOKEN_BOUNDS_S, own);
    const queries = "Prefix cache queries, in terms of number of queried tokens.";
    // vLLM lists an adapter with any request in both labels.
    const adapters = [...this.#adapterSeries].map(([names, atS]): Sample => {
      return [atS, { max_lora: String(maxLoras), running_lora_adapters: names, waiting_lora_adapters: names }];
    });
    const config = {
      block_size: String(blockTokens),
      cache_dtype: "auto",
      enable_prefix_caching: "True",
      engine: "0",
      kv_cache_size_tokens: String(kvTokens),
      num_cpu_blocks: "None",
      num_gpu_blocks: String(cache.blocks),
      sliding_window: "None",
    };
    const families: readonly Family[] = [
      ["num_requests_running", "gauge", "Number of requests in model execution batches.", [one(running)]],
      ["num_requests_waiting", "gauge", "Number of requests waiting to be processed.", [one(waiting + deferred)]],
      ["num_requests_waiting_by_reason", "gauge", "Number of waiting requests by reason.", waitingFor],
      ["kv_cache_usage_perc", "gauge", "KV-cache usage. 1 means 100 percent usage.", [one(cache.usage)]],
      ["num_preemptions_total", "counter", "Cumulative number of preemption from the engine.", [one(preemptions)]],
      ["prefix_cache_queries_total", "counter", queries, [one(totals.prefixQueries)]],
      ["prefix_cache_hits_total", "counter", "Prefix cache hits, in terms of number of cached tokens.", [one(totals.prefixHits)]],
      ["prompt_tokens_total", "counter", "Number of prefill tokens processed.", [one(totals.promptTokens)]],
      ["prompt_tokens_by_source_total", "counter", "Number of prompt tokens by source.", bySource],
      ["external_prefix_cache_queries_total", "counter", EXTERNAL_QUERIES, [one(totals.externalQueries)]],
      ["external_prefix_cache_hits_total", "counter", EXTERNAL_HITS, [one(totals.externalHits)]],
      ["generation_tokens_total", "counter", "Number of generation tokens processed.", [one(totals.generatedTokens)]],
      ["request_success_total", "counter", "Count of successfully processed requests.", finished],
      ["time_to_first_token_seconds", "histogram", "Histogram of time to first token in seconds.", firstTokens],
      ...(isEmbedding ? [] : ([["lora_requests_info", "gauge", "Running stats on lora requests.", adapters]] as const)),
      ["cache_config_info", "gauge", "Information of the LLMEngine CacheConfig", [[1, config]]],
      ...(transfer === "nixl" || transfer === "side-car" ? this.#nixl(own) : []),
    ];
    return families.map(familyText).join("");
  }

  /** As the NIXL connector has them. */
  #nixl(own: Labels): readonly Family[] {
    const { transferS, failed, held } = this.#transfers;
    const times = histogramSamples(transferS, TRANSFER_BOUNDS_S, own);
    return [
      ["nixl_xfer_time_seconds", "histogram", "Histogram of transfer duration for NIXL KV Cache transfers.", times],
      ["nixl_num_failed_transfers_total", "counter", "Number of failed NIXL KV Cache transfers.", [[failed, own]]],
      ["nixl_num_kv_expired_reqs_total", "counter", "Number of requests that had their KV expire.", [[held.totals.expired, own]]],
    ];
  }
}

function histogramSamples({ counts, count, sum }: Histogram, bounds: readonly number[], own: Labels): readonly Sample[] {
  let below = 0;
  const buckets = [...bounds, Number.POSITIVE_INFINITY].map((bound, index): Sample => {
    below += counts[index]!;
    return [below, { ...own, le: number(bound) }, "_bucket"];
  });
  return [...buckets, [count, own, "_count"], [sum, own, "_sum"]];
}

function familyText([name, type, help, samples]: Family): string {
  const lines = samples.map(([value, labels, suffix = ""]) => {
    const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
    return `vllm:${name}${suffix}{${pairs.join(",")}} ${number(value)}\n`;
  });
  return `# HELP vllm:${name} ${help}\n# TYPE vllm:${name} ${type}\n${lines.join("")}`;
}

const escaped = (text: string) => text.replace(/[\\"]/g, "\\$&").replace(/\n/g, "\\n");

/** Formats a number as Python does: whole ones with a fraction. */
function number(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return "+Inf";
  return Number.isInteger(value) ? `${value}.0` : String(value);
}
