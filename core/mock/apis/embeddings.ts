import type { JsonObject } from "../fields.ts";
import { optionalString, required, tokenIds } from "../fields.ts";
import { invalidField } from "../problem.ts";
import { hashNumbers, madeUpVector, tokenize } from "../tokens.ts";

/** What an embeddings request asks for. */
export interface EmbeddingCall {
  readonly prompts: readonly (readonly number[])[];
  readonly isBase64: boolean;
}

/** Accepts one text, several texts, one list of ids or several lists of ids. */
export function readEmbeddings(body: JsonObject): EmbeddingCall {
  const isBase64 = optionalString(body, "encoding_format") === "base64";
  return { prompts: inputs(required(body, "input")), isBase64 };
}

function inputs(input: unknown): readonly (readonly number[])[] {
  if (typeof input === "string") return [tokenize(input)];
  if (!Array.isArray(input)) throw invalidField("string_type", "body.input", "Input should be a valid string", input);
  if (input.length === 0 || typeof input[0] === "number") return [tokenIds(input, "body.input")];
  return input.map((entry: unknown) => {
    if (typeof entry === "string") return tokenize(entry);
    if (Array.isArray(entry)) return tokenIds(entry, "body.input");
    throw invalidField("string_type", "body.input", "Input should be a valid string", entry);
  });
}

/** The vector of a prompt, always the same. */
export function embeddingOf(prompt: readonly number[], size: number): number[] {
  return madeUpVector(hashNumbers(prompt, 0x811c9dc5), size);
}

/** The response body of POST /v1/embeddings. */
export function embeddingsAnswer(
  id: string,
  createdS: number,
  model: string,
  call: EmbeddingCall,
  vectors: readonly number[][],
): unknown {
  const promptTokens = call.prompts.reduce((sum, prompt) => sum + prompt.length, 0);
  return {
    id: `embd-${id}`,
    object: "list",
    created: createdS,
    model,
    data: vectors.map((vector, index) => ({
      index,
      object: "embedding",
      embedding: call.isBase64 ? Buffer.from(new Float32Array(vector).buffer).toString("base64") : vector,
    })),
    usage: { prompt_tokens: promptTokens, total_tokens: promptTokens, completion_tokens: 0, prompt_tokens_details: null },
  };
}
