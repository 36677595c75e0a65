import type { JsonObject } from "../fields.ts";
import { isObject } from "../fields.ts";
import { invalidField } from "../problem.ts";
import { hashText, tokenize } from "../tokens.ts";

/** Tokens per image. */
const IMAGE_TOKENS = 64;

/** A conversation as one prompt. Equal leading messages give equal leading tokens. */
export function conversationTokens(messages: readonly unknown[], place: string): number[] {
  const tokens: number[] = [];
  for (const message of messages) {
    if (!isObject(message)) throw invalidField("model_attributes_type", place, "Input should be a valid dictionary", message);
    append(tokens, tokenize(`<|${String(message["role"] ?? "user")}|>`));
    append(tokens, contentTokens(message["content"] ?? ""));
  }
  return tokens;
}

/** The tokens of a message's content: text, or a list of text parts (by any API's name) and images. */
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
  // Equal images give equal tokens, so that the prefix cache finds them.
  return new Array<number>(IMAGE_TOKENS).fill(hashText(JSON.stringify(picture), 0x811c9dc5));
}

/** Appends in a loop: a long prompt spread into push() would overflow the stack. */
function append(target: number[], more: readonly number[]): void {
  for (const token of more) target.push(token);
}
