import { median } from "../bench/median.ts";
import { ask, type Message } from "./conversation-load.ts";

/** How fast a server computes, as the engine model says it. */
export interface Speeds {
  readonly prefillTokensPerS: number;
  readonly decodeStepMs: number;
  readonly decodePerRequestMs: number;
}

const LONG_CHARS = 3_600;
const SHORT_CHARS = 300;
const ANSWER_TOKENS = 25;
/** Requests that are answered together. */
const BATCH = 6;
const ROUNDS = 7;

/** Measures all servers at the same time, so that they share the machine as they do under load. `name`: prompts with it are new to them. */
export async function measureSpeeds(urls: readonly string[], allowed: readonly number[], name: string): Promise<Speeds> {
  const each = await Promise.all(urls.map((url) => measureOne(url, allowed, name)));
  return meanSpeeds(each);
}

export function meanSpeeds(all: readonly Speeds[]): Speeds {
  const mean = (key: keyof Speeds) => all.reduce((sum, speeds) => sum + speeds[key], 0) / all.length;
  return {
    // Times are averaged, not speeds.
    prefillTokensPerS: all.length / all.reduce((sum, { prefillTokensPerS }) => sum + 1 / prefillTokensPerS, 0),
    decodeStepMs: mean("decodeStepMs"),
    decodePerRequestMs: mean("decodePerRequestMs"),
  };
}

async function measureOne(url: string, allowed: readonly number[], name: string): Promise<Speeds> {
  let prompts = 0;
  const answer = (chars: number, answerTokens: number) => {
    const messages: readonly Message[] = [{ role: "user", content: "Some text. ".repeat(chars).slice(0, chars) }];
    return ask({ url, messages, answerTokens, salt: `${name} ${prompts++}`, allowed });
  };
  const shortMs: number[] = [];
  const longMs: number[] = [];
  const aloneMs: number[] = [];
  const batchMs: number[] = [];
  let tokens = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const [short, long] = [await answer(SHORT_CHARS, 1), await answer(LONG_CHARS, 1)];
    shortMs.push(short.ttftMs);
    longMs.push(long.ttftMs);
    tokens = long.promptTokens - short.promptTokens;
    aloneMs.push((await answer(SHORT_CHARS, ANSWER_TOKENS)).tokenMs);
    const together = await Promise.all(Array.from({ length: BATCH }, () => answer(SHORT_CHARS, ANSWER_TOKENS)));
    batchMs.push(median(together.map(({ tokenMs }) => tokenMs)));
  }
  const decodePerRequestMs = Math.max(0, (median(batchMs) - median(aloneMs)) / (BATCH - 1));
  return {
    // Where the machine's noise is larger than the difference, a millisecond.
    prefillTokensPerS: (1000 * tokens) / Math.max(1, median(longMs) - median(shortMs)),
    decodeStepMs: Math.max(0, median(aloneMs) - decodePerRequestMs),
    decodePerRequestMs,
  };
}
