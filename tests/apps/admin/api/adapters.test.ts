import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { makeApi } from "../../../support/api.ts";
import { makeEndpoint } from "../../../support/endpoints.ts";

const endpoints = [
  makeEndpoint(0, { models: ["base", "org/v1"] }),
  makeEndpoint(1),
  makeEndpoint(2, { phase: "not-ready", models: ["base", "org/v1"] }),
];

describe("the adapters of the admin API", () => {
  it("are shown with the replicas that have them", async () => {
    const { ask, router } = await makeApi({ endpoints });
    for (const slot of [0, 2]) router.pool.load.knowAdapters(slot, { names: new Set(["org/v1"]) });
    router.pool.load.unlisted.refused(1, "org/v1", 0);
    const { status, json } = await ask("GET", "/adapters");
    assert.equal(status, 200);
    const refused = [{ endpoint: "e1", retryInS: 2 }];
    assert.deepEqual(json, {
      adapters: [{ name: "org/v1", isTarget: false, loaded: ["e0", "e2"], loading: [], refused }],
    });
  });

  it("are loaded by all replicas in service, and the response has each one's words; the change is logged", async () => {
    const { ask, logged } = await makeApi({ endpoints });
    const { status, json } = await ask("POST", "/adapters/org%2Fv2/load", { body: { path: "/adapters/v2" } });
    assert.equal(status, 200);
    const changes = [
      { endpoint: "e0", isDone: true, status: 200, message: "Success" },
      { endpoint: "e1", isDone: false, status: 404, message: "No." },
    ];
    assert.deepEqual(json, { changes });
    const [{ message, fields } = { message: "", fields: {} }] = logged;
    assert.equal(message, "Changed through the admin API");
    assert.equal(fields?.["what"], "adapter org/v2");
    assert.equal(fields?.["after"], JSON.stringify({ action: "load", changes }));
  });

  it("are unloaded by those that list them", async () => {
    const { ask } = await makeApi({ endpoints });
    const { json } = await ask("POST", "/adapters/org%2Fv1/unload", { body: {} });
    assert.deepEqual(json, { changes: [{ endpoint: "e0", isDone: true, status: 200, message: "Success" }] });
  });

  const refusals: readonly (readonly [name: string, path: string, body: object, status: number, code: string])[] = [
    ["an endpoint that the pool does not have", "/adapters/v1/load", { endpoint: "e9" }, 404, "unknown_endpoint"],
    ["an adapter that no replica lists", "/adapters/nobody/unload", {}, 404, "not_loaded"],
    ["an adapter that the named replica does not have", "/adapters/nobody/unload", { endpoint: "e1" }, 404, "not_loaded"],
    ["a name that is too long", `/adapters/${"x".repeat(513)}/load`, {}, 400, "bad_name"],
  ];
  for (const [name, path, body, status, code] of refusals) {
    it(`${name}: ${status}`, async () => {
      const { ask } = await makeApi({ endpoints });
      const answer = await ask("POST", path, { body });
      assert.deepEqual([answer.status, answer.json["code"]], [status, code]);
    });
  }

  it("can't be loaded while no replica is in service: 503", async () => {
    const { ask } = await makeApi({ endpoints: endpoints.slice(2) });
    const answer = await ask("POST", "/adapters/v2/load", { body: {} });
    assert.deepEqual([answer.status, answer.json["code"]], [503, "no_replica"]);
  });

  it("are not changed by a body that the schema does not know", async () => {
    const { ask } = await makeApi({ endpoints });
    assert.equal((await ask("POST", "/adapters/v2/load", { body: { lora_path: "/x" } })).status, 400);
  });
});
