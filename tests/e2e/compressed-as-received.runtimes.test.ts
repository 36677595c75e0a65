/** Bodies that clients have compressed, and that replicas get as they came. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import { CODINGS, randomText } from "../support/compressed.ts";
import { isWholeAnswer, openClient, readAnswer } from "../support/raw-client.ts";
import { type TestRouter, waitUntil } from "../support/router.ts";
import { answerOk, assertIdle, CHAT, chatBody, OK, setUp } from "../support/scripted-pool.ts";
import { jsonAnswer, type Script } from "../support/scripted-replica.ts";

const MOST_BYTES = 3 * 1024 * 1024;
const SPEC = `  limits: { bodyBytes: ${MOST_BYTES} }
  plugins: [{ type: compressed-bodies, parameters: { forward: asReceived } }, { type: access-log }]
`;
const REWRITE = `---
apiVersion: llm-d.ai/v1alpha2
kind: InferenceModelRewrite
metadata: { name: alias }
spec:
  poolRef: { group: inference.networking.k8s.io, name: default }
  rules:
    - matches: [ { model: { type: Exact, value: alias } } ]
      targets: [ { modelRewrite: m } ]
`;
const { router, replica } = await setUp([answerOk], { spec: SPEC, documents: REWRITE });
const LARGE = `,"more":"${randomText(1_000_000)}"`;

const headOf = (coding: string, framing: string, lines = "") =>
  `POST ${CHAT} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Encoding: ${coding}\r\n${lines}${framing}\r\n\r\n`;

async function send(to: TestRouter, coding: string, body: Uint8Array, { isChunked = false, lines = "" } = {}) {
  const client = await openClient(to.port);
  client.send(headOf(coding, isChunked ? "Transfer-Encoding: chunked" : `Content-Length: ${body.length}`, lines));
  if (isChunked) client.send(`${body.length.toString(16)}\r\n`);
  client.send(body);
  if (isChunked) client.send("\r\n0\r\n\r\n");
  const { status, json } = readAnswer(await client.until(isWholeAnswer));
  client.destroy();
  return { status, code: (json["error"] as { code?: string } | undefined)?.code };
}

const bodyBytes = (of: TestRouter) => of.router.gate.memory.bodyBytes;

describe("a compressed body that is to go on as it came", () => {
  for (const [coding, compress] of CODINGS) {
    for (const [name, text] of [
      ["small", chatBody()],
      ["large", chatBody(LARGE)],
    ] as const) {
      for (const isChunked of [false, true]) {
        it(`in ${coding}, ${name}, ${isChunked ? "in chunks" : "whole"}`, async () => {
          const body = compress(Buffer.from(text));
          assert.deepEqual(await send(router, coding, body, { isChunked }), { status: 200, code: undefined });
          const got = replica.requests.at(-1)!;
          assert.deepEqual(got.body, body);
          assert.equal(got.headers.get("content-encoding"), coding);
          assert.equal(got.headers.get("content-length"), String(body.length));
          await waitUntil(() => bodyBytes(router) === 0);
        });
      }
    }

    it(`in ${coding} is plain where a model's name is written into it`, async () => {
      const text = chatBody(LARGE);
      const body = compress(Buffer.from(text.replace('"m"', '"alias"')));
      assert.equal((await send(router, coding, body)).status, 200);
      const got = replica.requests.at(-1)!;
      assert.equal(got.body.toString(), text);
      assert.equal(got.headers.get("content-encoding"), undefined);
    });
  }

  const refused: readonly (readonly [name: string, body: Buffer, code: RegExp])[] = [
    ["something else", Buffer.from(chatBody()), /^bad_request$/],
    ["no JSON", gzipSync("hello"), /^invalid_json$/],
    ["for another model", gzipSync(chatBody().replace('"m"', '"n"')), /^model_not_found$/],
    ["too long", gzipSync(chatBody(`,"a":"${randomText(MOST_BYTES)}"`)), /^body_too_large$/],
    ["a bomb", gzipSync(Buffer.alloc(MOST_BYTES - 1_000, " ")), /^body_too_large$/],
    // A name of the file as RFC 1952 allows it: nothing comes out while it goes in.
    ["a head of megabytes", Buffer.concat([namedHead(), Buffer.alloc(MOST_BYTES, "a")]), /^body_too_large$/],
  ];
  for (const [name, body, code] of refused) {
    it(`is refused as ever when it is ${name}`, async () => {
      const before = replica.requests.length;
      assert.match((await send(router, "gzip", body, { isChunked: true })).code ?? "", code);
      assert.equal(replica.requests.length, before);
      await waitUntil(() => bodyBytes(router) === 0);
    });
  }

  it("is the same for another replica", async () => {
    const busy = jsonAnswer('{"error":{"message":"busy"}}', "503 Service Unavailable");
    let requests = 0;
    const script: Script = (_request, socket) => void socket.write(requests++ === 0 ? busy : OK);
    const { router, replicas } = await setUp([script, script], { spec: SPEC });
    const body = gzipSync(chatBody(LARGE));
    assert.equal((await send(router, "gzip", body)).status, 200);
    for (const { requests } of replicas) {
      assert.deepEqual(
        requests.map((request) => [request.body.equals(body), request.headers.get("content-encoding")]),
        [[true, "gzip"]],
      );
    }
    await assertIdle(router);
    await waitUntil(() => bodyBytes(router) === 0);
  });

  it("counts twice in memory, until its client goes", async () => {
    const { router } = await setUp([() => {}], { spec: SPEC });
    const text = chatBody(LARGE);
    const body = gzipSync(text);
    const client = await openClient(router.port);
    client.send(headOf("gzip", `Content-Length: ${body.length}`));
    client.send(body.subarray(0, -100));
    await waitUntil(() => bodyBytes(router) > text.length + body.length - 100_000);
    client.destroy();
    await waitUntil(() => bodyBytes(router) === 0);
    await assertIdle(router);
  });

  it("is refused where there is no memory for both", async () => {
    const memoryBytes = 2 * 1024 * 1024;
    const { router } = await setUp([answerOk], { spec: SPEC.replace("limits: {", `limits: { memoryBytes: ${memoryBytes},`) });
    const body = gzipSync(chatBody(`,"more":"${randomText(1_500_000)}"`));
    assert.deepEqual(await send(router, "gzip", body), { status: 503, code: "overloaded" });
    await waitUntil(() => bodyBytes(router) === 0);
    assert.equal((await send(router, "gzip", gzipSync(chatBody()))).status, 200);
    await waitUntil(() => bodyBytes(router) === 0);
  });

  it("is plain where its tenant's salt is written into it", async () => {
    const sha256 = createHash("sha256").update("sk-a").digest("hex");
    const spec = `${SPEC}  auth: { saltByTenant: true, keys: [{ name: a, sha256: ${sha256}, tenant: a }] }\n`;
    const { router, replica } = await setUp([answerOk], { spec });
    assert.equal((await send(router, "gzip", gzipSync(chatBody()), { lines: "Authorization: Bearer sk-a\r\n" })).status, 200);
    const got = replica.requests.at(-1)!;
    assert.equal(got.headers.get("content-encoding"), undefined);
    assert.match((JSON.parse(got.body.toString()) as { cache_salt: string }).cache_salt, /^[\w-]{43}$/);
  });
});

/** The head of a gzip file that has a name, which follows. */
function namedHead(): Buffer {
  return Buffer.from([0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 3]);
}
