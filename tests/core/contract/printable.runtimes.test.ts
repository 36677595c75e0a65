import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { printable } from "../../../core/contract/printable.ts";

const rows: readonly (readonly [name: string, text: string, printed: string])[] = [
  ["nothing", "", ""],
  ["ASCII", "meta-llama/Llama-3.1-8B: ~!", "meta-llama/Llama-3.1-8B: ~!"],
  ["other scripts", "größe モデル 模型 🚂 \u00a0", "größe モデル 模型 🚂 \u00a0"],
  ["an escape sequence", "a\u001b[2Jb", "a?[2Jb"],
  ["its one-character form", "a\u009b2Jb", "a?2Jb"],
  ["line breaks of all kinds", "a\r\nb\u0085c\u2028d\u2029e", "a??b?c?d?e"],
  ["NUL, tab and DEL", "a\0b\tc\u007f", "a?b?c?"],
  ["marks that turn the direction", "\u202eabc\u2066\u200f\u061c", "?abc???"],
];

describe("printable", () => {
  for (const [name, text, printed] of rows) it(name, () => assert.equal(printable(text), printed));
});
