/** Bodies that parsers trip over, or read in two ways; what is forwarded arrives byte for byte but for the model's name. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import { chatRequest, exchangeCleanly } from "../support/clean-exchange.ts";
import { exchange, isWholeAnswer, openClient, postBytes, readAnswer } from "../support/raw-client.ts";
import { startTestRouter, type TestRouter } from "../support/router.ts";
import { jsonAnswer, type ScriptedReplica, startScriptedReplica } from "../support/scripted-replica.ts";
import { BODY, CHAT } from "./smuggling-rows.ts";

/** "alias" is rewritten to "m", so that bodies with it are spliced. */
const ALIAS = `---
apiVersion: llm-d.ai/v1alpha2
kind: InferenceModelRewrite
metadata: { name: alias }
spec:
  poolRef: { name: default }
  rules: [{ matches: [{ model: { type: Exact, value: alias } }], targets: [{ modelRewrite: m }] }]
`;
const JSON_TYPE = "Content-Type: application/json";

let replica: ScriptedReplica;
let router: TestRouter;
before(async () => {
  replica = await startScriptedReplica(
    (_request, socket) => void socket.write(jsonAnswer('{"choices":[{"index":0}],"ok":true}')),
  );
  router = await startTestRouter([replica.url], { documents: ALIAS });
});
after(async () => {
  await router.close();
  await replica.close();
});

describe("hostile bodies", () => {
  const deep = (levels: number) => `{"model":"m","x":${"[".repeat(levels)}${"]".repeat(levels)}}`;
  const many = `{${Array.from({ length: 300_000 }, (_, n) => `"k${n}":0`).join(",")},"model":"m"}`;
  const rows: readonly { name: string; body: string | Buffer; verdict: string; arrives?: string }[] = [
    { name: "a million levels", body: deep(1_000_000), verdict: "400 invalid_json" },
    { name: "one level too many", body: deep(256), verdict: "400 invalid_json" },
    { name: "as many levels as are allowed", body: deep(255), verdict: "200 " },
    { name: "300,000 keys", body: many, verdict: "200 " },
    { name: "a byte order mark", body: `\ufeff${BODY}`, verdict: "400 invalid_json" },
    { name: "UTF-16", body: Buffer.from(BODY, "utf16le"), verdict: "400 invalid_json" },
    { name: "UTF-16 with its mark", body: Buffer.from(`\ufeff${BODY}`, "utf16le"), verdict: "400 invalid_json" },
    { name: "no body", body: "", verdict: "400 invalid_json" },
    { name: "a lone surrogate as model", body: '{"model":"\\ud800"}', verdict: "404 model_not_found" },
    { name: "lone surrogates in the prompt", body: '{"model":"m","messages":"\\udc00\\ud800"}', verdict: "200 " },
    { name: "bytes that are not UTF-8 as model", body: Buffer.from('{"model":"\xff"}', "latin1"), verdict: "400 invalid_value" },
    {
      name: "bytes that are not UTF-8 in the prompt",
      body: Buffer.from('{"model":"m","messages":"\xff\xc0\x80"}', "latin1"),
      verdict: "200 ",
    },
    { name: "an overlong model", body: Buffer.from('{"model":"\xc1\xad"}', "latin1"), verdict: "400 invalid_value" },
    { name: "two models", body: '{"model":"m","model":"n"}', verdict: "400 invalid_value" },
    { name: "the same model twice", body: '{"model":"m","model":"m"}', verdict: "400 invalid_value" },
    { name: "a second model with an escape", body: '{"model":"m","\\u006dodel":"n"}', verdict: "400 invalid_value" },
    {
      name: "a first model with an escape",
      body: '{"\\u006d\\u006f\\u0064\\u0065\\u006c":"m","model":"n"}',
      verdict: "400 invalid_value",
    },
    { name: "two streams", body: '{"model":"m","stream":true,"stream":false}', verdict: "400 invalid_value" },
    { name: "two salts", body: '{"model":"m","cache_salt":"a","cache_salt":"b"}', verdict: "400 invalid_value" },
    { name: "a model with an escaped key", body: '{"mod\\u0065l":"alias"}', verdict: "200 ", arrives: '{"mod\\u0065l":"m"}' },
    { name: "a model in the model", body: '{"model":{"model":"m"}}', verdict: "400 missing_model" },
    { name: "a list as model", body: '{"model":["m"]}', verdict: "400 missing_model" },
    { name: "a model of another case", body: '{"Model":"m"}', verdict: "400 missing_model" },
    { name: "a model with white space in its key", body: '{"model ":"m"}', verdict: "400 missing_model" },
    {
      name: "decoys around the model",
      body: '{"a":{"model":"x"},"b":[{"model":"y"}],"c":"\\"model\\":\\"z\\"","model" : "alias" ,"d":{"model":"w"}}',
      verdict: "200 ",
      arrives: '{"a":{"model":"x"},"b":[{"model":"y"}],"c":"\\"model\\":\\"z\\"","model" : "m" ,"d":{"model":"w"}}',
    },
    {
      name: "numbers that no parser keeps",
      body: '{"seed":12345678901234567890,"x":1e400,"y":1.0,"z":-0,"w":0.1000,"model":"alias"}',
      verdict: "200 ",
      arrives: '{"seed":12345678901234567890,"x":1e400,"y":1.0,"z":-0,"w":0.1000,"model":"m"}',
    },
    {
      name: "keys that objects have",
      body: '{"__proto__":{"model":"x","stream":true},"constructor":{"prototype":{}},"toString":1,"model":"m"}',
      verdict: "200 ",
    },
    {
      name: "addresses for the router to call",
      body: '{"model":"m","api_base":"http://127.0.0.1:1","base_url":"http://127.0.0.1:1"}',
      verdict: "200 ",
    },
    { name: "a null character after the body", body: `${BODY}\0`, verdict: "400 invalid_json" },
    { name: "two bodies", body: BODY + BODY, verdict: "400 invalid_json" },
    { name: "a comment", body: '{"model":"m"/**/}', verdict: "400 invalid_json" },
    { name: "white space that JSON does not have", body: '{"model":\u00a0"m"}', verdict: "400 invalid_json" },
  ];
  for (const { name, body, verdict, arrives } of rows) {
    it(`${name}: ${verdict}`, async () => {
      const { answer, received } = await exchangeCleanly(router, replica, chatRequest([JSON_TYPE], body));
      assert.equal(`${answer.status} ${(answer.json["error"] as { code: string } | undefined)?.code ?? ""}`, verdict);
      const expected = verdict === "200 " ? [Buffer.from(arrives ?? body).toString("latin1")] : [];
      assert.deepEqual(
        received.map((request) => request.body.toString("latin1")),
        expected,
      );
    });
  }

  const types: readonly (readonly [lines: readonly string[], body: Buffer | string, status: number])[] = [
    [[], BODY, 415],
    [["Content-Type: text/plain"], BODY, 415],
    [["Content-Type: application/jsonp"], BODY, 415],
    [["Content-Type: application/json, text/plain"], BODY, 415],
    [[JSON_TYPE, "Content-Type: text/plain"], BODY, 400],
    [["Content-Type: Application/JSON; charset=utf-8"], BODY, 200],
    [[JSON_TYPE, "Content-Encoding: gzip"], BODY, 400],
    [[JSON_TYPE, "Content-Encoding: compress"], gzipSync(BODY), 415],
    [[JSON_TYPE, "Content-Encoding: identity, gzip"], gzipSync(BODY), 415],
    [[JSON_TYPE], gzipSync(BODY), 400],
  ];
  for (const [lines, body, status] of types) {
    it(`${lines.join(", ") || "no Content-Type"}${typeof body === "string" ? "" : " (compressed)"}: ${status}`, async () => {
      const { answer, received } = await exchangeCleanly(router, replica, chatRequest(lines, body));
      assert.equal(answer.status, status);
      assert.equal(received.length, status === 200 ? 1 : 0);
    });
  }

  const MOST_TINY_CHUNKS = 256 * 1024;
  for (const [name, chunks, verdict] of [
    ["as many chunks of one byte as are allowed", MOST_TINY_CHUNKS, "200 "],
    ["one chunk of one byte too many", MOST_TINY_CHUNKS + 1, "400 bad_request"],
  ] as const) {
    it(`${name}: ${verdict}`, async () => {
      const [before, after] = ['{"model":"m","prompt":"', '"}'];
      const body = before + "x".repeat(chunks - before.length - after.length) + after;
      const count = replica.requests.length;
      const client = await openClient(router.port);
      client.send(`POST ${CHAT} HTTP/1.1\r\nHost: test\r\n${JSON_TYPE}\r\nTransfer-Encoding: chunked\r\n\r\n`);
      client.send(`${body.replace(/./g, "1\r\n$&\r\n")}0\r\n\r\n`);
      const { status, head, json } = readAnswer(await client.until(isWholeAnswer));
      assert.equal(`${status} ${(json["error"] as { code: string } | undefined)?.code ?? ""}`, verdict);
      assert.equal(head.includes("\r\nConnection: close"), status === 400);
      const received = replica.requests.slice(count).map((request) => request.body.toString("latin1"));
      assert.deepEqual(received, status === 200 ? [body] : []);
      client.destroy();
    });
  }

  it("33 MB are refused before they are sent", async () => {
    const client = await openClient(router.port);
    client.send(`POST ${CHAT} HTTP/1.1\r\nHost: test\r\n${JSON_TYPE}\r\nContent-Length: ${33 * 1024 * 1024}\r\n\r\n{`);
    assert.equal(readAnswer(await client.closed()).status, 413);
  });
});

it("a lone surrogate as model is served like any model where the profile does not ask for the model", async () => {
  const spec = "  profiles: [ { name: default, unguarded: true, plugins: [ { pluginRef: ready }, { pluginRef: max-score } ] } ]";
  const lenient = await startTestRouter([replica.url], { spec });
  after(() => lenient.close());
  const body = '{"model":"\\ud800","messages":[]}';
  const { status, head, json } = readAnswer(await exchange(lenient.port, postBytes(CHAT, body)));
  assert.deepEqual([status, json["ok"]], [200, true]);
  assert.match(head, /^x-signalbox-model: %EF%BF%BD\r$/m);
  assert.equal(replica.requests.at(-1)?.body.toString(), body);
});
