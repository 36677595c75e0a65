import type { EndpointFacts } from "../../core/contract/source.ts";
import { EngineTally } from "./engine-tally.ts";
import type { SampleLabels } from "./prometheus-text.ts";

const ADAPTERS = "vllm:lora_requests_info";
/** 1 for the state that an engine is in: awake, weights_offloaded or discard_all. */
const SLEEP_STATE = "vllm:engine_sleep_state";
/** Running requests whose KV blocks another one took, and requests that a queue limit refused. */
const SETBACKS: readonly string[] = ["vllm:num_preemptions_total", "vllm:admission_rejections_total"];
const VLLM_CACHE = "vllm:cache_config_info";
/** Once for all its engines, and gone from newer versions. */
const SGLANG_CACHE = "sglang:cache_config_info";
const SGLANG_TOKENS = "sglang:max_total_num_tokens";

/** Series that give the tokens per block and the number of blocks, by engine. */
const CACHE_PARTS: Readonly<Record<string, { readonly tokensPer: string; readonly blocks: string }>> = {
  trtllm: { tokensPer: "trtllm_kv_cache_tokens_per_block", blocks: "trtllm_kv_cache_max_blocks" },
  triton: { tokensPer: "nv_trt_llm_kv_cache_block_metrics/tokens_per", blocks: "nv_trt_llm_kv_cache_block_metrics/max" },
};

const BLOCK_TYPE = "kv_cache_block_type";

const NAMES: Readonly<Record<string, readonly string[]>> = {
  vllm: [ADAPTERS, SLEEP_STATE, VLLM_CACHE, ...SETBACKS],
  sglang: [SGLANG_TOKENS, SGLANG_CACHE],
  trtllm: Object.values(CACHE_PARTS["trtllm"]!),
  triton: ["nv_trt_llm_kv_cache_block_metrics"],
};

/** Gathers the facts that metrics give in labels, or by several series together, from the samples of one replica's metrics. */
export class EngineFactsReader {
  /** The newest adapter series: vLLM keeps old combinations in its metrics, and the value of each is its time. */
  #adapters: { readonly labels: SampleLabels; readonly atS: number } | undefined;
  /** Summed over the engine processes behind the port. */
  #cacheTokens = 0;
  /** Of one engine at least; undefined if the metrics do not say. */
  #isAsleep: boolean | undefined;
  /** Summed over engine processes and reasons. */
  #setbacks: number | undefined;
  readonly #parts = new Map<string, EngineTally>();

  /** Names of the series it reads; of every engine for "auto". */
  static namesOf(engine: string): readonly string[] {
    return engine === "auto" ? Object.values(NAMES).flat() : (NAMES[engine] ?? []);
  }

  note(name: string, labels: SampleLabels, value: number): void {
    if (name === ADAPTERS) {
      if (this.#adapters === undefined || value > this.#adapters.atS) this.#adapters = { labels, atS: value };
    } else if (name === SLEEP_STATE) {
      if (labels.get("sleep_state") === "awake") this.#isAsleep = this.#isAsleep === true || value === 0;
    } else if (SETBACKS.includes(name)) {
      this.#setbacks = (this.#setbacks ?? 0) + value;
    } else if (name === VLLM_CACHE) {
      this.#cacheTokens += count(labels, "kv_cache_size_tokens") || count(labels, "block_size") * count(labels, "num_gpu_blocks");
    } else if (name === SGLANG_CACHE) {
      this.#cacheTokens += count(labels, "page_size") * count(labels, "num_pages");
    } else {
      const part = labels.get(BLOCK_TYPE);
      const key = part === undefined ? name : `${name}/${part}`;
      const tally = this.#parts.get(key) ?? new EngineTally();
      this.#parts.set(key, tally);
      tally.add(labels, value, BLOCK_TYPE);
    }
  }

  facts(): EndpointFacts {
    const kvCapacityTokens = this.#parts.get(SGLANG_TOKENS)?.sum() || this.#cacheTokens || this.#productOfParts();
    const adapterUse = this.#adapterUse();
    return {
      ...(kvCapacityTokens > 0 && { kvCapacityTokens }),
      ...(adapterUse && { adapterUse }),
      ...(this.#isAsleep !== undefined && { isAsleep: this.#isAsleep }),
      ...(this.#setbacks !== undefined && { setbacks: this.#setbacks }),
    };
  }

  #adapterUse(): EndpointFacts["adapterUse"] {
    if (this.#adapters === undefined) return undefined;
    const { labels } = this.#adapters;
    return {
      running: adapterNames(labels, "running_lora_adapters"),
      waiting: adapterNames(labels, "waiting_lora_adapters"),
      max: count(labels, "max_lora"),
    };
  }

  #productOfParts(): number {
    for (const { tokensPer, blocks } of Object.values(CACHE_PARTS)) {
      const sizes = this.#parts.get(tokensPer)?.byEngine();
      const counts = this.#parts.get(blocks)?.byEngine();
      const tokens = [...(sizes ?? [])].reduce((sum, [engine, size]) => sum + size * (counts?.get(engine) ?? 0), 0);
      if (tokens > 0) return tokens;
    }
    return 0;
  }
}

/** A label's number; 0 if there is none (Python writes "None"). */
function count(labels: SampleLabels, label: string): number {
  const number = Number(labels.get(label));
  return Number.isFinite(number) && number > 0 ? number : 0;
}

function adapterNames(labels: SampleLabels, label: string): ReadonlySet<string> {
  const names = (labels.get(label) ?? "").split(",").map((name) => name.trim());
  return new Set(names.filter((name) => name !== ""));
}
