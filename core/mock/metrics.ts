import type { FinishReason } from "./call.ts";
import type { Engine } from "./engine.ts";
import type { MockSettings } from "./options.ts";

/** Upper bounds of the time-to-first-token histogram, in seconds. */
const FIRST_TOKEN_BOUNDS_S = [0.001, 0.01, 0.1, 0.5, 1, 5, 20];
/** Most combinations of adapters that are kept. */
const MAX_ADAPTER_SERIES = 64;

/** The metrics text of /metrics, with vLLM's names and labels. */
export class Metrics {
  readonly #settings: MockSettings;
  readonly #engine: Engine;
  readonly #firstTokenCounts = new Array<number>(FIRST_TOKEN_BOUNDS_S.length + 1).fill(0);
  #firstTokenSumS = 0;
  readonly #finished = { stop: 0, length: 0 };
  /** When each combination of adapters was last in use, in seconds since 1970. Like vLLM, the text lists old combinations too. */
  readonly #adapterSeries = new Map<string, number>();

  constructor(settings: MockSettings, engine: Engine) {
    this.#settings = settings;
    this.#engine = engine;
  }

  firstToken(ms: number): void {
    const place = FIRST_TOKEN_BOUNDS_S.findIndex((bound) => ms / 1000 <= bound);
    this.#firstTokenCounts[place < 0 ? FIRST_TOKEN_BOUNDS_S.length : place]! += 1;
    this.#firstTokenSumS += ms / 1000;
  }

  finished(reason: FinishReason): void {
    this.#finished[reason] += 1;
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
    const { totals, cache, running, waiting } = this.#engine;
    const lines = [
      ...this.#gauge("num_requests_running", "Number of requests in model execution batches.", running),
      ...this.#gauge("num_requests_waiting", "Number of requests waiting to be processed.", waiting),
      "# HELP vllm:num_requests_waiting_by_reason Number of waiting requests by reason.",
      "# TYPE vllm:num_requests_waiting_by_reason gauge",
      this.#sample("num_requests_waiting_by_reason", waiting, { reason: "capacity" }),
      this.#sample("num_requests_waiting_by_reason", 0, { reason: "deferred" }),
      ...this.#gauge("kv_cache_usage_perc", "KV-cache usage. 1 means 100 percent usage.", cache.usage),
      ...this.#counter(
        "prefix_cache_queries",
        "Prefix cache queries, in terms of number of queried tokens.",
        totals.prefixQueries,
      ),
      ...this.#counter("prefix_cache_hits", "Prefix cache hits, in terms of number of cached tokens.", totals.prefixHits),
      ...this.#counter("prompt_tokens", "Number of prefill tokens processed.", totals.promptTokens),
      ...this.#counter("generation_tokens", "Number of generation tokens processed.", totals.generatedTokens),
      "# HELP vllm:request_success_total Count of successfully processed requests.",
      "# TYPE vllm:request_success_total counter",
      this.#sample("request_success_total", this.#finished.stop, { finished_reason: "stop" }),
      this.#sample("request_success_total", this.#finished.length, { finished_reason: "length" }),
      this.#sample("request_success_total", totals.aborted, { finished_reason: "abort" }),
      ...this.#firstTokenLines(),
      ...(this.#settings.isEmbedding ? [] : this.#adapterLines()),
      ...this.#cacheLines(),
    ];
    return `${lines.join("\n")}\n`;
  }

  #gauge(name: string, help: string, value: number): string[] {
    return [`# HELP vllm:${name} ${help}`, `# TYPE vllm:${name} gauge`, this.#sample(name, value)];
  }

  #counter(name: string, help: string, value: number): string[] {
    const full = `${name}_total`;
    return [`# HELP vllm:${full} ${help}`, `# TYPE vllm:${full} counter`, this.#sample(full, value)];
  }

  #sample(name: string, value: number, more: Readonly<Record<string, string>> = {}): string {
    return `vllm:${name}${labels({ engine: "0", model_name: this.#settings.model, ...more })} ${number(value)}`;
  }

  #firstTokenLines(): string[] {
    const name = "time_to_first_token_seconds";
    const lines = [`# HELP vllm:${name} Histogram of time to first token in seconds.`, `# TYPE vllm:${name} histogram`];
    let count = 0;
    [...FIRST_TOKEN_BOUNDS_S, Number.POSITIVE_INFINITY].forEach((bound, index) => {
      count += this.#firstTokenCounts[index] ?? 0;
      lines.push(this.#sample(`${name}_bucket`, count, { le: number(bound) }));
    });
    return [...lines, this.#sample(`${name}_count`, count), this.#sample(`${name}_sum`, this.#firstTokenSumS)];
  }

  #adapterLines(): string[] {
    const name = "vllm:lora_requests_info";
    const series = [...this.#adapterSeries].map(([names, atS]) => {
      // vLLM lists an adapter with any request in both labels.
      const shown = { max_lora: "2", running_lora_adapters: names, waiting_lora_adapters: names };
      return `${name}${labels(shown)} ${number(atS)}`;
    });
    return [`# HELP ${name} Running stats on lora requests.`, `# TYPE ${name} gauge`, ...series];
  }

  #cacheLines(): string[] {
    const name = "vllm:cache_config_info";
    const config = {
      block_size: String(this.#settings.blockTokens),
      cache_dtype: "auto",
      enable_prefix_caching: "True",
      engine: "0",
      kv_cache_size_tokens: String(this.#settings.kvTokens),
      num_cpu_blocks: "None",
      num_gpu_blocks: String(this.#engine.cache.blocks),
      sliding_window: "None",
    };
    return [`# HELP ${name} Information of the LLMEngine CacheConfig`, `# TYPE ${name} gauge`, `${name}${labels(config)} 1.0`];
  }
}

function labels(values: Readonly<Record<string, string>>): string {
  const escaped = (value: string) => value.replace(/[\\"]/g, "\\$&").replace(/\n/g, "\\n");
  return `{${Object.entries(values)
    .map(([name, value]) => `${name}="${escaped(value)}"`)
    .join(",")}}`;
}

/** Formats a number as Python does: whole ones with a fraction. */
function number(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return "+Inf";
  return Number.isInteger(value) ? `${value}.0` : String(value);
}
