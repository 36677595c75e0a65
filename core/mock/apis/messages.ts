import { type Choice, type GenerationApi, namedEvent, type Reply, textOf, usageOf } from "../call.ts";
import { type JsonObject, optionalLimit, required, requiredList } from "../fields.ts";
import { invalidField } from "../problem.ts";
import { joined } from "../tokens.ts";
import { contentTokens, conversationTokens } from "./conversation.ts";

/** POST /v1/messages. */
export const messages: GenerationApi = {
  path: "/v1/messages",
  isAnthropic: true,
  read(body) {
    const prompt = messagesPrompt(body);
    required(body, "max_tokens");
    return { prompts: [prompt], maxTokens: optionalLimit(body, "max_tokens"), limitName: "max_completion_tokens" };
  },
  answer: (reply) => ({
    ...headOf(reply),
    content: reply.choices.map((choice) => ({ type: "text", text: textOf(choice) })),
    model: reply.model,
    stop_reason: stopReason(reply.choices[0]),
    usage: messageUsage(reply),
  }),
  stream: (reply) => ({
    first() {
      const usage = { input_tokens: usageOf(reply).prompt, output_tokens: 0 };
      const message = { ...headOf(reply), content: [], model: reply.model, stop_reason: null, stop_sequence: null, usage };
      const block = { type: "content_block_start", content_block: { type: "text", text: "" }, index: 0 };
      return [namedEvent({ type: "message_start", message }), namedEvent(block)];
    },
    tokens: (_choice, tokens) => [
      namedEvent({ type: "content_block_delta", delta: { type: "text_delta", text: joined(tokens) }, index: 0 }),
    ],
    closing: () => [
      namedEvent({ type: "content_block_stop", index: 0 }),
      namedEvent({
        type: "message_delta",
        delta: { stop_reason: stopReason(reply.choices[0]), stop_sequence: null },
        usage: messageUsage(reply),
      }),
      namedEvent({ type: "message_stop" }),
    ],
  }),
};

/** The prompt of a messages request; also used to count tokens only. */
export function messagesPrompt(body: JsonObject): number[] {
  // Unlike the other APIs, this one has no default model.
  if (required(body, "model") === "") throw invalidField("value_error", "body.model", "Value error, Model is required", "");
  return [...contentTokens(body["system"] ?? ""), ...conversationTokens(requiredList(body, "messages"), "body.messages")];
}

const headOf = ({ id }: Reply) => ({ id: `chatcmpl-${id}`, type: "message", role: "assistant" });

const stopReason = (choice: Choice | undefined) => (choice?.finish === "length" ? "max_tokens" : "end_turn");

/** Anthropic counts input tokens read from the cache, written to it, and others separately. */
function messageUsage(reply: Reply) {
  const usage = usageOf(reply);
  return {
    input_tokens: usage.prompt - usage.cached - usage.created,
    output_tokens: usage.completion,
    cache_creation_input_tokens: usage.created,
    cache_read_input_tokens: usage.cached,
  };
}
