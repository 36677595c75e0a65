import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { seededRandom } from "../../core/contract/test-kit.ts";
import { parseSse } from "../support/sse-events.ts";

/** What one turn of a conversation met. */
export interface Turn {
  /** From 0. */
  readonly conversation: number;
  /** From 0. */
  readonly turn: number;
  readonly promptTokens: number;
  readonly outputTokens: number;
  /** Prompt tokens that the engine had cached, by its own count. */
  readonly cachedTokens: number;
  /** Time to the first byte of the body. */
  readonly ttftMs: number;
}

export interface ConversationShape {
  readonly turns: number;
  /** Characters of a person's first message, and of each later one. */
  readonly firstChars: number;
  readonly laterChars: number;
  readonly answerTokens: number;
}

export interface ConversationLoad extends ConversationShape {
  /** One for each conversation; a person's messages are pieces of it. */
  readonly texts: readonly string[];
  /** Conversations that go on at the same time. */
  readonly users: number;
  /** Before each message a person thinks for a time between 0 and twice this, drawn from a seed. */
  readonly thinkMs: number;
  /** Loads with different salts share nothing in the engines' caches. */
  readonly salt: string;
  /** A vLLM server, to be asked for its tokens. */
  readonly engineUrl: string;
  /** Where the conversation's requests go. */
  urlOf(conversation: number): string;
}

/** One request of a conversation. */
interface Asked {
  /** Where it goes. */
  readonly url: string;
  readonly messages: readonly Message[];
  readonly answerTokens: number;
  readonly salt: string;
  /** Token ids that the answer may have; see alphabetTokens. */
  readonly allowed: readonly number[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  readonly firstToken?: () => void;
}

export interface Message {
  readonly role: "user" | "assistant";
  readonly content: string;
}

interface Chunk {
  readonly choices: readonly { readonly delta: { readonly content?: string } }[];
  readonly usage?: {
    readonly prompt_tokens: number;
    readonly completion_tokens: number;
    readonly prompt_tokens_details?: { readonly cached_tokens: number } | null;
  };
}

/** A random model's free output is no valid text, so it comes back as other tokens; these it can only write in one way. */
export const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/** Every conversation from its first turn to its last, several at a time. Each prompt holds all answers before it, as they came. */
export async function converse(load: ConversationLoad): Promise<readonly Turn[]> {
  const waiting = load.texts.map((text, conversation) => ({ text, conversation }));
  const allowed = await alphabetTokens(load.engineUrl);
  const random = seededRandom(1);
  const all: Turn[] = [];
  const beOneUser = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const { text, conversation } = next;
      let messages: readonly Message[] = [];
      for (let turn = 0; turn < load.turns; turn++) {
        await sleep(2 * load.thinkMs * random());
        messages = [...messages, { role: "user", content: pieceOf(text, turn, load) }];
        const { answerTokens, salt } = load;
        const { answer, ...figures } = await ask({ url: load.urlOf(conversation), messages, answerTokens, salt, allowed });
        messages = [...messages, { role: "assistant", content: answer }];
        all.push({ conversation, turn, ...figures });
      }
    }
  };
  await Promise.all(Array.from({ length: load.users }, beOneUser));
  return all;
}

/** What a person says in that turn, from 0. Where a text is too short, it begins again. */
export function pieceOf(text: string, turn: number, { firstChars, laterChars }: ConversationShape): string {
  const start = turn === 0 ? 0 : firstChars + (turn - 1) * laterChars;
  const end = firstChars + turn * laterChars;
  return text.repeat(Math.ceil(end / text.length)).slice(start, end);
}

/** Sends one request and reads the answer to its end. */
export async function ask({ url, messages, answerTokens, salt, allowed, headers, signal, firstToken }: Asked) {
  const body = {
    model: "tiny",
    messages,
    max_tokens: answerTokens,
    ignore_eos: true,
    allowed_token_ids: allowed,
    cache_salt: salt,
    stream: true,
    stream_options: { include_usage: true },
  };
  const sentAtMs = performance.now();
  const response = await post(`${url}/v1/chat/completions`, body, headers, signal);
  let ttftMs = Number.NaN;
  let lastMs = Number.NaN;
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body!) {
    if (Number.isNaN(ttftMs)) {
      ttftMs = performance.now() - sentAtMs;
      firstToken?.();
    }
    lastMs = performance.now() - sentAtMs;
    text += decoder.decode(chunk, { stream: true });
  }
  const chunks = parseSse(text)
    .filter(({ data }) => data !== "[DONE]")
    .map(({ data }) => JSON.parse(data) as Chunk);
  const usage = chunks.at(-1)?.usage;
  assert.ok(usage, text.slice(-500));
  return {
    answer: chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join(""),
    promptTokens: usage.prompt_tokens,
    outputTokens: usage.completion_tokens,
    cachedTokens: usage.prompt_tokens_details?.cached_tokens ?? 0,
    ttftMs,
    /** From one token to the next, in the mean. */
    tokenMs: (lastMs - ttftMs) / Math.max(1, answerTokens - 1),
  };
}

/** The ids of the tokens that a random model's output may have. */
export async function alphabetTokens(url: string): Promise<readonly number[]> {
  const response = await post(`${url}/tokenize`, { model: "tiny", prompt: ALPHABET, add_special_tokens: false });
  return ((await response.json()) as { readonly tokens: readonly number[] }).tokens;
}

/** How many tokens vLLM makes of these messages as a prompt. */
export async function countTokens(url: string, messages: readonly Message[]): Promise<number> {
  const response = await post(`${url}/tokenize`, { model: "tiny", messages });
  return ((await response.json()) as { readonly count: number }).count;
}

async function post(
  url: string,
  body: unknown,
  more: Readonly<Record<string, string>> = {},
  signal?: AbortSignal,
): Promise<Response> {
  // A connection that is kept may be closed by vLLM's HTTP server just when the next request is sent.
  const headers = { ...more, "Content-Type": "application/json", Connection: "close" };
  const init = { method: "POST", headers, body: JSON.stringify(body) };
  const response = await fetch(url, signal === undefined ? init : { ...init, signal });
  if (response.status !== 200) assert.fail(`${response.status} from ${url}: ${await response.text()}`);
  return response;
}
