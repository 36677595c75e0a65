import { type Choice, type GenerationApi, namedEvent, type Reply, textOf, usageOf } from "../call.ts";
import { type Dictated, dictatedCall, dictatedJson, lastWordsOf, toolsOf } from "../dictated.ts";
import { isObject, type JsonObject, optionalLimit, required, requiredList } from "../fields.ts";
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
    return {
      prompts: [prompt],
      maxTokens: optionalLimit(body, "max_tokens"),
      limitName: "max_completion_tokens",
      dictated: dictatedMessage(body),
    };
  },
  answer: (reply) => ({
    ...headOf(reply),
    content: reply.choices.map((choice) => contentOf(reply, choice)),
    model: reply.model,
    stop_reason: stopReason(reply.choices[0]),
    usage: messageUsage(reply),
    // Null fields are left out of messages.
    ...(reply.transferParams && { kv_transfer_params: reply.transferParams }),
  }),
  stream: (reply) => ({
    first(choice) {
      const begun = choice.tool === "" ? { type: "text", text: "" } : { ...toolUse(reply, choice), input: {} };
      const block = { type: "content_block_start", content_block: begun, index: 0 };
      return [startOf(reply), namedEvent(block)];
    },
    failing: () => {
      const error = { type: "internal_error", message: "Internal server error" };
      return [startOf(reply), namedEvent({ type: "error", error })];
    },
    tokens({ tool }, tokens) {
      const piece = joined(tokens);
      const delta = tool === "" ? { type: "text_delta", text: piece } : { type: "input_json_delta", partial_json: piece };
      return [namedEvent({ type: "content_block_delta", delta, index: 0 })];
    },
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

function startOf(reply: Reply): string {
  const usage = { input_tokens: usageOf(reply).prompt, output_tokens: 0 };
  const message = { ...headOf(reply), content: [], model: reply.model, stop_reason: null, stop_sequence: null, usage };
  return namedEvent({ type: "message_start", message });
}

function stopReason(choice: Choice | undefined): string {
  if (choice?.finish === "length") return "max_tokens";
  return choice === undefined || choice.tool === "" ? "end_turn" : "tool_use";
}

const toolUse = ({ itemId }: Reply, { tool }: Choice) => ({ type: "tool_use", id: `toolu_${itemId}`, name: tool });

function contentOf(reply: Reply, choice: Choice): object {
  const text = textOf(choice);
  if (choice.tool === "") return { type: "text", text };
  // An output that was cut is no JSON.
  return { ...toolUse(reply, choice), input: choice.finish === "length" ? {} : (JSON.parse(text) as unknown) };
}

function dictatedMessage(body: JsonObject): Dictated | undefined {
  const tools = toolsOf(body, ({ name, input_schema }) => [name, input_schema]);
  const { type, name } = isObject(body["tool_choice"]) ? body["tool_choice"] : {};
  const choice = type === "tool" ? { name: String(name) } : type === "any" || type === "none" ? type : "auto";
  const { format } = isObject(body["output_config"]) ? body["output_config"] : {};
  const written = isObject(format) ? format : {};
  return dictatedCall(tools, choice, lastWordsOf(body["messages"])) ?? dictatedJson(written["type"], written["schema"]);
}

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
