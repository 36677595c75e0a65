import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { topLines } from "../../../../apps/cli/commands/top.ts";
import { greeting } from "../../../../apps/cli/start/first-probes.ts";
import { askFor, startTestAdmin } from "../../../support/admin.ts";
import { readFamilies } from "../../../support/metrics-page.ts";
import {
  ask,
  assertNothingLeft,
  poolDocument,
  replicaOf,
  rewriteDocument,
  routersOf,
  startPools,
} from "../../../support/pools.ts";
import { TEXTS } from "../../../support/section-modules.ts";

const own = await replicaOf();
const big = await replicaOf(["big"]);
const canary = await replicaOf(["m"]);
const documents = [
  poolDocument("big", [big.url], "  models: [big]\n  admission: {}\n  scale: {}").replace(
    "pool: {",
    "pool: { adapters: { byClients: false },",
  ),
  poolDocument("canary", [canary.url]),
  rewriteDocument("split", "split", "{ modelRewrite: m, weight: 1 }, { modelRewrite: m, weight: 1, pool: canary }"),
].join("");
const router = await startPools([own.url], { documents, spec: "  scale: {}" });
const admin = await startTestAdmin(router.router);
after(() => admin.close());
const textAt = async (path: string) => (await askFor(admin.port, path)).body;
const jsonAt = async (path: string) => JSON.parse(await textAt(path));
const explain = async (body: object) => {
  const response = await fetch(`http://127.0.0.1:${admin.port}/api/v1/explain`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ body: JSON.stringify({ messages: [{ role: "user", content: "hi" }], ...body }) }),
  });
  return (await response.json()) as { pool?: string; target: string; notes: string[]; candidates: { endpoint: string }[] };
};

describe("what people see of several pools", () => {
  it("has every endpoint with its pool, and each pool with its own features, in the status", async () => {
    for (const model of ["m", "big", "split", "split"]) assert.equal((await ask(router, model)).status, 200);
    await assertNothingLeft(router.router);
    const status = await jsonAt("/status");
    assert.deepEqual(
      status.endpoints.map(({ pool, figures }: { pool: string; figures: { requests: number } }) => [pool, figures.requests]),
      [
        ["default", 2],
        ["big", 1],
        ["canary", 1],
      ],
    );
    assert.equal(status.traffic.requests, 4);
    assert.equal(status.isWell, true, status.warnings.join());
    const [pool] = status.pools;
    assert.deepEqual([pool.name, pool.ready, pool.requests, pool.failed], ["big", 1, 1, 0]);
    assert.equal(typeof pool.admission, "object");
    const [rule] = status.rewrites;
    assert.deepEqual(
      rule.targets.map(
        ({ name, readyEndpoints, figures }: { name: string; readyEndpoints: number; figures: { requests: number } }) => [
          name,
          readyEndpoints,
          figures.requests,
        ],
      ),
      [
        ["m", 2, 1],
        ["m@canary", 1, 1],
      ],
    );
  });

  it("has each family of metrics once, with the pool where there is one in several", async () => {
    const families = readFamilies(await textAt("/metrics"));
    const samplesOf = (name: string) => families.find((family) => family.name === `signalbox_${name}`)?.samples ?? [];
    assert.equal(samplesOf("endpoint_ready").length, 3);
    assert.ok(samplesOf("endpoint_ready").some((line) => /pool="canary"/.test(line)));
    assert.deepEqual(samplesOf("pool_requests_total"), [
      'signalbox_pool_requests_total{pool="default"} 2',
      'signalbox_pool_requests_total{pool="big"} 1',
      'signalbox_pool_requests_total{pool="canary"} 1',
    ]);
    assert.ok(samplesOf("queue_requests").every((line) => /pool="/.test(line)));
    assert.equal(samplesOf("pool_panic").length, 3);
  });

  it("says for each pool how many replicas it should have", async () => {
    const { pool, wanted, pools } = await jsonAt("/scale");
    assert.deepEqual([pool, wanted], ["default", 1]);
    assert.deepEqual(
      pools.map((each: { pool: string; wanted: number }) => [each.pool, each.wanted]),
      [["big", 1]],
    );
    assert.deepEqual([(await jsonAt("/scale?pool=big")).wanted, (await jsonAt("/scale?pool=big")).pools], [1, undefined]);
    assert.deepEqual(await jsonAt("/scale?pool=big&model=m"), { pool: "big", model: "m", wanted: 0, underWay: 0, work: 0 });
    assert.match(
      await textAt("/scale?pool=canary"),
      /Nobody counts how many replicas the pool \\"canary\\".*\\"default\\", \\"big\\"/,
    );
    const metric = "/apis/external.metrics.k8s.io/v1beta1/namespaces/default/signalbox-wanted-replicas";
    const labelsAt = async (query: string) =>
      (await jsonAt(`${metric}${query}`)).items.map(({ metricLabels }: { metricLabels: object }) => metricLabels);
    assert.deepEqual(await labelsAt(""), [{ pool: "default" }, { pool: "big" }]);
    assert.deepEqual(await labelsAt("?labelSelector=pool=big,model=big"), [{ pool: "big", model: "big" }]);
  });

  it("saves the facts of each pool", async () => {
    const { endpoints, pools } = await jsonAt("/api/v1/facts");
    assert.deepEqual([endpoints.length, Object.keys(pools)], [1, ["big", "canary"]]);
    assert.deepEqual(pools.big.endpoints[0].models, ["big"]);
    assert.equal(pools.big.pools, undefined);
  });

  it("has a line for each pool in top and status", async () => {
    const status = await jsonAt("/status");
    const [line] = topLines(status, TEXTS, "name", { columns: 200, rows: 40 }).filter((each) => each.startsWith("pool big"));
    assert.equal(line, "pool big: 1 of 1 replicas ready; 1 request, 0 failed");
    const shown = TEXTS.flatMap((text) => text.router?.(status) ?? []);
    assert.equal(shown.filter((each) => /^pool (big|canary): 1 of 1/.test(each)).length, 2);
  });

  it("greets with each pool", () => {
    assert.equal(
      greeting("http://r", router.router),
      [
        "Signalbox is listening on http://r for 3 pools",
        'Pool "default": 1 of 1 replicas ready, models: m',
        'Pool "big": 1 of 1 replicas ready, models: big',
        'Pool "canary": 1 of 1 replicas ready, models: m',
        "",
      ].join("\n"),
    );
  });

  it("drains an endpoint of any pool", async () => {
    const { name } = routersOf(router.router).get("canary")!.pool.facts.endpoints[0]!;
    const change = async (what: string) => {
      const response = await fetch(`http://127.0.0.1:${admin.port}/api/v1/endpoints/${name}/${what}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: "{}",
      });
      return (await response.json()) as { phase: string; pool: string };
    };
    assert.deepEqual((({ phase, pool }) => [phase, pool])(await change("drain")), ["draining", "canary"]);
    assert.equal((await change("undrain")).phase, "ready");
  });

  it("explains which pool a request goes to and why, without a count", async () => {
    const big = await explain({ model: "big" });
    assert.equal(big.pool, "big");
    assert.equal(big.candidates.length, 1);
    assert.match(big.notes.join(), /The pool "big" was chosen by its models/);
    const first = await explain({ model: "split" });
    assert.equal((await explain({ model: "split" })).pool, first.pool, "no share was drawn");
    assert.equal((await explain({ model: "m" })).pool, "default");
    const { decisions } = await jsonAt("/decisions?limit=1");
    assert.equal(typeof decisions[0].pool, "string");
    assert.match(decisions[0].notes.join(), /pool/);
  });

  it("has adapters loaded in all pools, or in the one that is named, and shows who has them", async () => {
    const post = async (url: string, body: object) => {
      const headers = { "content-type": "application/json" };
      const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
      return { status: response.status, text: await response.text() };
    };
    const before = [own, big, canary].map(({ requests }) => requests.length);
    const asked = () => [own, big, canary].map(({ requests }, at) => requests.length - before[at]!);
    const load = `${router.url}/v1/load_lora_adapter`;
    const { status, text } = await post(load, { lora_name: "v1", lora_path: "/v1" });
    assert.equal(status, 200, text);
    for (const pool of ["default", "canary"]) assert.match(text, new RegExp(`^\\S+ of ${pool}: `, "m"));
    assert.deepEqual(asked(), [1, 0, 1], "the pool big does not let clients do it");
    assert.equal((await post(`${load}?pool=canary`, { lora_name: "v2", lora_path: "/v2" })).status, 200);
    assert.deepEqual(asked(), [1, 0, 2]);
    assert.match((await post(`${load}?pool=big`, { lora_name: "v1" })).text, /adapters_closed/);
    assert.match((await post(`${load}?pool=none`, { lora_name: "v1" })).text, /No pool has that name/);
    const api = `http://127.0.0.1:${admin.port}/api/v1/adapters/v1/load`;
    assert.equal((await post(api, { path: "/v1", pool: "big" })).status, 200);
    assert.deepEqual(asked(), [1, 1, 2]);
    assert.match((await post(api, { pool: "none" })).text, /unknown_pool.*default, big, canary/);
    const { name: endpoint } = routersOf(router.router).get("big")!.pool.facts.endpoints[0]!;
    assert.equal((await post(api, { path: "/v1", endpoint })).status, 200);
    assert.deepEqual(asked(), [1, 2, 2]);
    const places = (await jsonAt("/api/v1/adapters")).adapters as readonly { name: string; loaded: readonly string[] }[];
    const endpoints = [router.router, routersOf(router.router).get("canary")!].map(({ pool }) => pool.facts.endpoints[0]!.name);
    assert.deepEqual(places.find(({ name }) => name === "m")?.loaded, endpoints, "the target of a rule");
  });
});
