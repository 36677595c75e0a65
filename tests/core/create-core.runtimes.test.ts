import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { type MockReplica, startMockReplica } from "../../apps/lab/mock/replica.ts";
import { CoreError, type CoreOptions, createCore } from "../../core/create-core.ts";
import { defineFeature, defineFilter, z } from "../../core/plugin.ts";
import { startCore } from "../../examples/embed-core.ts";
import ejection from "../../plugins/features/ejection/feature.ts";
import servesModel from "../../plugins/filters/serves-model.ts";
import chat from "../../plugins/parsers/chat-completions.ts";
import maxScore from "../../plugins/pickers/max-score.ts";
import random from "../../plugins/pickers/random.ts";
import modelRewrite from "../../plugins/rewriters/model-rewrite.ts";
import queue from "../../plugins/scorers/queue.ts";
import modelList from "../../plugins/sources/model-list.ts";
import { jsonAnswer, startScriptedReplica } from "../support/scripted-replica.ts";

const PATH = "/v1/chat/completions";
const BODY = { model: "m", messages: [{ role: "user", content: "Was the soup any good?" }], max_tokens: 5 };
const asked = (base: string, body: object = BODY) =>
  new Request(base + PATH, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });

describe("embed-core.ts", () => {
  let replica: MockReplica;
  let core: Awaited<ReturnType<typeof startCore>>;
  before(async () => {
    replica = await startMockReplica({ model: "m", timeScale: 0 });
    core = await startCore([replica.url], 0);
  });
  after(() => replica.close());

  it("routes what comes by fetch, whole and as a stream", async () => {
    const whole = await core.fetch(asked("http://core"));
    assert.equal(whole.status, 200);
    assert.ok((await whole.json()).choices[0].message.content);
    assert.match(await (await core.fetch(asked("http://core", { ...BODY, stream: true }))).text(), /data: \[DONE\]\n\n$/);
  });

  it("routes what comes over a socket, within its limits", async () => {
    const base = `http://127.0.0.1:${core.port}`;
    assert.equal((await fetch(asked(base))).status, 200);
    assert.equal((await (await fetch(`${base}/v1/models`)).json()).data[0].id, "m");
    const large = await fetch(asked(base, { ...BODY, messages: [{ role: "user", content: "x".repeat(1024 * 1024) }] }));
    assert.equal(large.status, 413);
    await large.text();
  });

  it("serves nothing that no module brings", async () => {
    assert.equal((await core.fetch(new Request("http://core/v1/completions", { method: "POST", body: "{}" }))).status, 404);
    assert.equal((await core.fetch(asked("http://core", { ...BODY, model: "unlisted" }))).status, 404);
  });

  it("ends when it is closed", async () => {
    await core.close();
    await assert.rejects(fetch(asked(`http://127.0.0.1:${core.port}`)));
    assert.equal((await core.fetch(asked("http://core"))).status, 503);
  });
});

describe("modules of the program's own", () => {
  it("fill slots and decide, with their options", async () => {
    const replicas = await Promise.all(["a", "b"].map(() => startMockReplica({ model: "m", timeScale: 0 })));
    const chosen: string[] = [];
    const only = defineFilter({
      type: "only",
      summary: "Keeps one endpoint.",
      options: z.strictObject({ name: z.string() }),
      create: ({ name }) => ({ filter: (_request, candidates) => candidates.filter((each) => each.name === name) }),
    });
    const noted = defineFeature({
      type: "noted",
      summary: "Notes where requests went.",
      create: () => ({ settled: ({ attempts }) => void chosen.push(...attempts.map(({ endpoint }) => endpoint)) }),
    });
    const core = await createCore({
      endpoints: replicas.map(({ url }, index) => ({ name: `replica-${index}`, url })),
      modules: [chat, { use: only, options: { name: "replica-1" } }, random, noted],
    });
    try {
      assert.equal(await core.whenReady(5_000), true);
      for (let sent = 0; sent < 6; sent++) await (await core.fetch(asked("http://core"))).text();
      assert.deepEqual(chosen, new Array(6).fill("replica-1"));
    } finally {
      await core.close();
      await Promise.all(replicas.map((each) => each.close()));
    }
  });
});

describe("a router without a config", () => {
  it("rewrites by the rules of a module", async () => {
    const replica = await startMockReplica({ model: "v1", timeScale: 0 });
    const rules = [{ name: "food", models: ["food"], targets: [{ name: "v1", weight: 1 }] }];
    const core = await createCore({
      endpoints: [replica.url],
      modules: [chat, servesModel, { use: modelRewrite, options: { rules } }, maxScore, modelList],
    });
    try {
      assert.equal(await core.whenReady(5_000), true);
      const rewritten = await core.fetch(asked("http://core", { ...BODY, model: "food" }));
      assert.equal(rewritten.status, 200, await rewritten.text());
      assert.equal((await core.fetch(asked("http://core", { ...BODY, model: "drink" }))).status, 404);
    } finally {
      await core.close();
      await replica.close();
    }
  });

  it("asks replicas how they are at the paths that it is given", async () => {
    const replica = await startScriptedReplica((_request, socket) => void socket.write(jsonAnswer("{}")));
    const probe = { path: "/up" };
    const core = await createCore({
      endpoints: [replica.url],
      modules: [chat, maxScore],
      probes: { startup: probe, liveness: probe, readiness: probe },
    });
    try {
      assert.equal(await core.whenReady(5_000), true);
      assert.deepEqual([...new Set(replica.requests.map(({ startLine }) => startLine))], ["GET /up HTTP/1.1"]);
    } finally {
      await core.close();
      await replica.close();
    }
  });
});

describe("what can't run", () => {
  const endpoints = ["http://127.0.0.1:9"];
  const cases: readonly [name: string, options: CoreOptions, message: RegExp][] = [
    ["no parser", { endpoints, modules: [maxScore] }, /needs a parser/],
    ["no picker", { endpoints, modules: [chat] }, /needs a picker/],
    ["no endpoints", { modules: [chat, maxScore] }, /needs a discovery: give it endpoints/],
    ["two pickers", { endpoints, modules: [chat, maxScore, random] }, /one picker in a router, not max-score and random/],
    ["a weight of a parser", { endpoints, modules: [{ use: chat, weight: 2 }, maxScore] }, /is a parser, and only scorers/],
    ["a weight below 0", { endpoints, modules: [chat, { use: queue, weight: -1 }, maxScore] }, /weight of the module "queue"/],
    [
      "options that do not fit",
      { endpoints, modules: [chat, { use: maxScore, options: { no: 1 } }] },
      /options of the module "max-score"/,
    ],
    ["a module twice", { endpoints, modules: [chat, queue, queue, maxScore] }, /Two modules are called "queue"/],
    ["an address that is none", { endpoints: ["ftp://gpu"], modules: [chat, maxScore] }, /An endpoint can't be used/],
    ["an endpoint twice", { endpoints: [...endpoints, ...endpoints], modules: [chat, maxScore] }, /Two endpoints are called/],
    ["a feature of the config", { endpoints, modules: [chat, maxScore, ejection] }, /createRouter of "signalbox"/],
    ["an unknown limit", { endpoints, modules: [chat, maxScore], limits: { speed: 1 } as object }, /no limit "speed"/],
    ["a limit out of bounds", { endpoints, modules: [chat, maxScore], limits: { bodyBytes: -1 } }, /bodyBytes must be from/],
    ["an unknown probe", { endpoints, modules: [chat, maxScore], probes: { ready: {} } as object }, /no probe "ready"/],
    [
      "an unknown number of a probe",
      { endpoints, modules: [chat, maxScore], probes: { startup: { period: 1 } as object } },
      /no number of the probe startup "period"; there are initialDelayMs/,
    ],
    [
      "a number of a probe out of bounds",
      { endpoints, modules: [chat, maxScore], probes: { liveness: { periodMs: 0 } } },
      /number of the probe liveness periodMs must be from 1/,
    ],
    [
      "a path of a probe that is none",
      { endpoints, modules: [chat, maxScore], probes: { readiness: { path: "up" } } },
      /path of the probe readiness must begin with/,
    ],
  ];
  for (const [name, options, message] of cases)
    it(`${name} is refused`, async () => {
      await assert.rejects(createCore(options), (thrown) => thrown instanceof CoreError && message.test(thrown.message));
    });
});
