import type { JsonObject } from "../fields.ts";
import { isObject } from "../fields.ts";
import { invalidField } from "../problem.ts";
import { hashText, tokenize } from "../tokens.ts";

/** Tokens one picture takes. */
const IMAGE_TOKENS = 64;

/** A conversation as one prompt: the same leading messages give the same leading tokens. */
export function conversationTokens(messages: readonly unknown[], place: string): number[] {
  const tokens: number[] = [];
  for (const message of messages) {
    if (!isObject(message)) throw invalidField("model_attributes_type", place, "Input should be a valid dictionary", message);
    append(tokens, tokenize(`<|${String(message["role"] ?? "user")}|>`));
    append(tokens, contentTokens(message["content"] ?? ""));
  }
  return tokens;
}

/** Text, or a list of parts: text in any of the APIs' names, and pictures. */
export function contentTokens(content: unknown): number[] {
  if (typeof content === "string") return tokenize(content);
  const tokens: number[] = [];
  for (const part of Array.isArray(content) ? content : []) {
    if (isObject(part)) append(tokens, partTokens(part));
  }
  return tokens;
}

function partTokens(part: JsonObject): number[] {
  if (typeof part["text"] === "string") return tokenize(part["text"]);
  const picture = part["image_url"] ?? part["source"] ?? part["content"];
  if (picture === undefined) return [];
  // The same picture is the same tokens, so it is found in the prefix cache.
  return new Array<number>(IMAGE_TOKENS).fill(hashText(JSON.stringify(picture), 0x811c9dc5));
}

/** Spreading a long prompt into push would overflow the stack. */
function append(target: number[], more: readonly number[]): void {
  for (const token of more) target.push(token);
}
