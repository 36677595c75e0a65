import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createRouter } from "../../../apps/fetch.ts";
import { startMockReplica } from "../../../apps/lab/mock/replica.ts";
import { createPlugin, explain, recordedDecisions } from "../../../core/test-kit.ts";
import outstandingWork from "../../../plugins/scorers/outstanding-work.ts";

/** What a router says of some requests, in both ways. */
async function record(): Promise<{ readonly decisions: string; readonly log: string }> {
  const replicas = await Promise.all([0, 1].map(() => startMockReplica({ model: "m", timeScale: 0 })));
  const lines: string[] = [];
  const urls = replicas.map(({ url }) => url);
  const router = await createRouter({ urls, print: (line) => void lines.push(line) });
  try {
    await router.whenReady(5_000);
    for (const content of ["Tell me about soup.", "Tell me about soup. And then?"]) {
      const body = JSON.stringify({ model: "m", messages: [{ role: "user", content }], max_tokens: 2 });
      const headers = { "content-type": "application/json" };
      await (await router.fetch(new Request("http://router/v1/chat/completions", { method: "POST", headers, body }))).text();
    }
    const decisions = await (await router.explain(new Request("http://router/decisions"))).text();
    return { decisions, log: lines.join("\n") };
  } finally {
    router.close();
    await Promise.all(replicas.map((replica) => replica.close()));
  }
}

describe("what a router recorded", () => {
  it("is decided again as it was, by the scorer that decided it", async () => {
    const { decisions, log } = await record();
    const cases = recordedDecisions(decisions);
    assert.equal(cases.length, 2);
    for (const { request, pool, order } of cases) {
      const { scores } = explain(createPlugin(outstandingWork), request, pool);
      // Among equals the router drew one.
      assert.equal(scores[order[0] ?? ""], Math.max(...Object.values(scores).map(Number)));
    }
    const ofLog = recordedDecisions(log);
    assert.deepEqual(new Set(ofLog.map(({ name }) => name)), new Set(cases.map(({ name }) => name)));
    for (const { request, pool, order } of ofLog) {
      assert.deepEqual([request.model, pool.endpoints.some(({ name }) => name === order[0])], ["m", true]);
      assert.ok(request.promptTokens > 0);
    }
  });

  const wrong: readonly (readonly [name: string, text: string, message: RegExp])[] = [
    ["a line of text", "GET /v1/models 200", /^Error: Line 1 is no JSON: GET \/v1\/models 200\. Give the text of \/decisions/],
    ["another document", '{"endpoints":[]}', /^Error: This is neither a decision nor a line of an access log: /],
  ];
  for (const [name, text, message] of wrong) it(`is not ${name}`, () => assert.throws(() => recordedDecisions(text), message));
});
