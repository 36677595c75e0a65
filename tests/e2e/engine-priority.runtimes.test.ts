/** The request's priority in the body, for engines that order their queues by it. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, it } from "node:test";
import { exchange, postBytes, readAnswer } from "../support/raw-client.ts";
import { answerOk, CHAT, chatBody, setUp } from "../support/scripted-pool.ts";

const OBJECTIVES = `---
apiVersion: llm-d.ai/v1alpha2
kind: InferenceObjective
metadata: { name: urgent }
spec: { priority: 9, poolRef: { name: default } }
`;
const spec = (options: string) =>
  `  admission: { concurrency: 64, priorityHeaders: [x-priority], modelPriorities: { m: -2 }, ${options} }\n`;

/** Sends the body with these header lines, and returns what the replica got. */
async function pool(options: string, more = "") {
  const { router, replica } = await setUp([answerOk], { spec: spec(options) + more, documents: OBJECTIVES });
  return async (body: string, lines = "", path = CHAT) => {
    const answer = await exchange(router.port, postBytes(path, body, lines));
    assert.equal(readAnswer(answer).status, 200, answer);
    return replica.requests.at(-1)!;
  };
}

const textOf = ({ body }: { readonly body: Buffer }) => body.toString();
const bodyWith = (priority: string) => chatBody().replace("{", `{"priority":${priority},`);

describe("enginePriority", () => {
  it("writes the priority that the router knows, and changes nothing else of the body", async () => {
    const send = await pool("enginePriority: lower-first");
    const seed = ',"seed":12345678901234567890,"metadata":{"priority":1}';
    const lines: readonly (readonly [lines: string, priority: string])[] = [
      ["X-Priority: 3\r\n", "-3"],
      ["x-llm-d-inference-objective: urgent\r\n", "-9"],
      ["", "2"],
      ["X-Priority: 0\r\n", "0"],
      ["X-Priority: -9999999999\r\n", String(2 ** 31 - 1)],
    ];
    for (const [line, priority] of lines)
      assert.equal(textOf(await send(chatBody(seed), line)), bodyWith(priority).replace(/}$/, `${seed}}`));
    const messages = chatBody(',"max_tokens":1');
    assert.equal(textOf(await send(messages, "X-Priority: 3\r\n", "/v1/messages")), messages, "an API without it");
  });

  it("leaves the client's own, unless the config says otherwise", async () => {
    const send = await pool("enginePriority: higher-first");
    assert.equal(textOf(await send(bodyWith("-5"), "X-Priority: 3\r\n")), bodyWith("-5"));
    assert.equal(textOf(await send(bodyWith(" null "), "X-Priority: 3\r\n")), bodyWith(" 3 "));

    const sendOver = await pool("enginePriority: higher-first, overridesPriority: true");
    assert.equal(textOf(await sendOver(bodyWith("-5"), "X-Priority: 3\r\n")), bodyWith("3"));
    const { head } = await sendOver(chatBody(), "X-Priority: 3\r\nx-VLLM-priority: 7\r\n");
    assert.doesNotMatch(head, /x-vllm-priority/i, "vLLM would believe it before the body");
  });

  it("is the key's where clients show keys, beside the salt of their tenant and another model's name", async () => {
    const sha256 = createHash("sha256").update("sk-a").digest("hex");
    const auth = `  auth: { saltByTenant: true, keys: [{ name: a, sha256: ${sha256}, priority: 4 }] }\n`;
    const send = await pool("enginePriority: lower-first, overridesPriority: true", auth);
    const sent = textOf(await send(bodyWith("-5"), "Authorization: Bearer sk-a\r\nX-Priority: 3\r\n"));
    const { cache_salt, ...rest } = JSON.parse(sent) as Record<string, unknown>;
    assert.match(String(cache_salt), /^[\w-]{43}$/);
    assert.deepEqual(rest, { ...(JSON.parse(chatBody()) as object), priority: -4 });
  });

  it("off, nothing is written", async () => {
    const send = await pool("");
    assert.equal(textOf(await send(chatBody(), "X-Priority: 3\r\n")), chatBody());
  });
});
