/** Keys for replicas: the router's own, and what becomes of a client's. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { inspect } from "node:util";
import { type MockReplica, startMockReplica } from "../../apps/lab/mock/replica.ts";
import { loadTexts } from "../../config/load.ts";
import type { Log } from "../../core/contract/log.ts";
import { builtIns } from "../../plugins/registry.ts";
import { startTestRouter, type TestRouter } from "../support/router.ts";
import { answerOk, CHAT, chatBody } from "../support/scripted-pool.ts";
import { type ScriptedReplica, startScriptedReplica } from "../support/scripted-replica.ts";

const KEY = "sk-of-the-pool";
let folder = "";
before(() => {
  folder = mkdtempSync(join(tmpdir(), "signalbox-keys-"));
  writeFileSync(join(folder, "pool"), `${KEY}\n`);
  writeFileSync(join(folder, "second"), "sk-second\n");
});
after(() => rmSync(folder, { recursive: true }));

const ask = (router: TestRouter, headers: Readonly<Record<string, string>> = {}) =>
  fetch(`${router.url}${CHAT}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: chatBody(),
  });

describe("a replica that was started with a key", () => {
  let replica: MockReplica;
  before(async () => {
    replica = await startMockReplica({ model: "m", timeScale: 0, apiKey: KEY });
  });
  after(() => replica.close());

  it("gets it with probes and requests, and nobody else sees it", async () => {
    const lines: unknown[] = [];
    const write: Log["info"] = (message, fields) => void lines.push(message, fields);
    const router = await startTestRouter([], {
      spec: `  pool: { auth: { bearer: "file:${join(folder, "pool")}" }, endpoints: [{ url: "${replica.url}" }] }`,
      operatorLog: { info: write, warn: write, error: write },
      ready: 1,
    });
    const answer = await ask(router);
    assert.equal(answer.status, 200);
    const shown = [JSON.stringify(router.log), JSON.stringify(lines), inspect(router.router, { depth: 20 }), await answer.text()];
    shown.push(JSON.stringify(router.router.config.settings), inspect(router.router.config.settings, { depth: 20 }));
    await router.close();
    for (const text of shown) assert.doesNotMatch(text, /sk-of-the-pool/);
  });

  it("without it never gets ready, and the reason is told", async () => {
    const router = await startTestRouter([replica.url], { ready: 0 });
    const endpoint = router.router.pool.facts.endpoints[0]!;
    for (let tries = 0; tries < 200 && router.router.control.probeFailure(endpoint) === ""; tries++)
      await new Promise((resolve) => setTimeout(resolve, 10));
    assert.equal(router.router.control.probeFailure(endpoint), "status 401");
    await router.close();
  });
});

describe("what replicas see of keys", () => {
  let first: ScriptedReplica;
  let second: ScriptedReplica;
  before(async () => {
    [first, second] = await Promise.all([startScriptedReplica(answerOk), startScriptedReplica(answerOk)]);
  });
  after(() => Promise.all([first.close(), second.close()]));

  const CLIENT = {
    authorization: "Bearer client",
    "x-api-key": "client-x",
    "api-key": "client-a",
    cookie: "c=1",
    "x-other": "1",
  };
  const all = Object.entries(CLIENT).map(([name, value]) => `${name}: ${value}`);
  const rows: readonly (readonly [name: string, pool: string, endpoint: string, seen: readonly string[]])[] = [
    ["all of the client's where the config says nothing", "", "", all],
    ["none of the client's where it says so", "forwardCredentials: false, ", "", ["x-other: 1"]],
    [
      "the pool's instead of the client's",
      'auth: { bearer: "file:POOL" }, ',
      "",
      ["authorization: Bearer sk-of-the-pool", "x-other: 1"],
    ],
    [
      "the pool's also where none is forwarded",
      'forwardCredentials: false, auth: { bearer: "file:POOL" }, ',
      "",
      ["authorization: Bearer sk-of-the-pool", "x-other: 1"],
    ],
    [
      "an endpoint's own instead of the pool's",
      'auth: { bearer: "file:POOL" }, ',
      ', auth: { bearer: "file:SECOND" }',
      ["authorization: Bearer sk-second", "x-other: 1"],
    ],
    [
      "an endpoint's own instead of the client's",
      "",
      ', auth: { bearer: "file:SECOND" }',
      ["authorization: Bearer sk-second", "x-other: 1"],
    ],
  ];
  for (const [name, pool, endpoint, seen] of rows) {
    it(name, async () => {
      const placed = (text: string) => text.replace("POOL", join(folder, "pool")).replace("SECOND", join(folder, "second"));
      const router = await startTestRouter([], {
        spec: `  pool: { ${placed(pool)}endpoints: [{ url: "${first.url}"${placed(endpoint)} }] }`,
        ready: 1,
      });
      const sent = first.requests.length;
      assert.equal((await ask(router, CLIENT)).status, 200);
      await router.close();
      const request = first.requests[sent]!;
      const lines = Object.keys(CLIENT).flatMap((key) => {
        const value = request.headers.get(key);
        return value === undefined ? [] : [`${key}: ${value}`];
      });
      assert.deepEqual(lines, seen);
      assert.equal(request.head.split(/authorization:/i).length <= 2, true, "two Authorization lines");
    });
  }

  it("a client's key goes only to the endpoint without one of its own, when a try follows another", async () => {
    const router = await startTestRouter([], {
      spec: `  pool: { endpoints: [{ name: one, url: "${first.url}", auth: { bearer: "file:${join(folder, "pool")}" } }, { name: two, url: "${second.url}" }] }\n  profiles: [{ plugins: [{ pluginRef: round-robin }] }]`,
      ready: 2,
    });
    const [before1, before2] = [first.requests.length, second.requests.length];
    await ask(router, { authorization: "Bearer client" });
    await ask(router, { authorization: "Bearer client" });
    await router.close();
    assert.equal(first.requests[before1]?.headers.get("authorization"), `Bearer ${KEY}`);
    assert.equal(second.requests[before2]?.headers.get("authorization"), "Bearer client");
  });
});

describe("a key in the config", () => {
  const rows: readonly (readonly [name: string, pool: string, found: string])[] = [
    ["written out", "auth: { bearer: sk-written-out }", "text"],
    ["written out, as a number", "auth: { bearer: 123456 }", "a number"],
    ["written out in the wrong place", "auth: sk-written-out", "text"],
    [
      "a variable that is not set",
      "auth: { bearer: env:SIGNALBOX_TEST_NONE }",
      "the environment variable SIGNALBOX_TEST_NONE, which is not set",
    ],
    [
      "of an endpoint",
      'endpoints: [{ url: "http://gpu1:8000", auth: { bearer: env:SIGNALBOX_TEST_NONE } }]',
      "the environment variable SIGNALBOX_TEST_NONE, which is not set",
    ],
  ];
  for (const [name, pool, found] of rows) {
    it(`${name} is refused with its place, and is not repeated`, async () => {
      const text = `apiVersion: signalbox/v1\nkind: Router\nspec:\n  pool: { ${pool}${pool.startsWith("end") ? "" : ', endpoints: [{ url: "http://gpu1:8000" }]'} }\n`;
      const { problems = [] } = await loadTexts([{ file: "a.yaml", text }], builtIns);
      assert.deepEqual(
        problems.map((problem) => [problem.line, problem.found]),
        [[4, found]],
      );
      assert.ok(problems[0]!.column > 9);
      assert.match(problems[0]!.path, /^spec\.pool\.(endpoints\[0\]\.)?auth/);
      assert.doesNotMatch(JSON.stringify(problems), /sk-written-out|123456/);
    });
  }
});
