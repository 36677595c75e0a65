import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { modelNotFound } from "../../../core/report/model-names.ts";

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `m${String(index).padStart(2, "0")}`);

describe("what a client is told that asks for a model that there is not", () => {
  const rows: readonly (readonly [
    name: string,
    asked: string,
    clientModels: readonly string[],
    listed: readonly string[],
    text: string,
  ])[] = [
    ["nothing is known", "x", [], [], "No such; no replica has listed one yet."],
    ["names of rewrites first", "?", ["z", "y"], ["b", "a"], 'No such; set "model" to one of: z, y, a, b.'],
    ["each name once", "?", ["a"], ["b", "a", "b"], 'No such; set "model" to one of: a, b.'],
    [
      "ten at most",
      "?",
      ["food"],
      numbered(14),
      `No such; set "model" to one of: food, ${numbered(9).join(", ")} and 5 more that GET /v1/models lists.`,
    ],
    [
      "one that is meant",
      "lama-8b",
      [],
      ["llama-8b", "qwen"],
      'No such (did you mean "llama-8b"?); set "model" to one of: llama-8b, qwen.',
    ],
    [
      "one that is meant, beyond the tenth",
      "M13",
      [],
      numbered(14),
      `No such (did you mean "m13"?); set "model" to one of: ${numbered(10).join(", ")} and 4 more that GET /v1/models lists.`,
    ],
    ["nothing that steers a terminal", "?", [], ["a\u001b[2Jb\u202e"], 'No such; set "model" to one of: a?[2Jb?.'],
    [
      "no name of any length",
      "?",
      [],
      ["a", "b".repeat(129)],
      'No such; set "model" to one of: a and 1 more that GET /v1/models lists.',
    ],
  ];
  for (const [name, asked, clientModels, listed, text] of rows) {
    it(name, () => {
      const error = modelNotFound("No such", asked, { clientModels, listed });
      assert.deepEqual([error.status, error.code, error.message], [404, "model_not_found", text]);
    });
  }
});
