/** Pairs at the edges: endpoints that are full, configs that change, plans of one's own, dry runs, prompts that are half cached. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { loadTexts } from "../../config/load.ts";
import { seededRandom } from "../../core/contract/test-kit.ts";
import { dryRun } from "../../core/intake/dry-run.ts";
import { builtIns } from "../../plugins/registry.ts";
import {
  answerDecode,
  askPair,
  assertAtRest,
  beginPair,
  bodiesOf,
  chatOf,
  DECODED,
  PARAMETERS,
  pairPool,
  prefilled,
} from "../support/pair-pool.ts";
import { exchange, openClient, postBytes, readAnswer } from "../support/raw-client.ts";
import { configOver, startReloadingRouter } from "../support/reloading.ts";
import { waitUntil } from "../support/router.ts";
import { CHAT, STREAM } from "../support/scripted-pool.ts";
import { type Script, startScriptedReplica } from "../support/scripted-replica.ts";

type Socket = Parameters<Script>[1];

describe("an endpoint without a connection to spare", () => {
  const ONE = "  limits: { upstreamConnections: 1 }\n";

  it("for the prompt: the answer's endpoint does all of it, in the same moment", async () => {
    const sockets: Socket[] = [];
    const pool = await pairPool({ prefill: [(_request, socket) => void sockets.push(socket)], spec: ONE });
    const first = await beginPair(pool);
    await waitUntil(() => sockets.length === 1);
    assert.equal((await askPair(pool)).status, 200);
    assert.deepEqual(bodiesOf(pool.decode[0]!), [chatOf()]);
    assert.deepEqual(pool.pairs().causes, { saturated: 1 });
    sockets[0]!.write(prefilled());
    await first.until((received) => received.includes("decode-id"));
    first.destroy();
    await assertAtRest(pool);
  });

  it("for the answer: an error, and the transfer is sent nowhere", async () => {
    const sockets: Socket[] = [];
    const pool = await pairPool({ decode: [(_request, socket) => void sockets.push(socket)], spec: ONE });
    const first = await beginPair(pool);
    await waitUntil(() => sockets.length === 1);
    assert.equal((await askPair(pool)).status, 429);
    assert.equal(pool.decode[0]!.requests.length, 1);
    sockets[0]!.write(DECODED);
    await first.until((received) => received.includes("decode-id"));
    first.destroy();
    await assertAtRest(pool);
  });

  for (const side of ["prefill", "decode"] as const) {
    it(`of two that meet (${side}): the client is told that it is full`, async () => {
      const sockets: Socket[] = [];
      const hang: Script = (_request, socket) => void sockets.push(socket);
      const pool = await pairPool({ decode: [() => {}], [side]: [hang], pairs: "transfer: sglang", spec: ONE });
      const first = await beginPair(pool);
      await waitUntil(() => sockets.length === 1);
      assert.equal((await askPair(pool)).status, 429);
      first.destroy();
      await assertAtRest(pool);
    });
  }
});

describe("a config that changes while pairs are under way", () => {
  it("each request goes on by the config of its beginning", { timeout: 60_000 }, async () => {
    const sockets: Socket[] = [];
    const prefill = await startScriptedReplica((_request, socket) => void sockets.push(socket));
    const decode = await startScriptedReplica(answerDecode);
    after(() => Promise.all([prefill.close(), decode.close()]));
    const spec = (pairs: string) =>
      `${configOver({}).replace("[  ]", `[ { name: p, url: "${prefill.url}", labels: { llm-d.ai/role: prefill } }, { name: d, url: "${decode.url}", labels: { llm-d.ai/role: decode } } ]`)}${pairs}`;
    const router = await startReloadingRouter({ "signalbox.yaml": spec("  disaggregation: { decider: always }\n") });
    const begin = async () => {
      const client = await openClient(router.process.port);
      client.send(postBytes(CHAT, chatOf(STREAM)));
      return client;
    };
    const first = await begin();
    await waitUntil(() => sockets.length === 1);
    router.write("signalbox.yaml", spec("  disaggregation: { decider: never }\n"));
    await router.untilGeneration(2);
    const second = await begin();
    await second.until((received) => received.includes("[DONE]"));
    router.write("signalbox.yaml", spec(""));
    await router.untilGeneration(3);
    sockets[0]!.write(prefilled());
    await first.until((received) => received.includes("[DONE]"));
    assert.deepEqual(bodiesOf(decode), [chatOf(STREAM), `{"kv_transfer_params":${PARAMETERS},${chatOf(STREAM).slice(1)}`]);
    first.destroy();
    second.destroy();
  });

  it("what is wrong in it is said at its place", async () => {
    const problemsOf = async (pairs: string) => {
      const text = `apiVersion: signalbox/v1\nkind: Router\nspec:\n  disaggregation: ${pairs}\n`;
      const { problems } = await loadTexts([{ file: "test.yaml", text }], builtIns, ["http://127.0.0.1:9"]);
      return problems?.map((problem) => JSON.stringify(problem)).join("\n");
    };
    assert.equal(await problemsOf("{}"), undefined);
    for (const wrong of [
      "{ transfer: mooncake }",
      "{ decider: sometimes }",
      "{ decider: { uncachedTokens: 0 } }",
      "{ decider: { uncachedTokens: 1.5 } }",
      "{ prefillTimeoutMs: 0 }",
      "{ prefill: { plugins: [ { pluginRef: nobody } ] } }",
      "{ decode: { pluginz: [] } }",
      "5",
    ])
      assert.match((await problemsOf(wrong)) ?? "", /disaggregation/, wrong);
  });
});

describe("a plan of one's own", () => {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-plan-"));
  after(() => rmSync(folder, { recursive: true }));

  /** A router where an author's feature plans. */
  async function planned(plan: string, pairs?: string) {
    const name = `plan-${plan.length}.mjs`;
    writeFileSync(
      join(folder, name),
      `import { defineFeature } from "signalbox/plugin";\nexport default defineFeature({ type: "mine", summary: "", create: () => ({ plan: ${plan} }) });\n`,
    );
    return pairPool({ file: join(folder, "router.yaml"), spec: `  plugins: [ { from: ./${name} } ]\n`, pairs });
  }

  it("with two legs that nobody knows how to send: the first one is sent whole", async () => {
    const pool = await planned(
      "({ decide, profile }) => { const one = decide(profile); return { ...one, legs: [...one.legs, ...decide(profile).legs] }; }",
    );
    assert.equal((await askPair(pool)).status, 200);
    await assertAtRest(pool);
  });

  it("is not asked where the router's own feature plans", async () => {
    const pool = await planned("() => { throw new Error('no'); }", "decider: always");
    assert.equal((await askPair(pool)).status, 200);
    assert.equal(pool.pairs().paired, 1);
  });

  for (const plan of [
    "async () => { throw new Error('no'); }",
    "() => undefined",
    "({ decide }) => decide({ name: 'none' })",
    "({ decide, profile }) => ({ legs: decide(profile).legs.map((leg) => ({ ...leg })) })",
  ]) {
    it(`${plan}: the client gets plugin_fault, and the router goes on`, async () => {
      const pool = await planned(plan);
      const { status, json } = await askPair(pool);
      const { code = "" } = (json["error"] ?? {}) as { code?: string };
      assert.deepEqual([status, code], [500, "plugin_fault"]);
      await assertAtRest(pool);
    });
  }
});

describe("a dry run", () => {
  it("shows both legs and what was weighed, and sends nothing", async () => {
    const pool = await pairPool();
    const { config, pool: live } = pool.router.router;
    const load = live.load.at(0);
    const { request, decision } = dryRun({ path: CHAT, headers: [], body: Buffer.from(chatOf()) }, config, {
      pool: live,
      load,
      random: seededRandom(1),
      profile: config.profile,
    });
    assert.deepEqual(
      decision.legs.map(({ role, order }) => [role, order.map(({ name }) => name)]),
      [
        ["decode", ["d0"]],
        ["prefill", ["p0"]],
      ],
    );
    assert.equal(decision.pairing!.isPaired, true);
    assert.equal(decision.pairing!.uncachedTokens, request.promptTokens);
    assert.deepEqual([...bodiesOf(pool.prefill[0]!), ...bodiesOf(pool.decode[0]!)], []);
    await assertAtRest(pool);
  });
});

describe("roles by selector", () => {
  it("take the place of the label", async () => {
    const pool = await pairPool({
      roles: "{ prefill: { matchLabels: { part: prefill } }, decode: { matchLabels: { part: decode } } }",
    });
    assert.equal((await askPair(pool)).status, 200);
    const { paired, prefill, decode } = pool.pairs();
    assert.deepEqual({ paired, prefill, decode }, { paired: 1, prefill: ["p0"], decode: ["d0"] });
  });

  it("that select nobody are said in a warning", async () => {
    const pool = await pairPool({ roles: "{ prefill: { matchLabels: { part: nobody } } }" });
    assert.equal((await askPair(pool)).status, 200);
    assert.equal(pool.pairs().paired, 0);
  });
});

describe("a second request with the same prompt", () => {
  it("by a threshold, goes to the endpoint that holds it, alone", async () => {
    const pool = await pairPool({ pairs: "decider: { uncachedTokens: 100 }", spec: "" });
    for (let n = 0; n < 3; n++) assert.equal((await askPair(pool, STREAM)).status, 200);
    const { paired, alone } = pool.pairs();
    assert.deepEqual({ paired, alone }, { paired: 1, alone: 2 });
    assert.equal(pool.prefill[0]!.requests.length, 1);
    await assertAtRest(pool);
  });
});

it("without endpoints that have a role, requests are served as ever", async () => {
  const pool = await pairPool({ prefill: [], decode: [], whole: [answerDecode], pairs: "" });
  const { status } = readAnswer(await exchange(pool.router.port, postBytes(CHAT, chatOf())));
  assert.equal(status, 200);
  assert.equal(pool.whole[0]!.requests[0]!.body.toString(), chatOf());
});
