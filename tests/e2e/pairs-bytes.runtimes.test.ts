/** What replicas get, byte for byte, of a request that a pair serves by NIXL, and what the client gets. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, it } from "node:test";
import { askPair, assertAtRest, bodiesOf, chatOf, DECODED, PARAMETERS, PROMPT, pairPool } from "../support/pair-pool.ts";

const REMOTE = {
  do_remote_decode: true,
  do_remote_prefill: false,
  remote_engine_id: null,
  remote_block_ids: null,
  remote_host: null,
  remote_port: null,
};
const FRONT = `{"kv_transfer_params":${JSON.stringify(REMOTE)},`;
const LONG = `"${PROMPT}"`;

/** Of each API: a body, and the same as it is sent for its prompt, without what is written in front. */
const APIS: readonly (readonly [path: string, body: string, prompt: string, added?: string])[] = [
  [
    "/v1/completions",
    `{"max_tokens":50,"prompt":${LONG},"seed":12345678901234567890,"model":"m","stream":true,"stream_options":{"include_usage":true},"min_tokens":5,"n":1,"best_of":1}`,
    `{"max_tokens":1,"prompt":${LONG},"seed":12345678901234567890,"model":"m","stream":false,"stream_options":null,"min_tokens":0,"n":1,"best_of":null}`,
  ],
  [
    "/v1/chat/completions",
    `{ "z": 1e400, "messages":[{"role":"user","content":${LONG}}] ,"max_completion_tokens" : 9 , "max_tokens":7,"model":"m", "1":-0 }`,
    `{ "z": 1e400, "messages":[{"role":"user","content":${LONG}}] ,"max_completion_tokens" : 1 , "max_tokens":1,"model":"m", "1":-0 }`,
    '"stream":false,',
  ],
  [
    "/v1/responses",
    `{"model":"m","input":${LONG},"store":true,"background":false,"stream":true}`,
    `{"model":"m","input":${LONG},"store":false,"background":false,"stream":false}`,
    '"max_output_tokens":1,',
  ],
  [
    "/v1/messages",
    `{"model":"m","max_tokens":100000,"messages":[{"role":"user","content":${LONG}}]}`,
    `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":${LONG}}]}`,
    '"stream":false,',
  ],
  [
    "/inference/v1/generate",
    `{"model":"m","token_ids":[${"11,".repeat(200)}12],"sampling_params":{"seed":9223372036854775807,"max_tokens":50,"min_tokens":3,"temperature":1.0}}`,
    `{"model":"m","token_ids":[${"11,".repeat(200)}12],"sampling_params":{"n":1,"seed":9223372036854775807,"max_tokens":1,"min_tokens":0,"temperature":1.0}}`,
    '"stream":false,',
  ],
];

describe("what the replicas of a pair get", () => {
  for (const [path, body, prompt, added = ""] of APIS) {
    it(path, async () => {
      const pool = await pairPool();
      const { status } = await askPair(pool, body, path);
      assert.equal(status, 200);
      assert.deepEqual(bodiesOf(pool.prefill[0]!), [`${FRONT}${added}${prompt.slice(1)}`]);
      assert.deepEqual(bodiesOf(pool.decode[0]!), [`{"kv_transfer_params":${PARAMETERS},${body.slice(1)}`]);
      for (const { requests } of [...pool.prefill, ...pool.decode]) {
        assert.equal(requests[0]!.startLine, `POST ${path} HTTP/1.1`);
        assert.equal(requests[0]!.headers.get("x-request-id"), pool.router.log.at(-1)?.id);
      }
      await assertAtRest(pool);
    });
  }

  it("a target and a salt in place of the client's, in both", async () => {
    const sha256 = createHash("sha256").update("sk-a").digest("hex");
    const pool = await pairPool({
      spec: `  auth: { saltByTenant: true, keys: [{ name: a, sha256: ${sha256}, tenant: a }] }\n`,
      models: ["target/long-name"],
      documents: `---
apiVersion: llm-d.ai/v1alpha2
kind: InferenceModelRewrite
metadata: { name: food }
spec: { poolRef: { name: default }, rules: [ { matches: [ { model: { value: m } } ], targets: [ { modelRewrite: target/long-name } ] } ] }
`,
    });
    const body = `{"cache_salt":"mine","stream":true,"messages":[{"role":"user","content":${LONG}}],"model":"m","kv_transfer_params":null}`;
    const { status } = await askPair(pool, body, undefined, "Authorization: Bearer sk-a\r\n");
    assert.equal(status, 200);
    const [prompt = ""] = bodiesOf(pool.prefill[0]!);
    const [answer = ""] = bodiesOf(pool.decode[0]!);
    const [, salt = ""] = /^\{"cache_salt":"([\w-]{43})"/.exec(answer) ?? [];
    const written = body.replace("mine", salt).replace('"m"', '"target/long-name"');
    assert.equal(answer, written.replace(/null}$/, `${PARAMETERS}}`));
    assert.equal(
      prompt,
      `{"max_tokens":1,${written
        .slice(1)
        .replace("true", "false")
        .replace(/null}$/, `${JSON.stringify(REMOTE)}}`)}`,
    );
  });

  it("keys with escapes are the client's keys, too", async () => {
    const pool = await pairPool();
    const body = chatOf(',"max\\u005ftokens":50,"str\\u0065am":true');
    await askPair(pool, body);
    assert.deepEqual(bodiesOf(pool.prefill[0]!), [`${FRONT}${chatOf(',"max\\u005ftokens":1,"str\\u0065am":false').slice(1)}`]);
  });

  it("a key that comes twice is refused, so that no engine reads another one than the router", async () => {
    const pool = await pairPool();
    for (const twice of ['"max_tokens":5,"max_tokens":6', '"kv_transfer_params":null,"kv\\u005ftransfer_params":{"a":1}']) {
      const { status } = await askPair(pool, `,${twice}`);
      assert.equal(status, 400);
    }
    assert.deepEqual(bodiesOf(pool.prefill[0]!), []);
  });
});

describe("what the client gets", () => {
  it("the answer of one endpoint, as it came", async () => {
    const pool = await pairPool();
    const { answer } = await askPair(pool);
    assert.equal(answer.slice(answer.indexOf("\r\n\r\n")), DECODED.slice(DECODED.indexOf("\r\n\r\n")));
    assert.ok(!answer.includes("prefill-id"));
    assert.equal((answer.match(/x-request-id/gi) ?? []).length, 1);
  });

  it("one stream, one usage, one id; the log has one line", async () => {
    const pool = await pairPool();
    const { answer } = await askPair(pool, ',"stream":true');
    assert.ok(!answer.includes("prefill-id"));
    assert.equal(answer.split('"usage"').length, 2);
    assert.ok(answer.includes("data: [DONE]"));
    assert.equal(pool.router.log.length, 1);
    const [line] = pool.router.log;
    assert.equal(line!.endpoint, "d0");
    assert.deepEqual(
      line!.attempts.map(({ endpoint, result }) => [endpoint, result]),
      [["d0", 200]],
    );
    assert.deepEqual(
      { ...pool.pairs() },
      {
        ...{ transfer: "nixl", paired: 1, alone: 0, unpairable: 0, failed: 0, causes: {}, prefill: ["p0"], decode: ["d0"] },
      },
    );
    await assertAtRest(pool);
  });

  it("many one after the other use kept connections", async () => {
    const pool = await pairPool();
    for (let n = 0; n < 5; n++) assert.equal((await askPair(pool, ',"stream":true')).status, 200);
    for (const { requests } of [...pool.prefill, ...pool.decode]) assert.equal(requests.at(-1)!.indexOnConnection, 4);
    assert.equal(pool.pairs().paired, 5);
  });
});
