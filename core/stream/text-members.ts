import { isBlank } from "./json-bytes.ts";

const COLON = 0x3a;
const QUOTE = 0x22;

/** Members with text that a model generated, in the responses of the APIs that are served: answers, reasoning, arguments of tools. */
export const TEXT_MEMBERS = [
  "content",
  "reasoning_content",
  "reasoning",
  "text",
  "delta",
  "thinking",
  "arguments",
  "partial_json",
] as const;

/** Where the value begins of the member whose name's first quote is at `key`; -1 if bytes[key, end) have none. */
export function valueStart(bytes: Uint8Array, key: number, end: number): number {
  const nameEnd = bytes.indexOf(QUOTE, key + 1) + 1;
  let at = nameEnd;
  while (at < end && (bytes[at] === COLON || isBlank(bytes[at]!))) at += 1;
  return at === nameEnd || at >= end ? -1 : at;
}
