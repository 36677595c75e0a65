import assert from "node:assert/strict";
import { test } from "node:test";
import { pairPartOf, prefillResponse } from "../../../../apps/lab/simulate/pair-bodies.ts";

const body = (members: object) => [Buffer.from(JSON.stringify({ prompt: "AAAA", ...members }))];

test("a request is a pair's prefill, its decode, or whole", () => {
  assert.equal(pairPartOf(body({})), undefined);
  assert.equal(pairPartOf(body({ kv_transfer_params: { do_remote_decode: false } })), undefined);
  assert.deepEqual(pairPartOf(body({ kv_transfer_params: { do_remote_decode: true, remote_host: null } })), { kind: "prefill" });
  const { kv_transfer_params } = JSON.parse(prefillResponse("r", "transfer-7", 12, undefined)) as { kv_transfer_params: object };
  const parts = [
    Buffer.from('{"kv_transfer_params":'),
    Buffer.from(JSON.stringify(kv_transfer_params)),
    Buffer.from(',"prompt":"AA"}'),
  ];
  assert.deepEqual(pairPartOf(parts), { kind: "decode", transfer: "transfer-7" });
});

test("the response says what was cached if replicas do", () => {
  const usage = (cached: number | undefined) => (JSON.parse(prefillResponse("r", "t", 12, cached)) as { usage: object }).usage;
  assert.deepEqual(usage(undefined), { prompt_tokens: 12, completion_tokens: 1 });
  assert.deepEqual(usage(5), { prompt_tokens: 12, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 5 } });
});
