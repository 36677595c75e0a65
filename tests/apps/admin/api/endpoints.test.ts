import assert from "node:assert/strict";
import { test } from "node:test";
import { makeApi } from "../../../support/api.ts";
import { makeEndpoint } from "../../../support/endpoints.ts";

const endpoints = [makeEndpoint(0), makeEndpoint(1, { name: "gpu/1", models: ["base", "v1"] })];

test("shows the endpoints as the status does", async () => {
  const { ask } = await makeApi({ endpoints });
  const { json } = await ask("GET", "/endpoints");
  const shown = json["endpoints"] as readonly { name: string; models: string[]; intent: unknown }[];
  assert.deepEqual(
    shown.map(({ name, models, intent }) => [name, models, intent]),
    [
      ["e0", ["base"], null],
      ["gpu/1", ["base", "v1"], null],
    ],
  );
});

test("drain, cordon and undrain by name, which may be encoded", async () => {
  const { ask, router, logged, causes } = await makeApi({ endpoints });
  const drained = await ask("POST", "/endpoints/gpu%2F1/drain", {
    body: { reason: "new driver", forSeconds: 60, graceSeconds: 5 },
    headers: { "user-agent": "test" },
  });
  assert.equal(drained.status, 200);
  const since = "2030-01-01T00:00:00.000Z";
  const intent = {
    kind: "drain",
    reason: "new driver",
    by: "192.0.2.7",
    since,
    until: "2030-01-01T00:01:00.000Z",
    isEmpty: true,
  };
  assert.deepEqual(drained.json["intent"], intent);
  assert.equal(router.control.intents.standingOf("gpu/1").isInGrace, true);
  assert.equal(router.control.intents.of("gpu/1")?.by, "192.0.2.7");

  const cordoned = await ask("POST", "/endpoints/gpu%2F1/cordon");
  assert.deepEqual(cordoned.json["intent"], { kind: "cordon", reason: "", by: "192.0.2.7", since, until: null, isEmpty: true });

  const undrained = await ask("POST", "/endpoints/gpu%2F1/undrain");
  assert.equal(undrained.json["intent"], null);
  assert.equal(router.control.intents.of("gpu/1"), undefined);

  assert.deepEqual(causes, ["", "", "192.0.2.7 asked for it"]);
  assert.deepEqual(logged, [], "the log of the replicas tells of it, with who asked");
});

test("without sessions a drain has no grace by default", async () => {
  const { ask, router } = await makeApi({ endpoints });
  await ask("POST", "/endpoints/e0/drain");
  assert.equal(router.control.intents.standingOf("e0").isInGrace, false);
});
