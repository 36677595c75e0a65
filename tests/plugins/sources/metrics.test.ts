import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import type { EndpointFacts } from "../../../core/contract/source.ts";
import metrics from "../../../plugins/sources/metrics.ts";
import { makeEndpoint } from "../../support/endpoints.ts";
import { createPlugin, issuesOf } from "../../support/plugins.ts";

const REPLICA = makeEndpoint(0);
const VLLM = `# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="tiny"} 3.0
# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_waiting{engine="0",model_name="tiny"} 40.0
vllm:num_requests_waiting_by_reason{engine="0",model_name="tiny",reason="capacity"} 2.0
vllm:num_requests_waiting_by_reason{engine="0",model_name="tiny",reason="deferred"} 38.0
# TYPE vllm:kv_cache_usage_perc gauge
vllm:kv_cache_usage_perc{engine="0",model_name="tiny"} 0.25
vllm:cache_config_info{block_size="32",extra="{\\"a\\": 1, \\"b\\": \\"x,y\\"}",engine="0"} 1.0
vllm:prompt_tokens_created{engine="0"} 1.7627e+09
vllm:time_to_first_token_seconds_bucket{engine="0",le="+Inf",model_name="tiny"} 12.0
`;
const TWO_ENGINES = `vllm:num_requests_running{engine="0"} 3
vllm:num_requests_running{engine="1"} 4
vllm:num_requests_waiting{engine="0"} 0
vllm:num_requests_waiting{engine="1"} 5
vllm:kv_cache_usage_perc{engine="0"} 0.2
vllm:kv_cache_usage_perc{engine="1"} 0.6
`;
const BY_REASON = `vllm:num_requests_waiting_by_reason{engine="1",reason="deferred"} 9
vllm:num_requests_waiting_by_reason{engine="1",reason="capacity"} 0
vllm:num_requests_waiting_by_reason{engine="0",reason="capacity"} 3
vllm:num_requests_waiting{engine="0"} 3
vllm:num_requests_waiting{engine="1"} 9
`;
const SGLANG = `sglang:num_running_reqs{model_name="m",tp_rank="0"} 7.0
sglang:num_queue_reqs{model_name="m",tp_rank="0"} 1.0
sglang:token_usage{model_name="m",tp_rank="0"} 0.5
sglang:cache_hit_rate{model_name="m"} 0.9
`;
/** As with --enable-priority-scheduling, --dp-size 2 and --enable-metrics-for-all-schedulers. */
const sglangRank = (dp: number, tp: number, [total, high, low]: readonly number[]) => {
  const labels = `dp_rank="${dp}",engine_type="unified",model_name="m",moe_ep_rank="${tp}",pp_rank="0"`;
  const at = (priority: string) => `{${labels},priority="${priority}",tp_rank="${tp}"}`;
  return `sglang:num_queue_reqs${at("1")} ${high}
sglang:num_queue_reqs${at("")} ${total}
sglang:num_queue_reqs${at("5")} ${low}
sglang:num_running_reqs${at("")} ${total! * 2}
sglang:num_running_reqs${at("5")} ${total! * 2}
sglang:token_usage${at("")} ${total! / 10}
sglang:max_total_num_tokens${at("")} 200000.0
`;
};
const SGLANG_RANKS =
  sglangRank(0, 0, [3, 1, 2]) +
  sglangRank(0, 1, [3, 1, 2]) +
  sglangRank(1, 2, [5, 5, 0]) +
  sglangRank(1, 3, [4, 4, 0]) +
  'sglang:cache_config_info{num_pages="200000",page_size="1"} 1.0\n';
const PRIORITIES_ALONE = `sglang:num_queue_reqs{model_name="m",priority="1",tp_rank="0"} 2
sglang:num_queue_reqs{model_name="m",priority="None",tp_rank="0"} 3
sglang:num_queue_reqs{model_name="m",priority="1",tp_rank="1"} 1
`;
const TRTLLM_PIDS = `trtllm_num_requests_waiting{engine_type="pytorch",model_name="m",pid="1"} 2
trtllm_num_requests_waiting{engine_type="pytorch",model_name="m",pid="77"} 2
trtllm_kv_cache_utilization{engine_type="pytorch",model_name="m",pid="1"} 0.5
trtllm_kv_cache_utilization{engine_type="pytorch",model_name="m",pid="77"} 0.0
`;
const TRTLLM = "trtllm_num_requests_running 1\ntrtllm_num_requests_waiting 2\ntrtllm_kv_cache_utilization 0.75\n";
const TRITON_LLM = `nv_inference_pending_request_count{model="m"} 90
nv_inference_exec_count{model="m"} 12345
nv_trt_llm_request_metrics{model="m",request_type="waiting"} 4
nv_trt_llm_request_metrics{model="m",request_type="scheduled"} 6
nv_trt_llm_request_metrics{model="m",request_type="max"} 99
nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type="fraction",model="m"} 0.125
nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type="tokens_per",model="m"} 64
`;
const TRITON =
  'nv_inference_pending_request_count{model="a"} 2\nnv_inference_pending_request_count{model="b"} 3\nnv_inference_exec_count{model="a"} 9\n';
const LLAMACPP = "llamacpp:requests_processing 2\nllamacpp:requests_deferred 1\nllamacpp:prompt_tokens_total 500\n";

describe("the facts in each engine's metrics", () => {
  const cases: readonly [name: string, text: string, facts: EndpointFacts, engine: string][] = [
    ["vLLM", VLLM, { waiting: 2, running: 3, kvUsage: 0.25 }, "vllm"],
    ["vLLM with two engines behind one port", TWO_ENGINES, { waiting: 5, running: 7, kvUsage: 0.4 }, "vllm"],
    ["vLLM that defers requests at one engine, and has others wait for room at another", BY_REASON, { waiting: 3 }, "vllm"],
    ["older vLLM", "vllm:gpu_cache_usage_perc 0.5\n", { kvUsage: 0.5 }, "vllm"],
    ["vLLM that has both names", "vllm:gpu_cache_usage_perc 0.9\nvllm:kv_cache_usage_perc 0.1\n", { kvUsage: 0.1 }, "vllm"],
    ["SGLang", SGLANG, { waiting: 1, running: 7, kvUsage: 0.5 }, "sglang"],
    [
      "SGLang with priorities, data-parallel engines and all their ranks",
      SGLANG_RANKS,
      { waiting: 8, running: 16, kvUsage: 0.4, kvCapacityTokens: 400_000 },
      "sglang",
    ],
    ["SGLang's priorities without a total", PRIORITIES_ALONE, { waiting: 5 }, "sglang"],
    ["trtllm-serve with several processes that publish", TRTLLM_PIDS, { waiting: 2, kvUsage: 0.5 }, "trtllm"],
    ["trtllm-serve", TRTLLM, { waiting: 2, running: 1, kvUsage: 0.75 }, "trtllm"],
    ["Triton with TensorRT-LLM", TRITON_LLM, { waiting: 4, running: 6, kvUsage: 0.125 }, "triton"],
    ["Triton with other models", TRITON, { waiting: 5 }, "triton"],
    ["llama.cpp", LLAMACPP, { waiting: 1, running: 2 }, "llamacpp"],
    [
      "values that are no counts",
      "vllm:num_requests_waiting NaN\nvllm:num_requests_running +Inf\nvllm:kv_cache_usage_perc 0.5\n",
      { kvUsage: 0.5 },
      "vllm",
    ],
    ["a share above 1", "sglang:token_usage 1.02\n", { kvUsage: 1 }, "sglang"],
  ];
  for (const [name, text, facts, engine] of cases) {
    it(name, () => {
      assert.deepEqual(createPlugin(metrics).read(text, REPLICA), facts);
      assert.deepEqual(createPlugin(metrics, { engine }).read(text, REPLICA), facts);
    });
  }
});

const running = "vllm:num_requests_running 1\n";
const adapterLine = (runs: string, waits: string, value: number) =>
  `vllm:lora_requests_info{max_lora="2",running_lora_adapters="${runs}",waiting_lora_adapters="${waits}"} ${value}\n`;

describe("whether the engine sleeps", () => {
  const sleepOf = (...lines: readonly string[]) =>
    createPlugin(metrics).read(["vllm:num_requests_running 0", ...lines, ""].join("\n"), REPLICA).isAsleep;
  const awake = (value: number, engine = 0) => `vllm:engine_sleep_state{engine="${engine}",sleep_state="awake"} ${value}`;
  const rows: readonly (readonly [name: string, lines: readonly string[], isAsleep: boolean | undefined])[] = [
    ["awake", [awake(1), 'vllm:engine_sleep_state{engine="0",sleep_state="discard_all"} 0'], false],
    ["asleep", [awake(0), 'vllm:engine_sleep_state{engine="0",sleep_state="discard_all"} 1'], true],
    ["one of two engines sleeps", [awake(0, 0), awake(1, 1)], true],
    ["it does not say", [], undefined],
    ["it says so in other words", ["vllm:engine_sleep_state 1"], undefined],
  ];
  for (const [name, lines, isAsleep] of rows) it(name, () => assert.equal(sleepOf(...lines), isAsleep));
});

it("adds up what an engine has refused or put back, over its processes and reasons", () => {
  const lines = [
    'vllm:num_preemptions_total{engine="0"} 2',
    'vllm:num_preemptions_total{engine="1"} 3',
    'vllm:admission_rejections_total{reason="queue_full"} 4',
  ];
  const read = (text: string) => createPlugin(metrics).read(running + text, REPLICA).setbacks;
  assert.deepEqual([read(lines.join("\n")), read("")], [9, undefined]);
});

describe("adapters in use", () => {
  const cases: readonly [name: string, lines: string, running: readonly string[], waiting: readonly string[]][] = [
    [
      "the newest series counts, wherever it stands",
      adapterLine("a", "", 5) + adapterLine("b, c", "d", 7.5) + adapterLine("", "", 6),
      ["b", "c"],
      ["d"],
    ],
    ["none in use", adapterLine("", "", 9), [], []],
  ];
  for (const [name, lines, runs, waits] of cases) {
    it(name, () => {
      const { adapterUse } = createPlugin(metrics).read(running + lines, REPLICA);
      assert.deepEqual(adapterUse, { running: new Set(runs), waiting: new Set(waits), max: 2 });
    });
  }

  it("no such series", () => assert.equal(createPlugin(metrics).read(running, REPLICA).adapterUse, undefined));
});

describe("the size of the KV cache", () => {
  const vllm = (labels: string) => `${running}vllm:cache_config_info{${labels}} 1\n`;
  const sglang = "sglang:num_running_reqs 1\n";
  const cases: readonly [name: string, text: string, tokens: number | undefined][] = [
    ["as vLLM reports it", vllm('block_size="16",kv_cache_size_tokens="100000",num_gpu_blocks="6250"'), 100_000],
    ["blocks x block size", vllm('block_size="16",num_gpu_blocks="6250"'), 100_000],
    [
      "two engines behind one port",
      vllm('block_size="16",engine="0",num_gpu_blocks="10"') + vllm('block_size="16",engine="1",num_gpu_blocks="20"'),
      480,
    ],
    ["not known yet", vllm('block_size="16",num_gpu_blocks="None"'), undefined],
    ["none", vllm('block_size="16",num_gpu_blocks="0"'), undefined],
    ["SGLang", `${sglang}sglang:cache_config_info{num_pages="512",page_size="64"} 1.0\n`, 32_768],
    ["trtllm-serve", `${TRTLLM}trtllm_kv_cache_tokens_per_block 32\ntrtllm_kv_cache_max_blocks 1000\n`, 32_000],
    [
      "Triton with TensorRT-LLM",
      `${TRITON_LLM}nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type="max",model="m"} 500\n`,
      32_000,
    ],
    [
      "SGLang, as newer versions say it",
      `${sglang}sglang:max_total_num_tokens{moe_ep_rank="0",pp_rank="0",tp_rank="0"} 200000.0\n`,
      200_000,
    ],
    [
      "two models of Triton, each with its own blocks",
      [
        TRITON_LLM,
        'nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type="max",model="m"} 500',
        'nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type="tokens_per",model="n"} 32',
        'nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type="max",model="n"} 100\n',
      ].join("\n"),
      35_200,
    ],
    ["not reported", LLAMACPP, undefined],
  ];
  for (const [name, text, tokens] of cases)
    it(name, () => assert.equal(createPlugin(metrics).read(text, REPLICA).kvCapacityTokens, tokens));

  it("of another engine is not read", () => {
    const text = `${sglang}${vllm('block_size="16",num_gpu_blocks="6250"')}`;
    assert.deepEqual(createPlugin(metrics, { engine: "sglang" }).read(text, REPLICA), { running: 1 });
  });
});

test("with a named engine, series of others are ignored", () => {
  assert.throws(() => createPlugin(metrics, { engine: "sglang" }).read(VLLM, REPLICA), /no series of vLLM, SGLang/);
});

test("metrics without a known series are refused with the way to get some", () => {
  for (const text of ["", "<html>", "go_goroutines 7\n", "vllm:num_requests_waiting NaN\n"]) {
    assert.throws(() => createPlugin(metrics).read(text, REPLICA), /start the engine with its metrics on/);
  }
});

test("path and periods", () => {
  const { path, periodMs, idlePeriodMs } = createPlugin(metrics);
  assert.deepEqual([path, periodMs, idlePeriodMs], ["/metrics", 1000, 5000]);
  assert.equal(createPlugin(metrics, { path: "/prometheus" }).path, "/prometheus");
  assert.equal(issuesOf(metrics, { engine: "vLLM" }).length, 1);
});
