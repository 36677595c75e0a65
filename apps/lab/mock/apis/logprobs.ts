import { flag, type JsonObject, optionalInteger } from "../fields.ts";
import type { Token } from "../tokens.ts";

/** Made up from the token's id, below 0. */
const logprobOf = ({ id }: Token, rank = 0) => -0.05 - (id % 100) / 200 - rank;

/** The alternatives of a token: itself first, then made-up ones. */
function alternatives(token: Token, count: number): readonly (readonly [text: string, logprob: number])[] {
  return Array.from({ length: count }, (_, rank) => [rank === 0 ? token.text : ` ${rank}`, logprobOf(token, rank)]);
}

/** `logprobs` of a chat's choice; null where the request does not ask for them. */
export function chatLogprobs(body: JsonObject, tokens: readonly Token[]) {
  if (!flag(body, "logprobs")) return null;
  const count = Math.min(optionalInteger(body, "top_logprobs") ?? 0, 20);
  const shown = (text: string, logprob: number) => ({ token: text, logprob, bytes: [...Buffer.from(text)] });
  const content = tokens.map((token) => ({
    ...shown(token.text, logprobOf(token)),
    top_logprobs: alternatives(token, count).map(([text, logprob]) => shown(text, logprob)),
  }));
  return { content };
}

/** `logprobs` of a completion's choice; `offset`: characters of its text before these tokens. */
export function textLogprobs(body: JsonObject, tokens: readonly Token[], offset: number) {
  const count = optionalInteger(body, "logprobs");
  if (count === undefined) return null;
  let at = offset;
  const offsets = tokens.map(({ text }) => {
    at += text.length;
    return at - text.length;
  });
  return {
    text_offset: offsets,
    token_logprobs: tokens.map((token) => logprobOf(token)),
    tokens: tokens.map(({ text }) => text),
    top_logprobs: tokens.map((token) => Object.fromEntries(alternatives(token, Math.min(Math.max(count, 1), 20)))),
  };
}
