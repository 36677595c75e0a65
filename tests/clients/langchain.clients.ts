import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { runProgram, withClients } from "./client.ts";
import { assertServedAt, linesSince, stacks } from "./stack.ts";
import { asked, assertToldResults, type TellsResults } from "./told.ts";

withClients("LangChain", (dir) => {
  for (const stack of stacks()) {
    describe(`LangChain, through the router to ${stack.name}`, () => {
      it("asks over chat completions and responses, whole, in streams, with a tool and its result", async () => {
        const from = stack.lines().length;
        const told = await runProgram<TellsResults>(dir, "langchain_sdk.py", stack.url);
        assertToldResults(told, stack);
        const lines = await linesSince(stack, from, 8);
        assert.deepEqual(asked(lines), {
          "POST /v1/chat/completions": 3,
          "POST /v1/chat/completions in a stream": 1,
          "POST /v1/responses": 3,
          "POST /v1/responses in a stream": 1,
        });
        assertServedAt(lines, ["/v1/chat/completions", "/v1/responses"]);
      });
    });
  }
});
