import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { ENGINE_PATHS } from "../../plugins/parsers/engine-paths.ts";
import { startTestRouter, type TestRouter } from "../support/router.ts";
import { jsonAnswer, type ScriptedReplica, startScriptedReplica } from "../support/scripted-replica.ts";

const SPEC = `  plugins:
    - type: model-paths
      parameters:
        routes:
          - { path: "/v2/models/{model}/infer", model: { in: path }, optional: false }
          - { method: GET, path: /v1/voices, model: { in: query } }
          - { path: /v1/any, optional: true }
    - type: passthrough
      parameters: { routes: [ { method: GET, path: "/v1/things/{id}" }, { method: GET, path: "/{any}" }, { method: GET, path: "/v1/{any}" } ] }
`;
const REWRITE = `---
apiVersion: llm-d.ai/v1alpha2
kind: InferenceModelRewrite
metadata: { name: stand-in }
spec:
  poolRef: { name: default }
  rules:
    - matches: [ { model: { value: stand-in } } ]
      targets: [ { modelRewrite: org/b 2, weight: 1 } ]
`;
const MODELS = ["a", "org/b 2"] as const;

let replicas: readonly ScriptedReplica[];
let router: TestRouter;

before(async () => {
  replicas = await Promise.all(
    MODELS.map((model) => startScriptedReplica((_request, socket) => void socket.write(jsonAnswer("{}")), [model])),
  );
  router = await startTestRouter(
    replicas.map(({ url }) => url),
    { spec: SPEC, documents: REWRITE },
  );
});

after(async () => {
  await router.close();
  await Promise.all(replicas.map((replica) => replica.close()));
});

/** Sends a request; what the replica got that it went to, and which that is. */
async function send(target: string, init: RequestInit) {
  const counts = replicas.map(({ requests }) => requests.length);
  const response = await fetch(router.url + target, init);
  const text = await response.text();
  const at = replicas.findIndex(({ requests }, index) => requests.length > counts[index]!);
  const got = replicas[at]?.requests.at(-1);
  return { status: response.status, text, model: MODELS[at], line: got?.startLine, body: got?.body ?? Buffer.alloc(0) };
}

const json = (body: object): RequestInit => ({
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(body),
});

function form(model: string): RequestInit {
  const body = new FormData();
  body.append("file", new Blob([new Uint8Array(300_000).fill(7)]), "speech.wav");
  body.append("model", model);
  body.append("language", "en");
  return { method: "POST", body };
}

describe("engines' other paths", () => {
  for (const { path } of ENGINE_PATHS) {
    it(`${path} goes to a replica that has the model`, async () => {
      for (const model of [...MODELS, ...MODELS]) {
        const sent = await send(path, json({ query: "q", model, input: [1, 2], messages: [] }));
        assert.deepEqual([sent.status, sent.model], [200, model]);
      }
    });
  }

  it("a form goes there too, and reaches it as it was", async () => {
    for (const model of [...MODELS, ...MODELS]) {
      const sent = await send("/v1/audio/transcriptions", form(model));
      assert.deepEqual([sent.status, sent.model], [200, model]);
      assert.ok(sent.body.length > 300_000);
    }
  });

  it("rewrites apply, and change nothing else", async () => {
    const whole = await send("/v1/rerank", json({ query: "q", model: "stand-in", top_n: 1 }));
    assert.deepEqual([whole.model, whole.body.toString()], ["org/b 2", '{"query":"q","model":"org/b 2","top_n":1}']);
    const part = (name: string, value: string) => `--x\r\nContent-Disposition: form-data; name=${name}\r\n\r\n${value}\r\n`;
    const formOf = (model: string) =>
      Buffer.from(
        `${part('"file"; filename="a.wav"', "\xff\0stand-in\r\n-")}${part('"model"', model)}${part("n", "1")}--x--\r\n`,
        "latin1",
      );
    const headers = { "Content-Type": "multipart/form-data; boundary=x" };
    for (const preamble of ["", "\r\n", "For those who can't read forms:\r\n"]) {
      const whole = (model: string) => Buffer.concat([Buffer.from(preamble), formOf(model), Buffer.from("and that is all")]);
      const sent = await send("/v1/audio/translations", { method: "POST", body: whole("stand-in"), headers });
      assert.equal(sent.model, "org/b 2");
      assert.deepEqual(sent.body, whole("org/b 2"));
    }
    const inPath = await send("/v2/models/stand-in/infer?x=1", json({}));
    assert.deepEqual([inPath.model, inPath.line], ["org/b 2", "POST /v2/models/org%2Fb%202/infer?x=1 HTTP/1.1"]);
    const inQuery = await send("/v1/voices?a=b&model=stand-in&c", {});
    assert.deepEqual([inQuery.model, inQuery.line], ["org/b 2", "GET /v1/voices?a=b&model=org%2Fb%202&c HTTP/1.1"]);
  });

  it("a model that stays is sent as the client wrote it", async () => {
    const inPath = await send("/v2/models/org%2fb%202/infer", json({}));
    assert.deepEqual([inPath.model, inPath.line], ["org/b 2", "POST /v2/models/org%2fb%202/infer HTTP/1.1"]);
    const inQuery = await send("/v1/voices?model=org/b+2", {});
    assert.deepEqual([inQuery.model, inQuery.line], ["org/b 2", "GET /v1/voices?model=org/b+2 HTTP/1.1"]);
  });

  it("names in braces stand for a part of the path", async () => {
    const sent = await send("/v1/things/42", {});
    assert.deepEqual([sent.status, sent.line], [200, "GET /v1/things/42 HTTP/1.1"]);
    for (const path of ["/v1/things/", "/v1/things/4/2", "/v1//things"]) assert.equal((await send(path, {})).status, 404);
    assert.equal((await send("/v1/things/42", { method: "DELETE" })).status, 405);
  });

  const REFUSED: readonly (readonly [name: string, target: string, init: RequestInit, status: number, code: string])[] = [
    ["a model that nobody lists", "/v1/rerank", json({ model: "z" }), 404, "model_not_found"],
    ["a form with such a model", "/v1/audio/transcriptions", form("z"), 404, "model_not_found"],
    ["no model", "/tokenize", json({ prompt: "hi" }), 400, "missing_model"],
    ["a form without a model", "/v1/audio/transcriptions", { method: "POST", body: new FormData() }, 400, "missing_model"],
    ["a body that is neither", "/v1/audio/transcriptions", { method: "POST", body: "x" }, 415, "unsupported_media_type"],
    ["a form where none is taken", "/v1/rerank", form("a"), 415, "unsupported_media_type"],
    ["an upload in parts", "/v1/uploads", { method: "POST" }, 501, "not_implemented"],
    ["a batch of messages", "/v1/messages/batches", json({}), 501, "not_implemented"],
    ["realtime", "/v1/realtime/calls", {}, 501, "not_implemented"],
    ["a part of a stored response", "/v1/responses/resp_1/tokens", {}, 501, "not_implemented"],
  ];
  for (const [name, target, init, status, code] of REFUSED) {
    it(`${name} is refused`, async () => {
      const sent = await send(target, init);
      assert.deepEqual([sent.status, (JSON.parse(sent.text) as { error: { code: string } }).error.code], [status, code]);
      assert.equal(sent.line, undefined);
    });
  }

  it("a pattern takes no path that the router itself answers", async () => {
    for (const path of ["/health", "/ready", "/v1/models"]) assert.equal((await send(path, {})).line, undefined, path);
    assert.equal((await send("/version", {})).line, "GET /version HTTP/1.1");
    assert.equal((await send("/v1/uploads", {})).line, "GET /v1/uploads HTTP/1.1");
  });

  it("a path without a model goes to any replica where the route says so", async () => {
    assert.equal((await send("/v1/any", json({}))).status, 200);
  });

  it("the message of an unknown path does not name those that are refused", async () => {
    assert.doesNotMatch((await send("/nothing/at/all", {})).text, /uploads|videos/);
  });
});
