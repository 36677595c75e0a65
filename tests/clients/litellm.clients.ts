import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { runProgram, withClients } from "./client.ts";
import { assertServedAt, linesSince, stacks } from "./stack.ts";
import { asked, assertTold, type Told } from "./told.ts";

withClients("litellm", (dir) => {
  for (const stack of stacks()) {
    describe(`litellm, through the router to ${stack.name}`, () => {
      it("asks as its providers openai and anthropic do, whole, in streams, with the call of a tool", async () => {
        const from = stack.lines().length;
        const told = await runProgram<Told>(dir, "litellm_sdk.py", stack.url);
        assertTold(told, stack);
        const lines = await linesSince(stack, from, 6);
        assert.deepEqual(asked(lines), {
          "POST /v1/chat/completions": 2,
          "POST /v1/chat/completions in a stream": 1,
          "POST /v1/messages": 2,
          "POST /v1/messages in a stream": 1,
        });
        assertServedAt(lines, ["/v1/chat/completions", "/v1/messages"]);
      });
    });
  }
});
