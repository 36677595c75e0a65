import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { runProgram, withClients } from "./client.ts";
import { assertServedAt, linesSince, stacks } from "./stack.ts";
import { asked, assertToldResults, type TellsResults } from "./told.ts";

withClients("Vercel AI", (dir) => {
  for (const stack of stacks()) {
    describe(`Vercel AI, through the router to ${stack.name}`, () => {
      it("generates and streams text over responses, chat completions and messages, with a tool and its result", async () => {
        const from = stack.lines().length;
        const told = await runProgram<TellsResults>(dir, "vercel-ai.mjs", stack.url);
        assertToldResults(told, stack);
        const lines = await linesSince(stack, from, 12);
        assert.deepEqual(asked(lines), {
          "POST /v1/responses": 3,
          "POST /v1/responses in a stream": 1,
          "POST /v1/chat/completions": 3,
          "POST /v1/chat/completions in a stream": 1,
          "POST /v1/messages": 3,
          "POST /v1/messages in a stream": 1,
        });
        assertServedAt(lines, ["/v1/responses", "/v1/chat/completions", "/v1/messages"]);
      });
    });
  }
});
