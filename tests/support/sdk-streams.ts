import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import type { Dialect } from "../../core/contract/errors.ts";

/** Reads a stream of the given dialect with that API's own package; returns its events when it ends, throws what the package throws. */
export async function readWithSdk(dialect: Dialect, options: SdkOptions): Promise<unknown[]> {
  const common = { apiKey: "unused", maxRetries: 0, logLevel: "off" as const };
  const given = { ...(options.fetch && { fetch: options.fetch }) };
  const { url } = options;
  const events: unknown[] = [];
  const messages = [{ role: "user" as const, content: "hello" }];
  if (dialect === "anthropic") {
    const client = new Anthropic({ ...common, ...given, baseURL: url });
    for await (const event of await client.messages.create({ model: "m", max_tokens: 9, messages, stream: true }))
      events.push(event);
    return events;
  }
  const client = new OpenAI({ ...common, ...given, baseURL: `${url}/v1` });
  if (dialect === "responses") {
    for await (const event of await client.responses.create({ model: "m", input: "hello", stream: true })) events.push(event);
    return events;
  }
  for await (const event of await client.chat.completions.create({ model: "m", messages, stream: true })) events.push(event);
  return events;
}

interface SdkOptions {
  readonly url: string;
  readonly fetch?: () => Promise<Response>;
}

/** What a package threw, in a word or two: "normal end" if nothing, else the error's class and the code of the API's error. */
export async function whatSdkSees(dialect: Dialect, options: SdkOptions): Promise<string> {
  try {
    await readWithSdk(dialect, options);
    return "normal end";
  } catch (thrown) {
    if (thrown instanceof OpenAI.APIError) return `APIError ${thrown.code}`;
    if (thrown instanceof Anthropic.APIError) return `APIError ${thrown.errorCode}`;
    return thrown instanceof Error ? thrown.constructor.name : String(thrown);
  }
}

/** An event stream with these bytes whose connection then breaks. */
export function brokenResponse(...pieces: readonly Uint8Array[]): Response {
  const left = [...pieces];
  const body = new ReadableStream({
    pull(controller) {
      const piece = left.shift();
      if (piece === undefined) controller.error(new TypeError("The connection broke"));
      else controller.enqueue(piece.slice());
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}
