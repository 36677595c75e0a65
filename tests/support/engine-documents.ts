// What engines answer with 200 where nothing is streamed, with the order of their keys and the white space that they write.

/** Who answers, on which path, and the body. */
export type EngineResponse = readonly [engine: string, path: string, body: string];

const CHAT = "/v1/chat/completions";
const COMPLETIONS = "/v1/completions";
const RESPONSES = "/v1/responses";
const MESSAGES = "/v1/messages";
const COUNT = "/v1/messages/count_tokens";
const EMBEDDINGS = "/v1/embeddings";
const GENERATE = "/inference/v1/generate";

export const vllmResponse = (status: string, output: string, usage: string) =>
  `{"id":"resp_1","created_at":1749994809,"incomplete_details":null,"instructions":null,"metadata":null,"model":"tiny","object":"response","output":${output},"parallel_tool_calls":true,"temperature":1.0,"tool_choice":"auto","tools":[],"top_p":1.0,"background":false,"max_output_tokens":4081,"max_tool_calls":null,"previous_response_id":null,"prompt":null,"reasoning":null,"service_tier":"auto","status":"${status}","text":null,"top_logprobs":null,"truncation":"disabled","usage":${usage},"user":null,"input_messages":null,"output_messages":null}`;
export const ITEM =
  '[{"id":"msg_1","content":[{"annotations":[],"text":"Hi","type":"output_text","logprobs":null}],"role":"assistant","status":"completed","type":"message"}]';
export const ITEM_USAGE =
  '{"input_tokens":15,"input_tokens_details":{"cached_tokens":0},"output_tokens":2,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":17}';

export const ENGINE_DOCUMENTS: readonly EngineResponse[] = [
  [
    "vLLM",
    CHAT,
    '{"id":"chatcmpl-7","object":"chat.completion","created":1749994809,"model":"tiny","choices":[{"index":0,"message":{"role":"assistant","content":"Hi","refusal":null,"annotations":null,"audio":null,"function_call":null,"tool_calls":[],"reasoning":null},"logprobs":null,"finish_reason":"stop","stop_reason":null,"token_ids":null}],"service_tier":null,"system_fingerprint":null,"usage":{"prompt_tokens":9,"total_tokens":11,"completion_tokens":2,"prompt_tokens_details":null},"prompt_logprobs":null,"prompt_token_ids":null,"kv_transfer_params":null}',
  ],
  [
    "vLLM, a tool call without content",
    CHAT,
    '{"id":"chatcmpl-7","object":"chat.completion","created":1,"model":"tiny","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"t1","type":"function","function":{"name":"f","arguments":"{\\"error\\":{\\"a\\":1}}"}}]},"finish_reason":"tool_calls"}],"usage":null}',
  ],
  [
    "vLLM",
    COMPLETIONS,
    '{"id":"cmpl-1","object":"text_completion","created":1,"model":"tiny","choices":[{"index":0,"text":"","logprobs":null,"finish_reason":"length","stop_reason":null,"prompt_logprobs":null}],"usage":{"prompt_tokens":5,"total_tokens":5,"completion_tokens":0}}',
  ],
  [
    "vLLM",
    GENERATE,
    '{"request_id":"generate-tokens-1","model":"tiny","created":1,"usage":null,"prompt_logprobs":null,"prompt_token_ids":null,"choices":[{"index":0,"finish_reason":"length","stop_reason":null,"token_ids":[67,12],"logprobs":null}]}',
  ],
  ["vLLM", RESPONSES, vllmResponse("completed", ITEM, ITEM_USAGE)],
  ["vLLM, in the background", RESPONSES, vllmResponse("queued", "[]", "null")],
  [
    "vLLM",
    MESSAGES,
    '{"id":"chatcmpl-7","type":"message","role":"assistant","content":[{"type":"text","text":"Hi"}],"model":"tiny","stop_reason":"end_turn","usage":{"input_tokens":9,"output_tokens":2}}',
  ],
  [
    "vLLM, an input of a tool that looks like an error",
    MESSAGES,
    '{"id":"m","type":"message","role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{"type":"error","error":{"message":"}"}}}],"model":"tiny","stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":9,"output_tokens":2}}',
  ],
  ["vLLM", COUNT, '{"input_tokens":12,"context_management":null}'],
  [
    "vLLM",
    EMBEDDINGS,
    '{"id":"embd-1","object":"list","created":1,"model":"tiny","data":[{"index":0,"object":"embedding","embedding":[-0.01,0.5]}],"usage":{"prompt_tokens":7,"total_tokens":7,"completion_tokens":0,"prompt_tokens_details":null}}',
  ],
  [
    "vLLM, base64",
    EMBEDDINGS,
    '{"id":"embd-1","object":"list","created":1,"model":"tiny","data":[{"index":0,"object":"embedding","embedding":"AACAPwAAAEA="}],"usage":{"prompt_tokens":7,"total_tokens":7}}',
  ],
  [
    "SGLang",
    CHAT,
    '{"id":"8b2c","object":"chat.completion","created":1,"model":"default","choices":[{"index":0,"message":{"role":"assistant","content":"Hi","reasoning_content":null,"tool_calls":null},"logprobs":null,"finish_reason":"stop","matched_stop":2}],"usage":{"prompt_tokens":9,"total_tokens":11,"completion_tokens":2,"prompt_tokens_details":null},"metadata":{"weight_version":"default"}}',
  ],
  [
    "llama.cpp",
    CHAT,
    '{"choices":[{"finish_reason":"stop","index":0,"message":{"role":"assistant","content":"Hi"}}],"created":1,"model":"gpt-3.5-turbo","system_fingerprint":"b6351-5d804a49","object":"chat.completion","usage":{"completion_tokens":2,"prompt_tokens":9,"total_tokens":11},"id":"chatcmpl-q","timings":{"prompt_n":9,"predicted_n":2}}',
  ],
  [
    "llama.cpp",
    EMBEDDINGS,
    '{"model":"gpt-3.5-turbo","object":"list","usage":{"prompt_tokens":7,"total_tokens":7},"data":[{"embedding":[0.1,-0.2],"index":0,"object":"embedding"}]}',
  ],
  [
    "llama.cpp",
    RESPONSES,
    '{"completed_at":1,"created_at":1,"id":"resp_1","model":"m","object":"response","output":[{"content":[{"annotations":[],"logprobs":[],"text":"Hi","type":"output_text"}],"id":"msg_1","role":"assistant","status":"completed","type":"message"}],"status":"completed","usage":{"input_tokens":9,"output_tokens":2,"total_tokens":11}}',
  ],
  [
    "llama.cpp",
    MESSAGES,
    '{"id":"chatcmpl-q","type":"message","role":"assistant","content":[{"type":"text","text":"Hi"}],"model":"m","stop_reason":"end_turn","stop_sequence":null,"usage":{"cache_read_input_tokens":0,"input_tokens":9,"output_tokens":2}}',
  ],
  ["llama.cpp", COUNT, '{"input_tokens": 12}'],
  [
    "TGI",
    CHAT,
    '{"object":"chat.completion","id":"","created":1,"model":"tiny","system_fingerprint":"3.0.0-native","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"logprobs":null,"finish_reason":"length"}],"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}}',
  ],
  [
    "Ollama",
    CHAT,
    '{"id":"chatcmpl-693","object":"chat.completion","created":1715427619,"model":"mistral:latest","system_fingerprint":"fp_ollama","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}}\n',
  ],
  [
    "Ollama",
    EMBEDDINGS,
    '{"object":"list","data":[{"object":"embedding","embedding":[0.01,-0.02],"index":0}],"model":"all-minilm","usage":{"prompt_tokens":7,"total_tokens":7}}\n',
  ],
  [
    "Ollama",
    RESPONSES,
    '{"id":"resp_1","object":"response","created_at":1,"completed_at":2,"status":"completed","incomplete_details":null,"model":"m","previous_response_id":null,"instructions":null,"output":[{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"Hi","annotations":[],"logprobs":[]}]}],"error":null,"tools":[],"usage":{"input_tokens":9,"output_tokens":2,"total_tokens":11}}\n',
  ],
  [
    "TEI",
    EMBEDDINGS,
    '{"object":"list","data":[{"object":"embedding","embedding":[0.01,-0.02],"index":0}],"model":"BAAI/bge","usage":{"prompt_tokens":7,"total_tokens":7}}',
  ],
  [
    "Python's own JSON",
    CHAT,
    '{"id": "1", "object": "chat.completion", "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}], "usage": null}',
  ],
  [
    "indented JSON",
    CHAT,
    JSON.stringify(
      { id: "1", choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }] },
      undefined,
      2,
    ),
  ],
  [
    "Anthropic",
    MESSAGES,
    '{"id":"m","type":"message","role":"assistant","content":[],"model":"x","stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":19,"output_tokens":0}}',
  ],
  [
    "OpenAI, incomplete",
    RESPONSES,
    '{"id":"resp_1","object":"response","created_at":1,"status":"incomplete","background":false,"error":null,"incomplete_details":{"reason":"max_output_tokens"},"instructions":null,"output":[{"id":"rs_1","type":"reasoning","summary":[]}],"usage":{"input_tokens":9,"output_tokens":2}}',
  ],
];
