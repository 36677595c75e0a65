import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Endpoint } from "../../../../core/contract/endpoint.ts";
import type { GetResult } from "../../../../core/wire/http-get-result.ts";
import { Rendering } from "../../../../plugins/features/kv-events/prompts/rendering.ts";
import { makeEndpoint } from "../../../support/endpoints.ts";

const CHAT = "/v1/chat/completions";
const [A, B] = [makeEndpoint(0), makeEndpoint(1)];
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Asks through `post`; what is learned is in `learned`. */
function rendering(post: (endpoint: Endpoint, path: string, body: string) => Promise<GetResult>) {
  let nowMs = 0;
  const made = new Rendering(
    (endpoint, path, body, _bounds, done) => void post(endpoint, path, body).then(done, () => done(undefined)),
    () => nowMs,
  );
  const learned: (readonly number[])[] = [];
  const ask = (endpoint = A, path = CHAT, body = "{}") =>
    made.ask({ endpoint, path, body, learned: (tokens) => void learned.push(tokens) });
  const wait = (ms: number) => {
    nowMs += ms;
  };
  return { made, learned, ask, wait };
}

const answer = (document: unknown, status = 200) => Promise.resolve({ status, body: JSON.stringify(document) });

describe("the tokens of prompts", () => {
  it("are asked of the replica, at the request's path", async () => {
    const paths: string[] = [];
    const { learned, ask, made } = rendering((endpoint, path, body) => {
      paths.push(`${endpoint.name} ${path} ${body}`);
      return answer({ token_ids: [1, 2], features: null });
    });
    ask();
    await turn();
    assert.deepEqual(paths, ["e0 /v1/chat/completions/render {}"]);
    assert.deepEqual(learned, [[1, 2]]);
    assert.deepEqual(made.counts, { learned: 1, failed: 0, dropped: 0 });
  });

  it("are in a request of token ids", () => {
    const { learned, ask, made } = rendering(() => assert.fail());
    ask(A, "/inference/v1/generate", '{"token_ids":[5,6]}');
    ask(A, "/inference/v1/generate", '{"token_ids":[5,6],"features":{}}');
    ask(A, "/inference/v1/generate", '{"token_ids":[5,"6"]}');
    ask(A, "/inference/v1/generate", "{");
    assert.deepEqual(learned, [[5, 6]]);
    assert.equal(made.counts.failed, 3);
  });

  it("are not learned of several prompts, of images, and of what makes no sense", async () => {
    const bad = [
      [{ token_ids: [1] }, { token_ids: [2] }],
      { token_ids: [1], features: { image: 1 } },
      { token_ids: ["1"] },
      7,
      null,
      [],
    ];
    const { learned, ask, made } = rendering(() => answer(bad.shift()));
    const { length } = bad;
    for (let i = 0; i < length; i++) {
      ask();
      await turn();
    }
    assert.deepEqual(learned, []);
    assert.equal(made.counts.failed, length);
  });

  it("are not asked for again where nobody renders, for a while", async () => {
    const { made, ask, wait } = rendering(() => answer({}, 404));
    assert.equal(made.knows("/v1/embeddings", A), false);
    assert.equal(made.knows(CHAT, A), true);
    ask();
    await turn();
    assert.equal(made.knows(CHAT, A), false);
    assert.equal(made.knows(CHAT, B), true);
    wait(300_000);
    assert.equal(made.knows(CHAT, A), true);
  });

  it("of one replica that never answers keep nobody else waiting, and stay few", async () => {
    const stuck: ((why: Error) => void)[] = [];
    const { made, learned, ask } = rendering((endpoint) =>
      endpoint === A ? new Promise((_, reject) => stuck.push(reject)) : answer({ token_ids: [3] }),
    );
    for (let i = 0; i < 100; i++) ask(A);
    assert.equal(stuck.length, 1);
    assert.equal(made.counts.dropped, 100 - 1 - 64);
    stuck[0]!(new Error("timeout"));
    await turn();
    assert.equal(made.counts.failed, 65);
    ask(B);
    await turn();
    assert.deepEqual(learned, [[3]]);
    assert.equal(made.knows(CHAT, A), false);
  });
});
