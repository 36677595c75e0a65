import { gzipSync } from "node:zlib";

/** A request for the model that the documents' rewrite is about. */
export const REQUEST_BODY = JSON.stringify({
  model: "food-review",
  messages: [{ role: "user", content: "Hello" }],
  max_tokens: 1,
});

const REWRITE = `apiVersion: llm-d.ai/v1alpha2
kind: InferenceModelRewrite
metadata: { name: food-review }
spec:
  poolRef: { name: llama }
  rules:
    - matches: [{ model: { value: food-review } }]
      targets: [{ modelRewrite: food-review-v1, weight: 90 }, { modelRewrite: food-review-v2, weight: 10 }]
`;

/** What the documents' commands read, by name. */
export function documentFiles(replicas: readonly { readonly url: string }[]): Readonly<Record<string, string | Uint8Array>> {
  const router = routerConfig(replicas);
  const trace = traceLines();
  return {
    ...{ "signalbox.yaml": router, FILE: router, "food-review.yaml": REWRITE, "rewrite.yaml": REWRITE, "keys.yaml": "[]\n" },
    ...{ "a.yaml": router, "b.yaml": router, "other.yaml": router, "alone.yaml": router },
    "pairs.yaml": `${router}  disaggregation: {}\n`,
    "body.json": REQUEST_BODY.replace("food-review", "llama"),
    "sessions.jsonl": sessionLines(),
    ...{ TRACE: trace, "trace.jsonl.gz": gzipSync(trace) },
    "access.log": accessLog(),
    "litellm.yaml":
      "model_list: [{ model_name: llama, litellm_params: { model: openai/llama, api_base: http://gpu1:8000/v1 } }]\n",
    "start-router.sh": "vllm-router --worker-urls http://gpu1:8000 --policy cache_aware\n",
    "epp-config.yaml": `apiVersion: inference.networking.x-k8s.io/v1alpha1
kind: EndpointPickerConfig
plugins: [{ type: prefix-cache-scorer }, { type: max-score-picker }, { type: single-profile-handler }]
schedulingProfiles: [{ name: default, plugins: [{ pluginRef: prefix-cache-scorer }, { pluginRef: max-score-picker }] }]
`,
  };
}

function routerConfig(replicas: readonly { readonly url: string }[]): string {
  const endpoints = replicas.map(({ url }, index) => `{ name: gpu${index + 1}-8000, url: "${url}" }`);
  return `apiVersion: signalbox/v1
kind: Router
spec:
  pool: { name: llama, endpoints: [${endpoints}] }
  sessions: {}
`;
}

/** As Mooncake's. */
function traceLines(): string {
  return eightLines((index) => ({
    timestamp: 400 * index,
    input_length: 1_000,
    output_length: 20,
    hash_ids: [index % 6, 1_000 + index],
  }));
}

/** Four sessions of two turns. */
function sessionLines(): string {
  return eightLines((index) => {
    const isFirst = index % 2 === 0;
    return {
      ...{ session: `s${index >> 1}`, turn: isFirst ? 0 : 1, think_ms: isFirst ? 0 : 600_000, start_ms: 0 },
      input_length: isFirst ? 1_000 : 1_500,
      output_length: 20,
      hash_ids: isFirst ? [index, 9] : [index - 1, 9, 8],
    };
  });
}

/** Of two replicas, recorded with "replay: true": what the readers of such a log look at. */
function accessLog(): string {
  return eightLines((index) => ({
    time: new Date(Date.UTC(2030, 0, 1) + 400 * index).toISOString(),
    ...{ method: "POST", path: "/v1/chat/completions", status: 200, model: "llama" },
    endpoint: `gpu${(index % 2) + 1}-8000`,
    ...{ durationMs: 300, firstByteMs: 100, requestBytes: 2_000, responseBytes: 900, stream: true },
    ...{ promptTokens: 500, outputTokens: 20, prefixBlockTokens: 256, prefixHashes: `0000000${index % 4}1000000${index}` },
  }));
}

function eightLines(lineAt: (index: number) => object): string {
  return Array.from({ length: 8 }, (_, index) => `${JSON.stringify(lineAt(index))}\n`).join("");
}
