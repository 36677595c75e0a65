// The @anthropic-ai/sdk package: messages whole and in a stream, the call of a tool, and a count. Prints what it got.
import Anthropic from "@anthropic-ai/sdk";

const { BASE_URL, API_KEY, MODEL: model } = process.env;
const client = new Anthropic({ baseURL: BASE_URL, apiKey: API_KEY, maxRetries: 0 });
const messages = [{ role: "user", content: "Was the soup any good?" }];
const asked = { model, max_tokens: 24, temperature: 0, messages };
const tool = {
  name: "get_weather",
  input_schema: {
    type: "object",
    properties: { city: { type: "string", enum: ["Oslo"] } },
    required: ["city"],
    additionalProperties: false,
  },
};
const textOf = ({ content }) => content.map((block) => (block.type === "text" ? block.text : "")).join("");

const whole = await client.messages.create(asked);
const stream = client.messages.stream(asked);
let text = "";
stream.on("text", (piece) => {
  text += piece;
});
const streamed = await stream.finalMessage();
const calling = client.messages.stream({
  ...asked,
  max_tokens: 120,
  tools: [tool],
  tool_choice: { type: "tool", name: tool.name },
});
const call = (await calling.finalMessage()).content.find(({ type }) => type === "tool_use");
const count = await client.messages.countTokens({ model, messages });

console.log(
  JSON.stringify({
    texts: { messages: { whole: textOf(whole), stream: text } },
    tokens: [whole.usage.output_tokens, streamed.usage.output_tokens],
    prompts: [whole.usage.input_tokens + (whole.usage.cache_read_input_tokens ?? 0), count.input_tokens],
    calls: [{ name: call.name, arguments: call.input }],
  }),
);
