import { type Choice, type GenerationApi, namedEvent, nulls, type Reply, type StreamScript, textOf, usageOf } from "../call.ts";
import { type Dictated, dictatedCall, dictatedJson, lastWordsOf, type ToolChoice, toolsOf } from "../dictated.ts";
import { isObject, type JsonObject, optionalLimit, optionalString, required } from "../fields.ts";
import { invalidField, Problem } from "../problem.ts";
import { joined, tokenize } from "../tokens.ts";
import { conversationTokens } from "./conversation.ts";

/** POST /v1/responses. */
export const responses: GenerationApi = {
  path: "/v1/responses",
  read(body) {
    const instructions = optionalString(body, "instructions") ?? "";
    const prompt = [...tokenize(instructions), ...inputTokens(required(body, "input"))];
    const earlier = optionalString(body, "previous_response_id");
    if (earlier !== undefined) throw responseNotFound(earlier);
    const maxTokens = optionalLimit(body, "max_output_tokens");
    return { prompts: [prompt], maxTokens, limitName: "max_output_tokens", dictated: dictatedResponse(body) };
  },
  answer: (reply) => responseObject(reply, true),
  stream,
};

/** Nothing is stored, so no earlier response is found. */
export function responseNotFound(id: string): Problem {
  return new Problem(404, "invalid_request_error", `Response with id '${id}' not found.`, { param: "response_id" });
}

function inputTokens(input: unknown): number[] {
  if (typeof input === "string") return conversationTokens([{ role: "user", content: input }], "body.input");
  if (Array.isArray(input)) return conversationTokens(input, "body.input");
  throw invalidField("string_type", "body.input", "Input should be a valid string", input);
}

function responseObject(reply: Reply, isOver: boolean): unknown {
  const { body } = reply.call;
  const choice = reply.choices[0];
  const isCut = isOver && choice?.finish === "length";
  return {
    id: `resp_${reply.itemId}`,
    created_at: reply.createdS,
    incomplete_details: isCut ? { reason: "max_output_tokens" } : null,
    instructions: body["instructions"] ?? null,
    metadata: body["metadata"] ?? null,
    model: reply.model,
    object: "response",
    output: isOver && choice ? [itemOf(reply, choice, "completed")] : [],
    parallel_tool_calls: true,
    temperature: body["temperature"] ?? 1,
    tool_choice: body["tool_choice"] ?? "auto",
    tools: body["tools"] ?? [],
    top_p: body["top_p"] ?? 1,
    background: false,
    max_output_tokens: reply.call.maxTokens ?? null,
    previous_response_id: null,
    service_tier: "auto",
    status: isOver ? (isCut ? "incomplete" : "completed") : "in_progress",
    text: null,
    truncation: "disabled",
    usage: isOver ? responseUsage(reply) : null,
    user: null,
    ...nulls("max_tool_calls", "prompt", "reasoning", "top_logprobs"),
    presence_penalty: 0,
    frequency_penalty: 0,
    kv_transfer_params: isOver ? reply.transferParams : null,
    ...nulls("ec_transfer_params", "input_messages", "output_messages"),
  };
}

const NO_TURNS = { input_tokens_per_turn: [], cached_tokens_per_turn: [] };
const NO_OUTPUT_TURNS = { output_tokens_per_turn: [], tool_output_tokens_per_turn: [] };

function responseUsage(reply: Reply) {
  const usage = usageOf(reply);
  return {
    input_tokens: usage.prompt,
    input_tokens_details: { cached_tokens: usage.cached, cache_write_tokens: usage.created, ...NO_TURNS },
    output_tokens: usage.completion,
    output_tokens_details: { reasoning_tokens: 0, tool_output_tokens: 0, ...NO_OUTPUT_TURNS },
    total_tokens: usage.prompt + usage.completion,
  };
}

function itemOf(reply: Reply, choice: Choice, status: "completed" | "in_progress") {
  return choice.tool === "" ? messageItem(reply, choice, status) : callItem(reply, choice, status);
}

function callItem({ itemId }: Reply, choice: Choice, status: "completed" | "in_progress") {
  const written = status === "completed" ? textOf(choice) : "";
  const ids = { id: `fc_${itemId}`, call_id: `call_${itemId}` };
  return { ...ids, arguments: written, name: choice.tool, status, type: "function_call" };
}

function messageItem(reply: Reply, choice: Choice, status: "completed" | "in_progress") {
  const content = status === "completed" ? [textPart(textOf(choice))] : [];
  return { id: `msg_${reply.itemId}`, content, role: "assistant", status, type: "message", phase: null };
}

const textPart = (text: string) => ({ annotations: [], text, type: "output_text", logprobs: null });

function stream(reply: Reply): StreamScript {
  let sequenceNumber = 0;
  const place = { content_index: 0, item_id: `msg_${reply.itemId}`, output_index: 0 };
  const event = (type: string, value: object) => namedEvent({ ...value, sequence_number: sequenceNumber++, type });

  const callPlace = { item_id: `fc_${reply.itemId}`, output_index: 0 };

  function done(choice: Choice): string[] {
    const text = textOf(choice);
    const itemDone = () => event("response.output_item.done", { item: itemOf(reply, choice, "completed"), output_index: 0 });
    if (choice.tool !== "")
      return [event("response.function_call_arguments.done", { ...callPlace, arguments: text, name: choice.tool }), itemDone()];
    return [
      event("response.output_text.done", { ...place, logprobs: [], text }),
      event("response.content_part.done", { ...place, part: textPart(text) }),
      itemDone(),
    ];
  }

  return {
    // These two events are sent before the prompt is computed.
    opening: () => [
      event("response.created", { response: responseObject(reply, false) }),
      event("response.in_progress", { response: responseObject(reply, false) }),
    ],
    first: (choice) => [
      event("response.output_item.added", { item: itemOf(reply, choice, "in_progress"), output_index: 0 }),
      ...(choice.tool === ""
        ? [event("response.content_part.added", { ...place, part: { ...textPart(""), logprobs: [] } })]
        : []),
    ],
    tokens: (choice, tokens, isLast) => [
      choice.tool === ""
        ? event("response.output_text.delta", { ...place, delta: joined(tokens), logprobs: [] })
        : event("response.function_call_arguments.delta", { ...callPlace, delta: joined(tokens) }),
      ...(isLast ? done(choice) : []),
    ],
    // vLLM 0.32 has no event for it, and ends the connection.
    failing: () => undefined,
    closing: () => [event("response.completed", { response: responseObject(reply, true) })],
  };
}

function dictatedResponse(body: JsonObject): Dictated | undefined {
  const tools = toolsOf(body, ({ type, name, parameters }) => [type === "function" ? name : undefined, parameters]);
  const { format } = isObject(body["text"]) ? body["text"] : {};
  const { type, schema } = isObject(format) ? format : {};
  return dictatedCall(tools, toolChoice(body["tool_choice"]), lastWordsOf(body["input"])) ?? dictatedJson(type, schema);
}

function toolChoice(choice: unknown): ToolChoice {
  if (choice === "none") return choice;
  if (choice === "required") return "any";
  return isObject(choice) && typeof choice["name"] === "string" ? { name: choice["name"] } : "auto";
}
