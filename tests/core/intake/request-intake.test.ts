import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { exchange, readAnswer } from "../../support/raw-client.ts";
import { startTestRouter, type TestRouter } from "../../support/router.ts";

describe("a request target that is no path", () => {
  let router: TestRouter;
  before(async () => {
    router = await startTestRouter(["http://127.0.0.1:9"], { ready: 0 });
  });
  after(() => router.close());

  for (const line of ["GET health", "GET ?x", "OPTIONS *", "CONNECT test:80"]) {
    it(`${line}: 400`, async () => {
      const response = readAnswer(await exchange(router.port, `${line} HTTP/1.1\r\nHost: test\r\n\r\n`));
      assert.equal(response.status, 400);
      assert.equal((response.json["error"] as { code: string }).code, "bad_request");
    });
  }
});
