// The openai package of npm: each call once, whole and in a stream. Prints what it got.
import OpenAI from "openai";

const { BASE_URL, API_KEY, MODEL: model } = process.env;
const client = new OpenAI({ baseURL: `${BASE_URL}/v1`, apiKey: API_KEY, maxRetries: 0 });
const limit = { model, temperature: 0, max_tokens: 24 };
const messages = [{ role: "user", content: "Was the soup any good?" }];
const input = "Was the soup any good?";
const asked = { model, temperature: 0, max_output_tokens: 24 };
const parameters = {
  type: "object",
  properties: { city: { type: "string", enum: ["Oslo"] } },
  required: ["city"],
  additionalProperties: false,
};

const models = [];
for await (const { id } of client.models.list()) models.push(id);

const chat = await client.chat.completions.create({ ...limit, messages });
const chatStream = { text: "", tokens: 0 };
const chunks = await client.chat.completions.create({
  ...limit,
  messages,
  stream: true,
  stream_options: { include_usage: true },
});
for await (const { choices, usage } of chunks) {
  chatStream.text += choices[0]?.delta.content ?? "";
  chatStream.tokens = usage?.completion_tokens ?? chatStream.tokens;
}
const call = client.chat.completions.stream({
  ...limit,
  max_tokens: 120,
  messages,
  stream_options: { include_usage: true },
  tools: [{ type: "function", function: { name: "get_weather", parameters } }],
  tool_choice: { type: "function", function: { name: "get_weather" } },
});
const called = (await call.finalChatCompletion()).choices[0].message.tool_calls[0].function;

const completion = await client.completions.create({ ...limit, prompt: input });
const completionStream = { text: "" };
const pieces = await client.completions.create({
  ...limit,
  prompt: input,
  stream: true,
  stream_options: { include_usage: true },
});
for await (const { choices } of pieces) completionStream.text += choices[0]?.text ?? "";

const response = await client.responses.create({ ...asked, input });
const responseStream = { text: "", tokens: 0 };
for await (const event of await client.responses.create({ ...asked, input, stream: true })) {
  if (event.type === "response.output_text.delta") responseStream.text += event.delta;
  if (event.type === "response.completed" || event.type === "response.incomplete")
    responseStream.tokens = event.response.usage.output_tokens;
}
const responseCall = await client.responses.create({
  ...asked,
  max_output_tokens: 120,
  input,
  tools: [{ type: "function", name: "get_weather", parameters, strict: true }],
  tool_choice: { type: "function", name: "get_weather" },
});
const item = responseCall.output.find(({ type }) => type === "function_call");

console.log(
  JSON.stringify({
    models,
    texts: {
      chat: { whole: chat.choices[0].message.content, stream: chatStream.text },
      completions: { whole: completion.choices[0].text, stream: completionStream.text },
      responses: { whole: response.output_text, stream: responseStream.text },
    },
    tokens: [chat.usage.completion_tokens, chatStream.tokens, response.usage.output_tokens, responseStream.tokens],
    calls: [called, item].map(({ name, arguments: text }) => ({ name, arguments: JSON.parse(text) })),
  }),
);
