import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import { createRouter, type FetchRouter } from "../../apps/fetch.ts";
import { type MockReplica, startMockReplica } from "../../apps/lab/mock/replica.ts";
import { loadConfig } from "../../config/load.ts";
import { formatProblems } from "../../config/read/problems.ts";
import { builtIns } from "../../plugins/registry.ts";
import { CHAT, postRequest } from "../support/fetch-router.ts";
import { examplePath, exampleText } from "./example-files.ts";

/** What other programs read. */
const OTHERS = ["gateway/envoy.yaml", "gateway/gateway-api.yaml", "hardened/compose.yaml", "hardened/keys.yaml"];
const PLUGINS = readdirSync(examplePath("plugins")).map((kind) => `plugins/${kind}/signalbox.yaml`);
const PHASES = readdirSync(examplePath("canary")).filter((name) => /^\d/.test(name));

process.env["SIGNALBOX_SHARED"] = "0123456789abcdef";

describe("every example config can run", () => {
  const configs = [
    ["quickstart.yaml"],
    ["latency-predictor/router.yaml"],
    ["prefix-aware.yaml"],
    ["disaggregation.yaml"],
    ["kv-events.yaml"],
    ["several-routers.yaml"],
    ["pools.yaml"],
    ["custom-scorer.yaml"],
    ...PLUGINS.map((name) => [name]),
    ["observability/tracing.yaml"],
    ["gateway/router.yaml"],
    ...PHASES.map((phase) => ["canary/router.yaml", `canary/${phase}`]),
    ["canary/router.yaml", "canary/guarded-split.yaml"],
  ];
  for (const names of configs) {
    it(names.join(" and "), async () => {
      const { problems } = await loadConfig(names.map(examplePath), builtIns);
      assert.equal(problems && formatProblems(problems), undefined);
    });
  }

  it("no file is left out", () => {
    const files = readdirSync(examplePath("."), { recursive: true, encoding: "utf8" }).filter(
      // Policies, what is deployed, and what needs certificates have tests of their own.
      (name) => name.endsWith(".yaml") && !/^(policies|deploy|hardened)[\\/]/.test(name),
    );
    const tried = [...new Set(configs.flat()), ...OTHERS.filter((name) => !name.startsWith("hardened/"))];
    assert.deepEqual(files.map((name) => name.replaceAll("\\", "/")).sort(), tried.sort());
  });
});

it("every document of every example tells editors its schema", () => {
  const names = readdirSync(examplePath("."), { recursive: true, encoding: "utf8" });
  const files = names.filter((name) => name.endsWith(".yaml") && !name.startsWith("deploy") && !OTHERS.includes(name));
  assert.ok(files.length > 10);
  for (const name of files) {
    const path = examplePath(name);
    for (const document of readFileSync(path, "utf8").split(/^---\n/m)) {
      const [, schema = ""] = /^# yaml-language-server: \$schema=(\S+)\n/.exec(document) ?? [];
      assert.equal(join(dirname(path), schema), examplePath("../config/signalbox.schema.json"), name);
    }
  }
});

/** Starts two mock replicas, and a router for them with an example config; all end with the test. */
async function start(...names: readonly string[]): Promise<{ router: FetchRouter; replicas: readonly MockReplica[] }> {
  const options = { model: "base", adapters: ["food-review-v1", "food-review-v2"], timeScale: 0 };
  const replicas = await Promise.all([startMockReplica(options), startMockReplica(options)]);
  const urls = replicas.map(({ url }) => url);
  const router = await createRouter({ text: names.map((name) => exampleText(name, urls)).join("\n---\n") });
  after(async () => {
    router.close();
    await Promise.all(replicas.map((replica) => replica.close()));
  });
  await router.whenReady(10_000);
  return { router, replicas };
}

async function ask(router: FetchRouter, model: string, prompt: string): Promise<Response> {
  const body = JSON.stringify({ model, messages: [{ role: "user", content: prompt }], max_tokens: 1 });
  const response = await router.fetch(postRequest(CHAT, body));
  assert.equal(response.status, 200);
  await response.text();
  return response;
}

describe("canary/", () => {
  const shares: Readonly<Record<string, readonly [v1: number, v2: number]>> = {
    "1-baseline.yaml": [20, 0],
    "2-split-90-10.yaml": [18, 2],
    "3-split-50-50.yaml": [10, 10],
    "4-cutover.yaml": [0, 20],
  };
  assert.deepEqual(Object.keys(shares), PHASES.sort());
  for (const [phase, [v1, v2]] of Object.entries(shares)) {
    it(`${phase}: of 20 requests ${v1} go to version 1 and ${v2} to version 2`, async () => {
      const { router } = await start("canary/router.yaml", `canary/${phase}`);
      const served = { "food-review-v1": 0, "food-review-v2": 0 };
      for (let i = 0; i < 20; i++) {
        const response = await ask(router, "food-review", `Review ${i}`);
        served[response.headers.get("x-signalbox-model") as keyof typeof served] += 1;
      }
      assert.deepEqual(served, { "food-review-v1": v1, "food-review-v2": v2 });
    });
  }
});

describe("quickstart.yaml", () => {
  it("serves what the replicas serve", async () => {
    const { router } = await start("quickstart.yaml");
    await ask(router, "base", "Hello");
  });
});

describe("prefix-aware.yaml", () => {
  it("keeps each conversation on the replica that has seen its beginning", async () => {
    const { router } = await start("prefix-aware.yaml");
    for (const topic of ["soup", "bread", "wine"]) {
      const beginning = `Let us talk about ${topic}. `.repeat(200);
      const endpoints = new Set<string | null>();
      for (let turn = 0; turn < 6; turn++) {
        const response = await ask(router, "base", beginning + "And then? ".repeat(turn * 30));
        endpoints.add(response.headers.get("x-signalbox-endpoint"));
      }
      assert.equal(endpoints.size, 1, topic);
    }
  });
});
