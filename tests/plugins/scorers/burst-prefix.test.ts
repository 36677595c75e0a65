import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import type { InferenceRequest } from "../../../core/contract/request.ts";
import burstPrefix from "../../../plugins/scorers/burst-prefix.ts";
import { makeEndpoints, makeLoad, makePrefix, makeRequest } from "../../support/endpoints.ts";
import { createPlugin, issuesOf } from "../../support/plugins.ts";

/** A prompt of one letter for each block, of 100 tokens each; equal beginnings have equal hashes. */
function promptOf(text: string): InferenceRequest {
  const hashes = [...text].flatMap((_, index) => {
    const words = [...text.slice(0, index + 1)].reduce((hash, letter) => (Math.imul(hash, 31) + letter.charCodeAt(0)) | 0, 7);
    return [words, ~words];
  });
  return makeRequest({ prefix: { ...makePrefix(text.length, 100, []), hashes, tokensIn: () => 100 } });
}

/** A scorer whose requests go where it says, or to the endpoint that `otherwise` names. */
function world(parameters: object, count = 3) {
  const scorer = createPlugin(burstPrefix, parameters);
  const endpoints = makeEndpoints(count);
  const scoresOf = (text: string, nowMs = 0) => scorer.score(promptOf(text), endpoints, makeLoad(count, { nowMs }));
  const send = (text: string, otherwise: number, nowMs = 0): number => {
    const scores = scoresOf(text, nowMs);
    const slot = scores === null ? otherwise : Array.from(scores).indexOf(1);
    scorer.chosen?.(promptOf(text), endpoints[slot]!, makeLoad(count, { nowMs }));
    return slot;
  };
  return { scorer, endpoints, scoresOf, send };
}

describe("requests with one prompt", () => {
  it("follow the first, wherever it went", () => {
    const { send, scoresOf } = world({});
    assert.equal(scoresOf("abc"), null);
    assert.equal(send("abc", 2), 2);
    assert.deepEqual(scoresOf("abc"), [0, 0, 1]);
    assert.deepEqual(
      [1, 2, 3, 4].map(() => send("abc", 0)),
      [2, 2, 2, 2],
    );
    assert.equal(scoresOf("xyz"), null);
  });

  it("fill one replica, then the one that the window has loaded least", () => {
    const { send } = world({ maxPerReplica: 2 });
    send("other", 1);
    assert.deepEqual(
      [1, 2, 3, 4, 5, 6, 7].map(() => send("abc", 0)),
      [0, 0, 2, 2, 1, 1, 0],
    );
  });

  it("among equally loaded ones, the one with the fewest requests in flight", () => {
    const { scorer, endpoints } = world({ maxPerReplica: 1 });
    const load = makeLoad(3, { inFlight: [0, 9, 4] });
    scorer.chosen?.(promptOf("abc"), endpoints[0]!, load);
    assert.deepEqual(scorer.score(promptOf("abc"), endpoints, load), [0, 0, 1]);
  });

  it("are forgotten when the window ends, from its first request on", () => {
    const { send, scoresOf } = world({ windowMs: 100 });
    send("abc", 2, 1_000);
    send("abc", 0, 1_099);
    assert.deepEqual(scoresOf("abc", 1_099), [0, 0, 1]);
    assert.equal(scoresOf("abc", 1_100), null);
    assert.equal(send("abc", 1, 1_150), 1);
    assert.deepEqual(scoresOf("abc", 1_200), [0, 1, 0]);
  });

  it("go elsewhere when their replica is no candidate any more", () => {
    const { scorer, endpoints, send } = world({});
    send("abc", 2);
    assert.deepEqual(scorer.score(promptOf("abc"), endpoints.slice(0, 2), makeLoad(3)), [1, 0]);
    assert.deepEqual(scorer.score(promptOf("abc"), [], makeLoad(3)), null);
  });
});

describe("prompts that share a beginning", () => {
  it("are strangers by default", () => {
    const { send, scoresOf } = world({});
    send("abcX", 2);
    assert.equal(scoresOf("abcY"), null);
  });

  it("stay together from so many tokens on, up to a fair share of the window", () => {
    const { send, scoresOf } = world({ minSharedTokens: 250 });
    send("abcX", 2);
    assert.deepEqual(scoresOf("abcY"), null, "one of one is more than a share of three replicas");
    send("other", 0);
    send("third", 1);
    assert.deepEqual(scoresOf("abcY"), [0, 0, 1]);
    assert.equal(scoresOf("abdY"), null);
    assert.equal(scoresOf("ab"), null, "shorter than what must be shared");
  });
});

test("no opinion on a prompt that is not hashed", () => {
  const scorer = createPlugin(burstPrefix);
  assert.equal(scorer.score(makeRequest(), makeEndpoints(2), makeLoad(2)), null);
  scorer.chosen?.(makeRequest(), makeEndpoints(2)[0]!, makeLoad(2));
});

test("a window of a million prompts takes bounded memory", () => {
  const { scorer, endpoints } = world({ windowMs: 60_000 });
  const load = makeLoad(3);
  const prefix = (index: number) => ({ ...makePrefix(1, 100, []), hashes: [index, index] });
  for (let index = 0; index < 70_000; index++) scorer.chosen?.(makeRequest({ prefix: prefix(index) }), endpoints[0]!, load);
  const scoresOf = (index: number) => scorer.score(makeRequest({ prefix: prefix(index) }), endpoints, load);
  assert.deepEqual([scoresOf(0), scoresOf(69_999)], [[1, 0, 0], null]);
});

test("parameters that are refused", () => {
  for (const parameters of [{ windowMs: 0 }, { maxPerReplica: 0 }, { maxPerReplica: -2 }, { minSharedTokens: -1 }, { window: 1 }])
    assert.equal(issuesOf(burstPrefix, parameters).length, 1, JSON.stringify(parameters));
});
