import { isObject, type JsonObject } from "../fields.ts";
import { invalidField } from "../problem.ts";
import { hashText, tokenize } from "../tokens.ts";
import { mediaOf } from "./part-tokens.ts";

/** A conversation as one prompt. Equal leading messages give equal leading tokens. */
export function conversationTokens(messages: readonly unknown[], place: string): number[] {
  const tokens: number[] = [];
  for (const message of messages) {
    if (!isObject(message)) throw invalidField("model_attributes_type", place, "Input should be a valid dictionary", message);
    append(tokens, tokenize(`<|${String(message["role"] ?? "user")}|>`));
    append(tokens, contentTokens(message["content"] ?? ""));
    append(tokens, callTokens(message));
  }
  return tokens;
}

/** What the tools were called with, and gave: fields of messages, or items of their own. */
function callTokens({ tool_calls: calls, name, arguments: written, output }: JsonObject): number[] {
  const texts = [Array.isArray(calls) ? JSON.stringify(calls) : "", typeof written === "string" ? `${name}${written}` : ""];
  return tokenize(`${texts.join("")}${typeof output === "string" ? output : ""}`);
}

/** Parts may hold parts: the results of tools, and documents in them. */
const MOST_LEVELS = 4;

/** The tokens of a message's content: text, or a list of text parts (by any API's name) and others. */
export function contentTokens(content: unknown, levels = MOST_LEVELS): number[] {
  if (typeof content === "string") return tokenize(content);
  const tokens: number[] = [];
  for (const part of Array.isArray(content) ? content : []) {
    if (isObject(part)) append(tokens, partTokens(part, levels));
  }
  return tokens;
}

function partTokens(part: JsonObject, levels: number): number[] {
  if (typeof part["text"] === "string") return tokenize(part["text"]);
  const media = mediaOf(part);
  // Equal data give equal tokens, so that the prefix cache finds them.
  if (media !== undefined) return new Array<number>(media.tokens).fill(hashText(media.identity, 0x811c9dc5));
  if (levels === 0) return [];
  const source = isObject(part["source"]) ? (part["source"]["content"] ?? part["source"]["data"]) : undefined;
  return contentTokens(part["content"] ?? source, levels - 1);
}

/** Appends in a loop: a long prompt spread into push() would overflow the stack. */
function append(target: number[], more: readonly number[]): void {
  for (const token of more) target.push(token);
}
