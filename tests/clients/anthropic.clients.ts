import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { runProgram, withClients } from "./client.ts";
import { assertServed, linesSince, stacks } from "./stack.ts";
import { asked, assertTold, type Told } from "./told.ts";

interface AnthropicTold extends Told {
  /** Tokens of the same prompt, as a message reports them, and as they are counted without one. */
  readonly prompts: readonly [reported: number, counted: number];
}

const PROGRAMS = [
  ["npm", "anthropic.mjs"],
  ["PyPI", "anthropic_sdk.py"],
] as const;

withClients("the packages of Anthropic", (dir) => {
  for (const stack of stacks()) {
    describe(`the packages of Anthropic, through the router to ${stack.name}`, () => {
      for (const [registry, file] of PROGRAMS) {
        it(`of ${registry}: messages whole and in a stream, the call of a tool, a count of tokens`, async () => {
          const from = stack.lines().length;
          const told = await runProgram<AnthropicTold>(dir, file, stack.url);
          assertTold(told, stack);
          assert.equal(told.prompts[0], told.prompts[1]);
          const lines = await linesSince(stack, from, 4);
          assert.deepEqual(asked(lines), {
            "POST /v1/messages": 1,
            "POST /v1/messages in a stream": 2,
            "POST /v1/messages/count_tokens": 1,
          });
          assertServed(
            lines.filter(({ path }) => path === "/v1/messages"),
            "/v1/messages",
          );
          const count = lines.find(({ path }) => path === "/v1/messages/count_tokens");
          assert.deepEqual([count?.status, count?.target], [200, "food-review-v1"]);
        });
      }
    });
  }
});
