import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { AdminServer } from "../../../apps/admin/server.ts";
import { askFor, startTestAdmin } from "../../support/admin.ts";
import { makeEndpoint } from "../../support/endpoints.ts";
import { exchange, openClient, readAnswer } from "../../support/raw-client.ts";
import { makeShownRouter } from "../../support/view.ts";

const router = makeShownRouter([makeEndpoint(0)]);
let admin: AdminServer;
before(async () => {
  admin = await startTestAdmin(router);
});
after(() => admin.close());

const DRAIN = "POST /api/v1/endpoints/e0/drain HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
const withBody = (body: string) => `${DRAIN}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

describe("the API on the admin port", () => {
  it("shows, as safe in a browser as every page", async () => {
    const { status, head, body } = await askFor(admin.port, "/api/v1/endpoints");
    assert.equal(status, 200);
    assert.match(head, /^content-security-policy: default-src 'none'/m);
    assert.match(head, /^cache-control: no-store\r?$/m);
    assert.match(head, /^etag: "1-0"\r?$/m);
    assert.doesNotMatch(head, /access-control/i);
    assert.equal((JSON.parse(body) as { endpoints: unknown[] }).endpoints.length, 1);
  });

  it("changes, with a body in one piece, in chunks and in pieces", async () => {
    const reason = () => router.control.intents.of("e0")?.reason;
    assert.equal(readAnswer(await exchange(admin.port, withBody('{"reason":"é"}'))).status, 200);
    assert.equal(reason(), "é");
    const chunked = `${DRAIN}Transfer-Encoding: chunked\r\n\r\na\r\n{"reason":\r\n4\r\n"b"}\r\n0\r\n\r\n`;
    assert.equal(readAnswer(await exchange(admin.port, chunked)).status, 200);
    assert.equal(reason(), "b");
    const client = await openClient(admin.port);
    for (const piece of withBody('{"reason":"c"}').match(/[\s\S]{1,40}/g) ?? []) client.send(piece);
    await client.until((received) => received.includes('"isEmpty"'));
    client.destroy();
    assert.equal(reason(), "c");
  });

  const host = "POST /api/v1/endpoints/e0/undrain HTTP/1.1\r\nHost: evil.example\r\nContent-Type: application/json\r\n";
  const rows: readonly (readonly [name: string, request: string, status: number, code: string])[] = [
    ["another host name, before all else", `${host}Content-Length: 0\r\n\r\n`, 421, "unknown_host"],
    ["a body that says it is too long", `${DRAIN}Content-Length: 1048577\r\n\r\n`, 413, "body_too_large"],
    [
      "a body that gets too long",
      `${DRAIN}Transfer-Encoding: chunked\r\n\r\n100001\r\n${" ".repeat(0x100001)}\r\n`,
      413,
      "body_too_large",
    ],
    ["a body with broken framing", `${DRAIN}Transfer-Encoding: chunked\r\n\r\nx\r\n`, 400, "bad_request"],
    ["an unknown method", "BREW /api/v1/endpoints HTTP/1.1\r\nHost: localhost\r\n\r\n", 405, "method_not_allowed"],
    ["a method in lower case", withBody("{}").replace("POST", "post"), 405, "method_not_allowed"],
    ["TRACE", "TRACE /api/v1/endpoints HTTP/1.1\r\nHost: localhost\r\n\r\n", 405, "method_not_allowed"],
    ["an unknown path", "GET /api HTTP/1.1\r\nHost: localhost\r\n\r\n", 404, "unknown_path"],
  ];
  for (const [name, request, status, code] of rows) {
    it(`refuses ${name}`, async () => {
      router.control.intents.set("e0", { intent: "drain", reason: "stays", by: "", forMs: undefined, graceMs: 0 });
      const answer = readAnswer(await exchange(admin.port, request));
      const { code: problemCode, error } = answer.json as { code?: string; error?: { code: string } };
      assert.deepEqual([answer.status, problemCode ?? error?.code], [status, code]);
      assert.equal(router.control.intents.of("e0")?.reason, "stays");
    });
  }
});
