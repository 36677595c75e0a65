import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ParsedBody } from "../../../../core/contract/request.ts";
import { ExpectedOutput } from "../../../../plugins/features/auth/expected-output.ts";

const asked = (maxOutputTokens: number, promptSpans: ParsedBody["promptSpans"] = [[0, 1]], choices?: number) =>
  ({ maxOutputTokens, promptSpans, choices }) as ParsedBody;

describe("the output that is expected", () => {
  const expected = new ExpectedOutput();
  expected.learn("a", "chat", 40);
  expected.learn("a", "embeddings", 0);
  for (let n = 0; n < 100; n++) expected.learn("b", "chat", 1000);

  const rows: readonly (readonly [what: string, name: string, api: string, asked: ParsedBody, tokens: number])[] = [
    ["is the client's limit", "a", "chat", asked(7), 7],
    ["is what the principal's requests usually take", "a", "chat", asked(0), 40],
    ["is the client's limit for each choice", "a", "chat", asked(7, [[0, 1]], 128), 896],
    ["is what is usual for each choice", "a", "chat", asked(0, [[0, 1]], 3), 120],
    ["stays a number that sums are exact with", "a", "chat", asked(2 ** 52, [[0, 1]], 2 ** 52), Number.MAX_SAFE_INTEGER],
    ["is another one for another API", "a", "embeddings", asked(0), 0],
    ["is that of all for a principal that is new", "c", "chat", asked(0), 1000],
    ["is a guess before anything is known", "a", "messages", asked(0), 256],
    ["is none without a prompt", "a", "chat", asked(7, []), 0],
  ];
  for (const [what, name, api, body, tokens] of rows) it(what, () => assert.equal(expected.of(name, api, body), tokens));

  it("follows what the last requests took", () => {
    for (let n = 0; n < 100; n++) expected.learn("a", "chat", 200);
    assert.equal(expected.of("a", "chat", asked(0)), 200);
  });

  it("is not kept for any number of principals", () => {
    const many = new ExpectedOutput();
    for (let n = 0; n <= 10_000; n++) many.learn(`user-${n}`, "chat", n);
    assert.equal(many.of("user-10000", "chat", asked(0)), 10_000);
    assert.notEqual(many.of("user-0", "chat", asked(0)), 0);
  });
});
