import { type Exchange, randomHex } from "../exchange.ts";
import { optionalString, parseBody, promptList, required } from "../fields.ts";
import { checkPrompts, compute } from "../generation.ts";
import { invalidField } from "../problem.ts";
import type { ReplicaState } from "../state.ts";
import { hashNumbers, madeUpVector, tokenize } from "../tokens.ts";

/** POST /v1/embeddings. The vector of a prompt is always the same. */
export function embed(exchange: Exchange, { settings, adapters, engine }: ReplicaState): void {
  const body = parseBody(exchange.record.body);
  const isBase64 = optionalString(body, "encoding_format") === "base64";
  const prompts = promptsOf(required(body, "input"));
  checkPrompts(prompts, settings.maxModelTokens);
  // Pooling responses name the base model, whichever model was asked for.
  adapters.resolve(optionalString(body, "model"));
  const sequences = prompts.map((prompt) => ({ prompt, replyTokens: 0, cacheKey: "", adapter: "" }));
  compute(exchange, engine, sequences, () => {
    const tokens = prompts.reduce((sum, prompt) => sum + prompt.length, 0);
    exchange.json(200, {
      id: `embd-${exchange.clientId ?? randomHex(16)}`,
      object: "list",
      created: Math.floor(settings.clock.wall() / 1000),
      model: settings.model,
      data: prompts.map((prompt, index) => {
        const vector = madeUpVector(hashNumbers(prompt, 0x811c9dc5), settings.embeddingSize);
        const embedding = isBase64 ? Buffer.from(new Float32Array(vector).buffer).toString("base64") : vector;
        return { index, object: "embedding", embedding };
      }),
      usage: { prompt_tokens: tokens, total_tokens: tokens, completion_tokens: 0, prompt_tokens_details: null },
    });
  });
}

/** Accepts one text, several texts, one list of ids or several lists of ids. */
function promptsOf(input: unknown): readonly (readonly number[])[] {
  if (typeof input === "string") return [tokenize(input)];
  if (!Array.isArray(input)) throw invalidField("string_type", "body.input", "Input should be a valid string", input);
  return promptList(input, "body.input");
}
