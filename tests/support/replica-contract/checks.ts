import assert from "node:assert/strict";
import type { SseEvent } from "../sse-events.ts";
import { parseSse } from "../sse-events.ts";

/** What the replica at the base URL was started with. */
export interface Names {
  readonly base: string;
  readonly adapters: readonly string[];
  /** A path a further adapter can be loaded from; without it nothing is loaded. */
  readonly adapterPath?: string;
}

/**
 * "any" deployment, a "generate" or an "embed" model, all three also through a proxy; "engine" and "generate-engine" are
 * the server's own routes and habits, which a proxy does not show.
 */
export type Need = "any" | "generate" | "embed" | "engine" | "generate-engine";

export interface ReplicaAssertion {
  readonly name: string;
  readonly needs: Need;
  run(baseUrl: string, names: Names): Promise<void>;
}

export type Json = Readonly<Record<string, unknown>>;

export const TIMEOUT_MS = 60_000;
export const MAX_TOKENS = 12;
export const PROMPT = "Tell me about signals.";
export const MESSAGES = [{ role: "user", content: PROMPT }];
export const MESSAGES_OF_PARTS = [{ role: "user", content: [{ type: "text", text: PROMPT }] }];

/** A request of each generation API; temperature 0 makes a real model's reply repeatable. */
export const REQUESTS = {
  completions: { path: "/v1/completions", body: { prompt: PROMPT, max_tokens: MAX_TOKENS, temperature: 0 } },
  chat: { path: "/v1/chat/completions", body: { messages: MESSAGES, max_tokens: MAX_TOKENS, temperature: 0 } },
  responses: { path: "/v1/responses", body: { input: PROMPT, max_output_tokens: MAX_TOKENS, temperature: 0 } },
  messages: { path: "/v1/messages", body: { messages: MESSAGES_OF_PARTS, max_tokens: MAX_TOKENS, temperature: 0 } },
  generate: { path: "/inference/v1/generate", body: { token_ids: [11, 12, 13], sampling_params: { max_tokens: MAX_TOKENS } } },
} as const;

export async function send(baseUrl: string, path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(baseUrl + path, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) });
}

export function post(baseUrl: string, path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return send(baseUrl, path, { method: "POST", headers: { "content-type": "application/json", ...headers }, body: text });
}

/** The JSON of an answer that has to have the status. */
export async function jsonOf(response: Response, status = 200): Promise<Json> {
  const text = await response.text();
  assert.equal(response.status, status, text.slice(0, 500));
  assert.match(response.headers.get("content-type") ?? "", /^application\/json\b/);
  return object(JSON.parse(text), "body");
}

export async function postJson(baseUrl: string, path: string, body: unknown): Promise<Json> {
  return jsonOf(await post(baseUrl, path, body));
}

export async function postStream(baseUrl: string, path: string, body: Json): Promise<SseEvent[]> {
  const response = await post(baseUrl, path, { ...body, stream: true });
  const text = await response.text();
  assert.equal(response.status, 200, text.slice(0, 500));
  assert.match(response.headers.get("content-type") ?? "", /^text\/event-stream\b/);
  return parseSse(text);
}

export function object(value: unknown, what: string): Json {
  assert.ok(typeof value === "object" && value !== null && !Array.isArray(value), `${what} is an object`);
  return value as Json;
}

export function list(value: unknown, what: string): Json[] {
  assert.ok(Array.isArray(value), `${what} is a list`);
  return value as Json[];
}

export function text(value: unknown, what: string): string {
  assert.equal(typeof value, "string", `${what} is a string`);
  return value as string;
}

export function count(value: unknown, what: string): number {
  assert.ok(Number.isInteger(value) && (value as number) >= 0, `${what} is a whole number`);
  return value as number;
}

/** Fields by name and type: "string", "number", "object" ... or an exact value in an array of one. */
export function fields(value: Json, wanted: Readonly<Record<string, string | readonly [unknown]>>): void {
  for (const [name, want] of Object.entries(wanted)) {
    if (typeof want === "string") assert.equal(typeof value[name], want, `${name} is a ${want}`);
    else assert.deepEqual(value[name], want[0], name);
  }
}

/** Every model name the replica was started with. */
export const targets = (names: Names) => [names.base, ...names.adapters];

/** Parses unnamed events up to and without `[DONE]`, which has to be the last. */
export function chunksOf(events: readonly SseEvent[]): Json[] {
  assert.equal(events.at(-1)?.data, "[DONE]", "the stream ends with [DONE]");
  return events.slice(0, -1).map((event) => {
    assert.equal(event.name, "");
    return object(JSON.parse(event.data), "chunk");
  });
}

/** Parses named events, each of which repeats its name as the type. */
export function typedOf(events: readonly SseEvent[]): Json[] {
  return events.map((event) => {
    const data = object(JSON.parse(event.data), "event");
    assert.equal(data["type"], event.name, "type and event name are the same");
    return data;
  });
}

/** All chunks are of one response. */
export function sameHead(chunks: readonly Json[], model: string, objectName: string): void {
  for (const chunk of chunks) {
    fields(chunk, { id: [chunks[0]?.["id"]], created: [chunks[0]?.["created"]], model: [model], object: [objectName] });
  }
  text(chunks[0]?.["id"], "id");
  count(chunks[0]?.["created"], "created");
}

/** Null on every choice until the last. */
export function onlyLastFinishes(chunks: readonly Json[]): void {
  const reasons = chunks.map((chunk) => list(chunk["choices"], "choices")[0]?.["finish_reason"]);
  assert.ok(reasons.slice(0, -1).every((reason) => reason === null));
  assert.match(text(reasons.at(-1), "finish_reason"), /^(length|stop)$/);
}

export function openaiUsage(value: unknown): void {
  const usage = object(value, "usage");
  const prompt = count(usage["prompt_tokens"], "prompt_tokens");
  const completion = count(usage["completion_tokens"], "completion_tokens");
  assert.equal(usage["total_tokens"], prompt + completion);
}

export async function errorOf(baseUrl: string, path: string, body: unknown, status: number, isAnthropic: boolean): Promise<void> {
  const answer = await jsonOf(await post(baseUrl, path, body), status);
  if (isAnthropic) assert.equal(answer["type"], "error");
  const error = object(answer["error"], "error");
  text(error["type"], "error.type");
  assert.notEqual(text(error["message"], "error.message"), "");
}
