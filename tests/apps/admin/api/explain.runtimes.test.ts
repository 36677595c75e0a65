import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import type { AdminAccess } from "../../../../apps/admin/permission.ts";
import type { AdminServer } from "../../../../apps/admin/server.ts";
import {
  type DecisionReport,
  type DryRunReport,
  decisionReportSchema,
  dryRunReportSchema,
} from "../../../../core/report/report-schema.ts";
import { checkedFacts } from "../../../../core/state/facts-document.ts";
import { askFor, startTestAdmin } from "../../../support/admin.ts";
import { exchange, postBytes, readAnswer } from "../../../support/raw-client.ts";
import { startTestRouter, type TestRouter } from "../../../support/router.ts";
import { jsonAnswer, type ScriptedReplica, startScriptedReplica } from "../../../support/scripted-replica.ts";

const SECRET = "prompt-that-nobody-may-keep";
const body = `{"model":"m","messages":[{"role":"user","content":"${`${SECRET} `.repeat(50)}"}]}`;

let replicas: readonly ScriptedReplica[];
let router: TestRouter;
let admin: AdminServer;
let strict: AdminServer;

before(async () => {
  replicas = await Promise.all(
    [1, 2].map(() => startScriptedReplica((_request, socket) => void socket.write(jsonAnswer("{}")), ["m"])),
  );
  const spec = "  plugins: [ { type: decisions, parameters: { size: 7 } } ]\n";
  router = await startTestRouter(
    replicas.map(({ url }) => url),
    { spec },
  );
  admin = await startTestAdmin(router.router);
  const secret = { from: "env:TOKEN", reveal: () => "correct-horse" };
  const tokens = [{ name: "alice", role: "change", secret }] as const;
  const access: AdminAccess = { isReadOnly: true, tokens, isOpenToNetwork: true };
  strict = await startTestAdmin(router.router, { access: () => access });
});
after(async () => {
  await Promise.all([admin.close(), strict.close()]);
  await router.close();
  await Promise.all(replicas.map((replica) => replica.close()));
});

async function ask(document: unknown, lines = "Content-Type: application/json\r\n", port = admin.port) {
  const text = typeof document === "string" ? document : JSON.stringify(document);
  const head = `POST /api/v1/explain HTTP/1.1\r\nHost: localhost\r\n${lines}Content-Length: ${Buffer.byteLength(text)}\r\n\r\n`;
  return readAnswer(await exchange(port, Buffer.from(`${head}${text}`)));
}

describe("POST /explain", () => {
  it("explains a body, in the documented shape", async () => {
    const { status, json } = await ask({ body });
    assert.equal(status, 200);
    const report = json as unknown as DryRunReport;
    assert.deepEqual(Object.keys(dryRunReportSchema.parse(report)).sort(), Object.keys(report).sort());
    assert.equal(report.candidates.length, 2);
    assert.equal(report.candidates[0]?.cachedTokens, 0);
    assert.equal(report.requestBytes, body.length);
    assert.equal(report.isDryRun, true);
    assert.doesNotMatch(JSON.stringify(json), new RegExp(SECRET));
  });

  it("takes bytes that are no text in base64", async () => {
    const { status, json } = await ask({ bodyBase64: Buffer.from(body).toString("base64") });
    assert.deepEqual([status, json["requestBytes"]], [200, body.length]);
    const broken = Buffer.concat([Buffer.from('{"model":"'), Uint8Array.of(0xff), Buffer.from('"}')]);
    const refused = await ask({ bodyBase64: broken.toString("base64") });
    assert.deepEqual([refused.status, refused.json["code"]], [400, "invalid_value"]);
  });

  it("takes compressed bytes in base64", async () => {
    const { status, json } = await ask({
      bodyBase64: gzipSync(body).toString("base64"),
      headers: { "content-encoding": "gzip" },
    });
    assert.deepEqual([status, json["requestBytes"]], [200, body.length]);
  });

  it("is a read: the right to change is not needed; a token is, where the port is open to the network", async () => {
    const json = "Content-Type: application/json\r\n";
    const asked = [json, `${json}Authorization: Bearer correct-horse\r\n`].map((lines) => ask({ body }, lines, strict.port));
    assert.deepEqual(
      (await Promise.all(asked)).map(({ status }) => status),
      [401, 200],
    );
  });

  const refusals: readonly (readonly [name: string, document: unknown, status: number, code: string, lines?: string])[] = [
    ["what a web page can send: plain text", { body }, 415, "unsupported_media_type", "Content-Type: text/plain\r\n"],
    ["a form", { body }, 415, "unsupported_media_type", "Content-Type: application/x-www-form-urlencoded\r\n"],
    ["no type at all", { body }, 415, "unsupported_media_type", ""],
    ["no JSON", "{", 400, "invalid_json"],
    ["both bodies", { body, bodyBase64: "" }, 400, "invalid_body"],
    ["a body that is no text", { body: 7 }, 400, "invalid_body"],
    ["no base64", { bodyBase64: "%" }, 400, "invalid_body"],
    ["an unknown key", { body, prompt: "x" }, 400, "invalid_body"],
    ["a header with a line end", { body, headers: { "x-a": "1\r\nx-b: 2" } }, 400, "invalid_body"],
    ["a path with a space", { body, path: "/v1/chat completions" }, 400, "invalid_body"],
    ["a path that is not served", { body, path: "/v1/chat" }, 404, "unknown_path"],
    ["a path for another method", { body, path: "/v1/models" }, 405, "method_not_allowed"],
    ["an empty body", {}, 400, "invalid_json"],
    ["a body that the client could not send", { body: '{"model":7}' }, 400, "missing_model"],
    ["one that is not compressed as it says", { body, headers: { "content-encoding": "gzip" } }, 400, "bad_request"],
    ["one that is compressed in another way", { body, headers: { "content-encoding": "x" } }, 415, "unsupported_media_type"],
    ["a document that is too large", { body: "x".repeat(1024 * 1024) }, 413, "body_too_large"],
  ];
  for (const [name, document, status, code, lines] of refusals) {
    it(`refuses ${name}`, async () => {
      const answer = await ask(document, lines);
      assert.deepEqual([answer.status, answer.json["code"]], [status, code]);
      assert.doesNotMatch(answer.head, /access-control/i);
    });
  }

  it("is not there for another host name, nor for a preflight", async () => {
    const rebound = await askFor(admin.port, "/api/v1/explain", {
      method: "POST",
      lines: "Host: evil.example\r\nContent-Length: 0\r\n",
    });
    assert.equal(rebound.status, 421);
    const preflight = await askFor(admin.port, "/api/v1/explain", {
      method: "OPTIONS",
      lines: "Host: localhost\r\nOrigin: https://evil.example\r\nAccess-Control-Request-Method: POST\r\n",
    });
    assert.equal(preflight.status, 405);
    assert.doesNotMatch(preflight.head, /access-control/i);
  });

  it("names the served paths", async () => {
    const { json } = await ask({ body, path: "/v1/chat" });
    assert.match(String(json["detail"]), /it serves .*POST \/v1\/chat\/completions, /);
  });
});

describe("GET /explain/ID", () => {
  it("has the reports of requests with this id, in the documented shape", async () => {
    await exchange(router.port, postBytes("/v1/chat/completions", body, "x-request-id: one\r\n"));
    const { status, body: text } = await askFor(admin.port, "/api/v1/explain/one");
    assert.equal(status, 200);
    const { decisions } = JSON.parse(text) as { decisions: DecisionReport[] };
    assert.equal(decisions.length, 1);
    assert.deepEqual(Object.keys(decisionReportSchema.parse(decisions[0])).sort(), Object.keys(decisions[0]!).sort());
    assert.equal(decisions[0]?.id, "one");
    assert.doesNotMatch(text, new RegExp(SECRET));
  });

  it("says how many it keeps when it does not know one", async () => {
    const { status, body: text } = await askFor(admin.port, "/api/v1/explain/none");
    assert.equal(status, 404);
    assert.match(text, /it keeps the last 7 that have ended/);
  });
});

it("GET /facts has neither prompts nor headers nor keys, and passes its own check", async () => {
  await exchange(router.port, postBytes("/v1/chat/completions", body, "Authorization: Bearer sk-header-secret\r\n"));
  const { status, body: text } = await askFor(admin.port, "/api/v1/facts");
  assert.equal(status, 200);
  assert.doesNotMatch(text, new RegExp(`${SECRET}|sk-header-secret|uthorization`));
  assert.equal(checkedFacts(JSON.parse(text)).endpoints.length, 2);
});
