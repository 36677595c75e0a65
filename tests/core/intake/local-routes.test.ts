import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { askFor } from "../../support/admin.ts";
import { startTestRouter, type TestRouter } from "../../support/router.ts";
import { answerOk } from "../../support/scripted-pool.ts";
import { type ScriptedReplica, startScriptedReplica } from "../../support/scripted-replica.ts";

describe("GET /v1/models/{id}", () => {
  let replica: ScriptedReplica;
  let router: TestRouter;
  before(async () => {
    replica = await startScriptedReplica(answerOk, ["org/model", "100%", "a b", "x%2Fy", "modèle"]);
    router = await startTestRouter([replica.url]);
  });
  after(async () => {
    await router.close();
    await replica.close();
  });

  const rows: readonly (readonly [path: string, status: number, id: string])[] = [
    ["org/model", 200, "org/model"],
    ["org%2Fmodel", 200, "org/model"],
    ["org%2fmodel?x=1", 200, "org/model"],
    ["100%25", 200, "100%"],
    ["100%", 200, "100%"],
    ["a%20b", 200, "a b"],
    ["x%2Fy", 200, "x%2Fy"],
    ["mod%C3%A8le", 200, "modèle"],
    ["org", 404, ""],
    ["org/", 404, ""],
    ["", 404, ""],
    ["%zz", 404, ""],
    ["%00%1b[2J", 404, ""],
    ["../health", 404, ""],
  ];
  for (const [path, status, id] of rows) {
    it(`${status} for ${JSON.stringify(path)}`, async () => {
      const answer = await askFor(router.port, `/v1/models/${path}`);
      assert.equal(answer.status, status);
      const json = JSON.parse(answer.body) as { id?: string; object?: string; error?: { code: string; message: string } };
      if (status === 200) return assert.deepEqual([json.id, json.object], [id, "model"]);
      assert.equal(json.error?.code, "model_not_found");
      assert.match(
        json.error?.message ?? "",
        /There is no such model; set "model" to one of: 100%, a b, modèle, org\/model, x%2Fy\./,
      );
    });
  }

  it("only reads: HEAD has no body, and other methods learn which are served", async () => {
    const head = await askFor(router.port, "/v1/models/org/model", { method: "HEAD" });
    assert.deepEqual([head.status, head.body], [200, ""]);
    const other = await askFor(router.port, "/v1/models/org/model", { method: "DELETE" });
    assert.equal(other.status, 405);
    assert.match(other.head, /^allow: GET, HEAD\r?$/im);
  });
});
