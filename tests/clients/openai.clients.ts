import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { runProgram, withClients } from "./client.ts";
import { assertServedAt, linesSince, MODEL, OTHER, SERVED, stacks } from "./stack.ts";
import { asked, assertTold, type Told } from "./told.ts";

interface OpenAiTold extends Told {
  readonly models: readonly string[];
}

const PROGRAMS = [
  ["npm", "openai.mjs"],
  ["PyPI", "openai_sdk.py"],
] as const;

withClients("the openai packages", (dir) => {
  for (const stack of stacks()) {
    describe(`the openai packages, through the router to ${stack.name}`, () => {
      for (const [registry, file] of PROGRAMS) {
        it(`of ${registry}: models, chat, completions and responses, whole and in streams, calls of tools`, async () => {
          const from = stack.lines().length;
          const told = await runProgram<OpenAiTold>(dir, file, stack.url);
          assertTold(told, stack);
          assert.deepEqual([...told.models].sort(), [MODEL, OTHER, SERVED, "tiny"].sort());
          const lines = await linesSince(stack, from, 9);
          assert.deepEqual(asked(lines), {
            "GET /v1/models": 1,
            "POST /v1/chat/completions": 1,
            "POST /v1/chat/completions in a stream": 2,
            "POST /v1/completions": 1,
            "POST /v1/completions in a stream": 1,
            "POST /v1/responses": 2,
            "POST /v1/responses in a stream": 1,
          });
          assertServedAt(lines, ["/v1/chat/completions", "/v1/completions", "/v1/responses"]);
        });
      }
    });
  }
});
