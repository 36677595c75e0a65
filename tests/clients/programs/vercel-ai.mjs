// The package ai with its providers of OpenAI (responses and chat) and Anthropic: generateText, streamText, tools. Prints what it got.
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, isStepCount, streamText, tool } from "ai";
import { z } from "zod";

const { BASE_URL, API_KEY: apiKey, MODEL } = process.env;
const openai = createOpenAI({ baseURL: `${BASE_URL}/v1`, apiKey });
const anthropic = createAnthropic({ baseURL: `${BASE_URL}/v1`, apiKey });
const models = { responses: openai.responses(MODEL), chat: openai.chat(MODEL), messages: anthropic(MODEL) };
const prompt = "Was the soup any good?";

const told = { texts: {}, tokens: [], calls: [], results: [] };
for (const [api, model] of Object.entries(models)) {
  const asked = { model, prompt, temperature: 0, maxOutputTokens: 24, maxRetries: 0 };
  const whole = await generateText(asked);
  const stream = streamText({ ...asked, onError: ({ error }) => Promise.reject(error) });
  let text = "";
  for await (const piece of stream.textStream) text += piece;
  told.texts[api] = { whole: whole.text, stream: text };
  told.tokens.push(whole.usage.outputTokens, (await stream.usage).outputTokens);

  const get_weather = tool({
    description: "The weather of a city",
    inputSchema: z.object({ city: z.enum(["Oslo"]) }),
    execute: ({ city }) => `It rains in ${city}.`,
  });
  const called = await generateText({
    ...asked,
    maxOutputTokens: 120,
    tools: { get_weather },
    toolChoice: { type: "tool", toolName: "get_weather" },
    prepareStep: ({ stepNumber }) => (stepNumber === 0 ? {} : { toolChoice: "none" }),
    stopWhen: isStepCount(2),
  });
  const call = called.steps[0].toolCalls[0];
  told.calls.push({ name: call.toolName, arguments: call.input });
  told.results.push(called.text);
}
console.log(JSON.stringify(told));
