import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { runProgram, withClients } from "./client.ts";
import { assertServed, linesSince, stacks } from "./stack.ts";
import { asked, assertTold, type Told } from "./told.ts";

interface TellsResults extends Told {
  /** What the model said to the results of tools. */
  readonly results: readonly string[];
}

withClients("Vercel AI", (dir) => {
  for (const stack of stacks()) {
    describe(`Vercel AI, through the router to ${stack.name}`, () => {
      it("generates and streams text over responses, chat completions and messages, with a tool and its result", async () => {
        const from = stack.lines().length;
        const told = await runProgram<TellsResults>(dir, "vercel-ai.mjs", stack.url);
        assertTold(told, stack);
        for (const text of told.results) assert.ok(text.length > 0, "No words to the result of a tool");
        const lines = await linesSince(stack, from, 12);
        assert.deepEqual(asked(lines), {
          "POST /v1/responses": 3,
          "POST /v1/responses in a stream": 1,
          "POST /v1/chat/completions": 3,
          "POST /v1/chat/completions in a stream": 1,
          "POST /v1/messages": 3,
          "POST /v1/messages in a stream": 1,
        });
        for (const path of ["/v1/responses", "/v1/chat/completions", "/v1/messages"])
          assertServed(
            lines.filter((line) => line.path === path),
            path,
          );
      });
    });
  }
});
