/** Requests that are well framed and hostile all the same: headers that steer or forge, expectations, bodies made to be read in two ways. */
import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { after, before, describe, it } from "node:test";
import { headerOf, takeCleanRequest } from "../support/clean-request.ts";
import { MemoryRouter } from "../support/memory-router.ts";
import { exchange, openClient, readAnswer } from "../support/raw-client.ts";
import { startTestRouter, type TestRouter } from "../support/router.ts";
import { jsonAnswer, type ScriptedReplica, startScriptedReplica } from "../support/scripted-replica.ts";
import { answersIn } from "../support/whole-answer.ts";
import { singles } from "../support/wire-transcript.ts";
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
  replica = await startScriptedReplica((_request, socket) => void socket.write(jsonAnswer('{"ok":true}')));
  router = await startTestRouter([replica.url], { documents: ALIAS });
});
after(async () => {
  await router.close();
  await replica.close();
});

/** Sends one request over sockets and returns the answer with what came of it at the replica, in clean form. */
async function send(lines: readonly string[], body: Buffer | string = BODY) {
  const before = replica.requests.length;
  const answer = readAnswer(await exchange(router.port, request(lines, body)));
  const received = replica.requests.slice(before).map(({ head, body: bytes }) => {
    const taken = takeCleanRequest(Buffer.concat([Buffer.from(head, "latin1"), bytes]));
    assert.ok(taken !== undefined && taken.rest.length === 0);
    return taken.request;
  });
  return { answer, received };
}

function request(lines: readonly string[], body: Buffer | string): Buffer {
  const bytes = Buffer.from(body);
  const head = [`POST ${CHAT} HTTP/1.1`, "Host: test", ...lines, `Content-Length: ${bytes.length}`, "", ""].join("\r\n");
  return Buffer.concat([Buffer.from(head, "latin1"), bytes]);
}

describe("headers by which a client could choose the replica, or pose as a proxy", () => {
  const names = [
    ...["x-gateway-destination-endpoint", "x-gateway-destination-endpoint-served", "x-gateway-model-name", "x-gateway-inference-objective"],
    ...["x-gateway-inference-fairness-id", "X-Gateway-Destination-Endpoint-Subset", "x-prefiller-url", "x-prefiller-host-port"],
    ...["x-data-parallel-rank", "x-data-parallel-host-port", "x-llm-d-endpoint", "x-llm-d-inference-pool", "x-encoder-hosts-ports"],
    ...["x-envoy-original-path", "x-envoy-original-dst-host", "x-envoy-upstream-rq-timeout-ms", "x-envoy-retry-on", "x-envoy-force-trace"],
    ...["x-envoy-decorator-operation", "x-envoy-internal", "x-envoy-external-address", "x-envoy-max-retries", "x-envoy-hedge-on-per-try-timeout"],
    ...["x-forwarded-host", "x-forwarded-proto", "x-forwarded-port", "x-forwarded-server", "x-forwarded-client-cert", "x-forwarded-prefix"],
    ...["forwarded", "x-signalbox-endpoint", "x-signalbox-model", "X-SIGNALBOX-TARGET", "proxy-authorization", "proxy-connection", "proxy-authenticate"],
    ...["keep-alive", "te", "trailer", "upgrade", "x_forwarded_for", "X_Gateway_Destination_Endpoint", "content_length", "__proto__", "x-vllm-priority"],
  ];
  for (const name of names) {
    it(`${name} reaches no replica`, async () => {
      const { answer, received } = await send([JSON_TYPE, `${name}: 6.6.6.6:666`]);
      assert.equal(answer.status, 200);
      assert.equal(received.length, 1);
      assert.equal(headerOf(received[0]!, name.toLowerCase()), undefined);
      assert.ok(!JSON.stringify(received[0]!.headers).includes("6.6.6.6"));
      assert.equal(received[0]!.target, CHAT);
    });
  }
  for (const name of ["constructor", "toString", "hasOwnProperty", "x-api-key", "authorization"]) {
    it(`${name} is a header like any other`, async () => {
      const { received } = await send([JSON_TYPE, `${name}: 1`]);
      assert.equal(headerOf(received[0]!, name.toLowerCase()), "1");
    });
  }

  it("x-forwarded-for is the peer, whatever the client says", async () => {
    const { received } = await send([JSON_TYPE, "X-Forwarded-For: 6.6.6.6", "x-forwarded-for: 7.7.7.7, 8.8.8.8"]);
    assert.equal(headerOf(received[0]!, "x-forwarded-for"), "127.0.0.1");
  });

  for (const id of ["x".repeat(65), "y".repeat(2000), "a b", "a/b", "", "é", "a,b"]) {
    it(`the request id ${JSON.stringify(id.slice(0, 20))} of ${id.length} characters is replaced`, async () => {
      const { answer, received } = await send([JSON_TYPE, `X-Request-Id: ${id}`]);
      const used = headerOf(received[0]!, "x-request-id")!;
      assert.match(used, /^req-[a-z0-9]+-[a-z0-9]+$/);
      assert.match(answer.head, new RegExp(`^x-request-id: ${used}$`, "m"));
    });
  }

  it("two request ids are none", async () => {
    const { received } = await send([JSON_TYPE, "X-Request-Id: a", "X-Request-Id: b"]);
    assert.match(headerOf(received[0]!, "x-request-id")!, /^req-/);
  });

  it("what Connection names ends here, and what must not be named is refused", async () => {
    const { received } = await send([JSON_TYPE, "Connection: keep-alive, x-secret", "X-Secret: 1", "X-Kept: 2"]);
    assert.equal(headerOf(received[0]!, "x-secret"), undefined);
    assert.equal(headerOf(received[0]!, "x-kept"), "2");
    for (const name of ["authorization", "Content-Type", "host", "x-api-key", "cookie", "expect", "a b", "(a)"]) {
      const refused = await send([JSON_TYPE, `Connection: ${name}`]);
      assert.equal(refused.answer.status, 400, name);
      assert.equal(refused.received.length, 0);
    }
  });
});

describe("expectations and upgrades", () => {
  const rows: readonly { name: string; lines: readonly string[]; statuses: readonly number[]; isAsked?: boolean; version?: string }[] = [
    { name: "Expect: 100-continue", lines: ["Expect: 100-continue"], statuses: [200], isAsked: true },
    { name: "Expect: 100-CONTINUE", lines: ["Expect: 100-CONTINUE"], statuses: [200], isAsked: true },
    { name: "Expect in HTTP/1.0", lines: ["Expect: 100-continue"], statuses: [200], version: "1.0" },
    { name: "Expect: a miracle", lines: ["Expect: a miracle"], statuses: [417] },
    { name: "Expect twice", lines: ["Expect: 100-continue", "Expect: 100-continue"], statuses: [417] },
    { name: "an empty Expect", lines: ["Expect:"], statuses: [417] },
    { name: "Upgrade: h2c", lines: ["Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA"], statuses: [200] },
    { name: "Upgrade: websocket", lines: ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Key: dGhlIHNhbXBsZQ=="], statuses: [200] },
    { name: "TE: trailers", lines: ["TE: trailers, deflate"], statuses: [200] },
  ];
  for (const { name, lines, statuses, isAsked = false, version = "1.1" } of rows) {
    it(name, async () => {
      const bytes = Buffer.from(request([JSON_TYPE, ...lines], BODY).toString("latin1").replace("HTTP/1.1", `HTTP/${version}`), "latin1");
      const memory = new MemoryRouter(router);
      for (const pieces of [[bytes], singles(bytes)]) {
        const { received, requests } = await memory.exchange(pieces);
        assert.equal(received.startsWith("HTTP/1.1 100 Continue\r\n\r\n"), isAsked);
        assert.deepEqual(answersIn(received).map(({ status }) => status), statuses);
        assert.deepEqual(requests.map(({ body }) => body.toString()), statuses[0] === 200 ? [BODY] : []);
      }
    });
  }
});

describe("bodies", () => {
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
    { name: "bytes that are not UTF-8 in the prompt", body: Buffer.from('{"model":"m","messages":"\xff\xc0\x80"}', "latin1"), verdict: "200 " },
    { name: "an overlong model", body: Buffer.from('{"model":"\xc1\xad"}', "latin1"), verdict: "400 invalid_value" },
    { name: "two models", body: '{"model":"m","model":"n"}', verdict: "400 invalid_value" },
    { name: "the same model twice", body: '{"model":"m","model":"m"}', verdict: "400 invalid_value" },
    { name: "a second model with an escape", body: '{"model":"m","\\u006dodel":"n"}', verdict: "400 invalid_value" },
    { name: "a first model with an escape", body: '{"\\u006d\\u006f\\u0064\\u0065\\u006c":"m","model":"n"}', verdict: "400 invalid_value" },
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
    { name: "addresses for the router to call", body: '{"model":"m","api_base":"http://127.0.0.1:1","base_url":"http://127.0.0.1:1"}', verdict: "200 " },
    { name: "a null character after the body", body: `${BODY}\0`, verdict: "400 invalid_json" },
    { name: "two bodies", body: BODY + BODY, verdict: "400 invalid_json" },
    { name: "a comment", body: '{"model":"m"/**/}', verdict: "400 invalid_json" },
    { name: "white space that JSON does not have", body: '{"model":\u00a0"m"}', verdict: "400 invalid_json" },
  ];
  for (const { name, body, verdict, arrives } of rows) {
    it(`${name}: ${verdict}`, async () => {
      const { answer, received } = await send([JSON_TYPE], body);
      assert.equal(`${answer.status} ${(answer.json["error"] as { code: string } | undefined)?.code ?? ""}`, verdict);
      const expected = verdict === "200 " ? [Buffer.from(arrives ?? body).toString("latin1")] : [];
      assert.deepEqual(received.map((request) => request.body.toString("latin1")), expected);
    });
  }

  const types: readonly (readonly [lines: readonly string[], body: Buffer | string, status: number])[] = [
    [[], BODY, 415],
    [["Content-Type: text/plain"], BODY, 415],
    [["Content-Type: application/jsonp"], BODY, 415],
    [["Content-Type: application/json, text/plain"], BODY, 415],
    [[JSON_TYPE, "Content-Type: text/plain"], BODY, 415],
    [["Content-Type: Application/JSON; charset=utf-8"], BODY, 200],
    [[JSON_TYPE, "Content-Encoding: gzip"], gzipSync(BODY), 415],
    [[JSON_TYPE, "Content-Encoding: identity, gzip"], gzipSync(BODY), 415],
    [[JSON_TYPE], gzipSync(BODY), 400],
  ];
  for (const [lines, body, status] of types) {
    it(`${lines.join(", ") || "no Content-Type"}${typeof body === "string" ? "" : " (compressed)"}: ${status}`, async () => {
      const { answer, received } = await send(lines, body);
      assert.equal(answer.status, status);
      assert.equal(received.length, status === 200 ? 1 : 0);
    });
  }

  it("33 MB are refused before they are sent", async () => {
    const client = await openClient(router.port);
    client.send(`POST ${CHAT} HTTP/1.1\r\nHost: test\r\n${JSON_TYPE}\r\nContent-Length: ${33 * 1024 * 1024}\r\n\r\n{`);
    assert.equal(readAnswer(await client.closed()).status, 413);
  });
});
