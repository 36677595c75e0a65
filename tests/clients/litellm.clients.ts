import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { runProgram, withClients } from "./client.ts";
import { assertServed, engines, linesSince, type Stack } from "./stack.ts";
import { asked, assertTold, type Told } from "./told.ts";

withClients("litellm", (dir) => {
  for (const engine of engines()) {
    describe(`litellm, through the router to ${engine.name}`, () => {
      let stack: Stack;
      before(async () => {
        stack = await engine.start();
      });
      after(() => stack?.close());

      it("asks as its providers openai and anthropic do, whole, in streams, with the call of a tool", async () => {
        const told = await runProgram<Told>(dir, "litellm_sdk.py", stack.url);
        assertTold(told, engine);
        const lines = await linesSince(stack, 0, 6);
        assert.deepEqual(asked(lines), {
          "POST /v1/chat/completions": 2,
          "POST /v1/chat/completions in a stream": 1,
          "POST /v1/messages": 2,
          "POST /v1/messages in a stream": 1,
        });
        for (const path of ["/v1/chat/completions", "/v1/messages"])
          assertServed(
            lines.filter((line) => line.path === path),
            path,
          );
      });
    });
  }
});
