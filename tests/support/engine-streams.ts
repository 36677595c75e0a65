// What engines stream with 200, with the order of their keys and the white space that they write; each ends as its engine ends it.
import { type EngineResponse, ITEM, ITEM_USAGE, vllmResponse } from "./engine-documents.ts";

const CHAT = "/v1/chat/completions";
const COMPLETIONS = "/v1/completions";
const RESPONSES = "/v1/responses";
const MESSAGES = "/v1/messages";
const GENERATE = "/inference/v1/generate";

const data = (...events: readonly string[]) => events.map((event) => `data: ${event}\n\n`).join("");
const named = (...events: readonly (readonly [name: string, data: string])[]) =>
  events.map(([name, text]) => `event: ${name}\ndata: ${text}\n\n`).join("");
const DONE = "[DONE]";

const vllmChunk = (choice: string) =>
  `{"id":"chatcmpl-7","object":"chat.completion.chunk","created":1749994809,"model":"tiny","choices":[${choice}]}`;
const ollamaChunk = (delta: string, reason: string) =>
  `{"id":"chatcmpl-693","object":"chat.completion.chunk","created":1715427619,"model":"mistral:latest","system_fingerprint":"fp_ollama","choices":[{"index":0,"delta":${delta},"finish_reason":${reason}}]}`;

export const ENGINE_STREAMS: readonly EngineResponse[] = [
  [
    "vLLM, a stream",
    CHAT,
    data(
      vllmChunk('{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}'),
      vllmChunk('{"index":0,"delta":{"content":"Hi"},"logprobs":null,"finish_reason":null}'),
      vllmChunk('{"index":0,"delta":{"content":""},"logprobs":null,"finish_reason":"stop","stop_reason":null}'),
      DONE,
    ),
  ],
  [
    "vLLM, a stream with usage",
    CHAT,
    data(
      vllmChunk('{"index":0,"delta":{"content":"data: {\\"error\\":{}}\\n\\n"},"finish_reason":"length"}'),
      '{"id":"chatcmpl-7","object":"chat.completion.chunk","created":1,"model":"tiny","choices":[],"usage":{"prompt_tokens":9,"total_tokens":11,"completion_tokens":2}}',
      DONE,
    ),
  ],
  [
    "vLLM, a stream",
    COMPLETIONS,
    data(
      '{"id":"cmpl-1","object":"text_completion","created":1,"model":"tiny","choices":[{"index":0,"text":"a","logprobs":null,"finish_reason":null,"stop_reason":null}],"usage":null}',
      '{"id":"cmpl-1","object":"text_completion","created":1,"model":"tiny","choices":[{"index":0,"text":"b","logprobs":null,"finish_reason":"length","stop_reason":null}],"usage":null}',
      DONE,
    ),
  ],
  [
    "vLLM, a stream",
    GENERATE,
    data(
      '{"request_id":"generate-tokens-1","choices":[{"index":0,"token_ids":[67],"finish_reason":null}],"usage":null}',
      '{"request_id":"generate-tokens-1","choices":[{"index":0,"token_ids":[68],"finish_reason":"length"}],"usage":null}',
      DONE,
    ),
  ],
  [
    "vLLM, a stream",
    RESPONSES,
    named(
      [
        "response.created",
        `{"response":${vllmResponse("in_progress", "[]", "null")},"sequence_number":0,"type":"response.created"}`,
      ],
      [
        "response.in_progress",
        `{"response":${vllmResponse("in_progress", "[]", "null")},"sequence_number":1,"type":"response.in_progress"}`,
      ],
      [
        "response.output_item.added",
        '{"item":{"id":"msg_1","content":[],"role":"assistant","status":"in_progress","type":"message"},"output_index":0,"sequence_number":2,"type":"response.output_item.added"}',
      ],
      [
        "response.output_text.delta",
        '{"content_index":0,"delta":"Hi","item_id":"msg_1","logprobs":[],"output_index":0,"sequence_number":3,"type":"response.output_text.delta"}',
      ],
      [
        "response.completed",
        `{"response":${vllmResponse("completed", ITEM, ITEM_USAGE)},"sequence_number":4,"type":"response.completed"}`,
      ],
    ),
  ],
  [
    "vLLM, a stream that generates nothing",
    RESPONSES,
    named(
      [
        "response.created",
        `{"response":${vllmResponse("in_progress", "[]", "null")},"sequence_number":0,"type":"response.created"}`,
      ],
      [
        "response.completed",
        `{"response":${vllmResponse("completed", "[]", ITEM_USAGE)},"sequence_number":1,"type":"response.completed"}`,
      ],
    ),
  ],
  [
    "vLLM, a stream",
    MESSAGES,
    named(
      [
        "message_start",
        '{"type":"message_start","message":{"id":"m","content":[],"model":"tiny","stop_reason":null,"usage":{"input_tokens":9,"output_tokens":0}}}',
      ],
      ["content_block_start", '{"type":"content_block_start","content_block":{"type":"text","text":""},"index":0}'],
      ["content_block_delta", '{"type":"content_block_delta","delta":{"type":"text_delta","text":"error"},"index":0}'],
      ["content_block_stop", '{"type":"content_block_stop","index":0}'],
      [
        "message_delta",
        '{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":9,"output_tokens":2}}',
      ],
      ["message_stop", '{"type":"message_stop"}'],
    ),
  ],
  [
    "SGLang, a stream",
    CHAT,
    data(
      '{"id":"8b","object":"chat.completion.chunk","created":1,"model":"default","choices":[{"index":0,"delta":{"role":"assistant","content":"","reasoning_content":null,"tool_calls":null},"logprobs":null,"finish_reason":null,"matched_stop":null}],"usage":null}',
      '{"id":"8b","object":"chat.completion.chunk","created":1,"model":"default","choices":[{"index":0,"delta":{"content":null},"logprobs":null,"finish_reason":"stop","matched_stop":2}],"usage":null}',
      DONE,
    ),
  ],
  [
    "llama.cpp, a stream with comments",
    CHAT,
    `: keep-alive\n\n:\n\n${data('{"choices":[{"finish_reason":null,"index":0,"delta":{"role":"assistant","content":null}}],"created":1,"id":"c","model":"m","system_fingerprint":"b1","object":"chat.completion.chunk"}', '{"choices":[{"finish_reason":"stop","index":0,"delta":{}}],"created":1,"id":"c","model":"m","system_fingerprint":"b1","object":"chat.completion.chunk"}', '{"choices":[],"created":1,"id":"c","model":"m","object":"chat.completion.chunk","usage":{"completion_tokens":2,"prompt_tokens":9,"total_tokens":11},"timings":{"prompt_n":9}}', DONE)}`,
  ],
  [
    "llama.cpp, a stream",
    COMPLETIONS,
    data(
      '{"choices":[{"text":"Hello","index":0,"logprobs":null,"finish_reason":null}],"created":1,"model":"m","object":"text_completion","id":"c"}',
      '{"choices":[{"text":"","index":0,"logprobs":null,"finish_reason":"stop"}],"created":1,"model":"m","object":"text_completion","id":"c"}',
      DONE,
    ),
  ],
  [
    "llama.cpp, a stream",
    RESPONSES,
    named(
      ["response.created", '{"type":"response.created","response":{"id":"r","object":"response","status":"in_progress"}}'],
      [
        "response.in_progress",
        '{"type":"response.in_progress","response":{"id":"r","object":"response","status":"in_progress"}}',
      ],
      [
        "response.output_item.added",
        '{"type":"response.output_item.added","output_index":0,"item":{"content":[],"id":"msg_1","role":"assistant","status":"in_progress","type":"message"}}',
      ],
      ["response.output_text.delta", '{"type":"response.output_text.delta","item_id":"msg_1","delta":"Hi"}'],
      [
        "response.completed",
        '{"type":"response.completed","response":{"id":"r","object":"response","created_at":1,"status":"completed","model":"m","output":[],"usage":{"input_tokens":9,"output_tokens":2,"total_tokens":11}}}',
      ],
    ),
  ],
  [
    "TGI, a stream without spaces",
    CHAT,
    'data:{"object":"chat.completion.chunk","id":"","created":1,"model":"tiny","system_fingerprint":"3.0.0-native","choices":[{"index":0,"delta":{"role":"assistant","content":"Hi"},"logprobs":null,"finish_reason":null}],"usage":null}\n\ndata:{"object":"chat.completion.chunk","id":"","created":1,"model":"tiny","choices":[{"index":0,"delta":{"role":"assistant","content":"!"},"logprobs":null,"finish_reason":"length"}],"usage":null}\n\ndata:[DONE]\n\n',
  ],
  [
    "TGI of before it sent [DONE]",
    CHAT,
    'data:{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":"!"},"logprobs":null,"finish_reason":"eos_token"}]}\n\n',
  ],
  [
    "Ollama, a stream",
    CHAT,
    data(
      ollamaChunk('{"role":"assistant","content":" Hello"}', "null"),
      ollamaChunk('{"role":"assistant","content":""}', '"stop"'),
      DONE,
    ),
  ],
  ["Ollama of before it wrote null", CHAT, data(ollamaChunk('{"role":"assistant","content":" Hello"}', '""'), DONE)],
  [
    "transformers, a stream without [DONE]",
    CHAT,
    data(
      '{"id":"r","choices":[{"delta":{"content":"Hi"},"index":0}],"created":1749994809.5,"model":"tiny@main","object":"chat.completion.chunk","system_fingerprint":""}',
      '{"id":"r","choices":[{"delta":{},"finish_reason":"stop","index":0}],"created":1749994809.6,"model":"tiny@main","object":"chat.completion.chunk","system_fingerprint":"","usage":{"completion_tokens":2,"prompt_tokens":9,"total_tokens":11}}',
    ),
  ],
  [
    "lines that end with CRLF",
    CHAT,
    'data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}\r\n\r\ndata: [DONE]\r\n\r\n',
  ],
  [
    "a cancelled stream",
    RESPONSES,
    named(
      ["response.created", '{"type":"response.created","sequence_number":0,"response":{"id":"r","error":null,"output":[]}}'],
      [
        "response.cancelled",
        '{"type":"response.cancelled","sequence_number":1,"response":{"id":"r","status":"cancelled","error":null,"output":[]}}',
      ],
    ),
  ],
  [
    "OpenAI, an incomplete stream",
    RESPONSES,
    named(
      ["response.created", '{"type":"response.created","sequence_number":0,"response":{"id":"r","error":null,"output":[]}}'],
      ["response.output_item.added", '{"type":"response.output_item.added","item":{"id":"rs_1","type":"reasoning"}}'],
      [
        "response.incomplete",
        '{"type":"response.incomplete","sequence_number":3,"response":{"id":"r","status":"incomplete","error":null,"output":[]}}',
      ],
    ),
  ],
];
