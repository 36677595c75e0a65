/** What the reference's files say about GPUs, topology and bursts, seen from outside: real replicas, real exporters. */
import assert from "node:assert/strict";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { after, describe, it } from "node:test";
import { collectedLog } from "../support/collected-log.ts";
import { startTestRouter, type TestRouter, type TestRouterOptions, waitUntil } from "../support/router.ts";

process.env["SIGNALBOX_TEST_KEY"] = "replica-key";

async function listen(handler: RequestListener): Promise<{ port: number; close: () => void }> {
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  after(close);
  return { port: (server.address() as AddressInfo).port, close };
}

/** A replica that counts what it gets, and says on which keys its metrics were read. */
async function startReplica() {
  const seen = { requests: 0, keys: new Set<string | undefined>() };
  const { port } = await listen((request, response) => {
    if (request.url === "/metrics") {
      seen.keys.add(request.headers.authorization);
      return response.end("vllm:num_requests_running 0\nvllm:num_requests_waiting 0\nvllm:kv_cache_usage_perc 0.1\n");
    }
    if (request.url === "/health") return response.end();
    if (request.method === "GET") return response.end('{"data":[{"id":"m"}]}');
    seen.requests += 1;
    return request
      .resume()
      .on("end", () => response.setHeader("content-type", "application/json").end('{"choices":[{"index":0,"text":"x"}]}'));
  });
  return { seen, url: `http://127.0.0.1:${port}` };
}

/** An exporter whose page the test writes; undefined: it hangs. */
async function startExporter(utilization: number) {
  const state = { page: pageOf(utilization) as string | undefined, status: 200, keys: new Set<string | undefined>(), reads: 0 };
  const { port, close } = await listen((request, response) => {
    state.reads += 1;
    state.keys.add(request.headers.authorization);
    if (state.page !== undefined) response.writeHead(state.status).end(request.url === "/metrics" ? state.page : "");
  });
  return { state, port, close };
}

const pageOf = (percent: number | string) =>
  `# TYPE DCGM_FI_DEV_GPU_UTIL gauge\nDCGM_FI_DEV_GPU_UTIL{gpu="0",Hostname="node"} ${percent}\n`;

const picker = (text: string) => `---\napiVersion: llm-d.ai/v1alpha1\nkind: EndpointPickerConfig\n${text}`;

interface Replica {
  readonly url: string;
  readonly labels?: string;
}

async function start(replicas: readonly Replica[], config: string, options: TestRouterOptions = {}): Promise<TestRouter> {
  const endpoints = replicas.map(({ url, labels = "" }, index) => `{ url: "${url}", name: r${index}, labels: { ${labels} } }`);
  const spec = `  pool: { auth: { bearer: "env:SIGNALBOX_TEST_KEY" }, endpoints: [ ${endpoints.join(", ")} ] }\n`;
  const router = await startTestRouter([], { ...options, spec, documents: picker(config), ready: replicas.length });
  after(() => router.close());
  return router;
}

async function ask(router: TestRouter, prompt = "x", headers: Readonly<Record<string, string>> = {}): Promise<string> {
  const answer = await fetch(`${router.url}/v1/completions`, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify({ model: "m", prompt }),
  });
  await answer.text();
  return answer.status === 200 ? answer.headers.get("x-signalbox-endpoint")! : String(answer.status);
}

async function askOften(router: TestRouter, count: number): Promise<readonly string[]> {
  const places: string[] = [];
  for (let index = 0; index < count; index++) places.push(await ask(router));
  return [...new Set(places)].sort();
}

/** Waits until ten requests in a row go there: numbers that came late count for less. */
async function allGoTo(router: TestRouter, place: string): Promise<void> {
  for (let round = 0; round < 100; round++) {
    const places = await askOften(router, 10);
    if (places.length === 1 && places[0] === place) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.fail(`requests do not all go to ${place}`);
}

/** As sim-epp-gpu-config.yaml has it, with an exporter for each replica. */
const GPU = `plugins:
- { type: dcgm-data-source, name: dcgm-source, parameters: { port: 9400, interval: 1s, addressLabel: exporter } }
- { type: dcgm-extractor, name: dcgm-extractor }
- type: endpoint-attribute-filter
  name: gpu-utilization-filter
  parameters:
    attribute: GPUUtilization
    producer: dcgm-extractor
    onMissing: Pass
    fallbackOnEmpty: true
    algorithm: { type: threshold, threshold: { operator: LessThanOrEqual, value: 0.90 } }
- type: endpoint-attribute-scorer
  name: gpu-utilization-scorer
  parameters:
    attributeKey: GPUUtilization
    producer: dcgm-extractor
    algorithm: { type: linear_lower_is_better, normalization: { fixedRange: { min: 0.0, max: 1.0 } } }
- type: max-score-picker
- type: single-profile-handler
dataLayer: { sources: [ { pluginRef: dcgm-source, extractors: [ { pluginRef: dcgm-extractor } ] } ] }
schedulingProfiles:
- name: default
  plugins: [ { pluginRef: gpu-utilization-filter }, { pluginRef: gpu-utilization-scorer, weight: 2 }, { pluginRef: max-score-picker } ]
`;

async function startGpuPool(utilizations: readonly number[], options: TestRouterOptions = {}) {
  const replicas = await Promise.all(utilizations.map(() => startReplica()));
  const exporters = await Promise.all(utilizations.map(startExporter));
  const labelled = replicas.map(({ url }, index) => ({ url, labels: `exporter: "127.0.0.1:${exporters[index]!.port}"` }));
  const router = await start(labelled, GPU, options);
  const { load } = router.router.pool;
  const known = () => utilizations.map((_, slot) => load.at(0).attributes(slot).get("GPUUtilization"));
  return { replicas, exporters: exporters.map(({ state }) => state), close: exporters.map(({ close }) => close), router, known };
}

describe("GPU utilization", () => {
  it("keeps requests away from busy GPUs, and follows them as they change", async () => {
    const { exporters, router, known, replicas } = await startGpuPool([95, 20, 60]);
    await waitUntil(() => String(known()) === "0.95,0.2,0.6");
    await allGoTo(router, "r1");
    exporters[1]!.page = pageOf(99);
    exporters[0]!.page = pageOf(10);
    await allGoTo(router, "r0");
    for (const exporter of exporters) exporter.page = pageOf(100);
    await waitUntil(() => known().every((value) => value === 1 || value === undefined));
    assert.ok(
      (await askOften(router, 10)).every((place) => place.startsWith("r")),
      "all busy: none is dropped",
    );
    await waitUntil(() => replicas.every(({ seen }) => seen.keys.has("Bearer replica-key")));
    assert.ok(
      exporters.every(({ keys }) => [...keys].every((key) => key === undefined)),
      "exporters do not",
    );
  });

  it("is forgotten where the exporter is gone or broken, and nothing else is", async () => {
    const operatorLog = collectedLog();
    const { exporters, close, router, known } = await startGpuPool([10, 10, 10, 10, 10], { operatorLog });
    await waitUntil(() => known().every((value) => value === 0.1));
    close[0]!();
    exporters[1]!.page = "<html>".repeat(1_000);
    exporters[2]!.page = `${"x".repeat(5 * 1024 * 1024)}\n${pageOf(1)}`;
    exporters[3]!.status = 500;
    await waitUntil(() => String(known()) === ",,,,0.1", 30_000);
    assert.deepEqual(
      router.router.pool.facts.endpoints.map(({ phase }) => phase),
      ["ready", "ready", "ready", "ready", "ready"],
    );
    assert.ok((await askOften(router, 5)).every((place) => place.startsWith("r")));
    const { load } = router.router.pool;
    // The engines' own metrics still count.
    await waitUntil(() => [0, 1, 2, 3, 4].every((slot) => load.at(0).kvUsage(slot) === 0.1));
    exporters[1]!.page = pageOf(30);
    await waitUntil(() => known()[1] === 0.3, 30_000);
  });

  it("a label that is no address is told once, and the replica serves", async () => {
    const operatorLog = collectedLog();
    const replica = await startReplica();
    const router = await start([{ url: replica.url, labels: 'exporter: "not an address"' }], GPU, { operatorLog });
    const told = () => operatorLog.lines.filter((line) => JSON.stringify(line).includes("is no address"));
    await waitUntil(() => told().length > 0);
    await askOften(router, 3);
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    assert.equal(told().length, 1);
    assert.equal(replica.seen.requests, 3);
  });
});

describe("topology", () => {
  const NEAR = `plugins:
- { type: topology-extractor, parameters: { zone: zone } }
- { type: topology-affinity-filter, parameters: { minAffinity: zone, peerTopologyHeader: x-peer-topology, near: { zone: b } } }
- { type: random-picker }
schedulingProfiles: [ { name: default, plugins: [ { pluginRef: topology-affinity-filter }, { pluginRef: random-picker } ] } ]
`;
  it("requests stay in the zone that they name, else in the router's", async () => {
    const replicas = await Promise.all([startReplica(), startReplica(), startReplica()]);
    const zones = ["a", "b", "a=,\\\\x"];
    const router = await start(
      replicas.map(({ url }, index) => ({ url, labels: `zone: "${zones[index]}"` })),
      NEAR,
    );
    const placesOf = async (headers: Readonly<Record<string, string>>) => {
      const places = await Promise.all(Array.from({ length: 12 }, () => ask(router, "x", headers)));
      return [...new Set(places)].sort();
    };
    assert.deepEqual(await placesOf({ "x-peer-topology": "host=n1,zone=a" }), ["r0"]);
    assert.deepEqual(await placesOf({}), ["r1"]);
    assert.deepEqual(await placesOf({ "x-peer-topology": "=,=,zone" }), ["r1"]);
    assert.ok((await placesOf({ "x-peer-topology": "zone=nowhere" })).length > 1, "none is there: all stay");
  });
});

describe("bursts", () => {
  const BURST = (parameters: string) => `plugins:
- { type: token-producer, parameters: { modelName: m, vllm: { url: "http://127.0.0.1:1" } } }
- { type: burst-prefix-cache-producer, parameters: { windowDurationMs: 60000${parameters} } }
- { type: prefix-cache-scorer, parameters: { prefixMatchInfoProducerName: burst-prefix-cache-producer } }
- { type: max-score-picker }
schedulingProfiles: [ { name: default, plugins: [ { pluginRef: prefix-cache-scorer, weight: 2 }, { pluginRef: max-score-picker } ] } ]
`;
  const promptOf = (index: number) => `${index} `.repeat(2_000);
  const burst = async (router: TestRouter, prompt: string, count: number) => {
    const places = await Promise.all(Array.from({ length: count }, () => ask(router, prompt)));
    return [...new Set(places)].map((place) => places.filter((other) => other === place).length).sort();
  };

  it("requests with one prompt go to one replica, while none has it cached", async () => {
    const replicas = await Promise.all([startReplica(), startReplica(), startReplica(), startReplica()]);
    const router = await start(replicas, BURST(""));
    for (let index = 0; index < 5; index++) assert.deepEqual(await burst(router, promptOf(index), 16), [16]);
  });

  it("or to as many as the bound makes necessary", async () => {
    const replicas = await Promise.all([startReplica(), startReplica(), startReplica(), startReplica()]);
    const router = await start(replicas, BURST(", maxPerReplica: 6"));
    assert.deepEqual(await burst(router, promptOf(1), 16), [4, 6, 6]);
  });
});

describe("data-parallel ranks", () => {
  it("each gets requests at its own port, none at the primary one", async () => {
    const ranks = await Promise.all([startReplica(), startReplica(), startReplica()]);
    const ports = ranks.map(({ url }) => new URL(url).port);
    const dead = await listen(() => {});
    dead.close();
    const config = `plugins:
- { type: decode-filter }
- { type: active-request-scorer }
- { type: data-parallel-profile-handler, parameters: { primaryPort: ${dead.port} } }
schedulingProfiles: [ { name: default, plugins: [ { pluginRef: decode-filter }, { pluginRef: active-request-scorer } ] } ]
`;
    const spec = `  pool: { endpoints: [ { url: "http://127.0.0.1", name: pod, ports: [ ${ports.join(", ")} ] } ] }\n`;
    const router = await startTestRouter([], { spec, documents: picker(config), ready: 3 });
    after(() => router.close());
    const places = await Promise.all(Array.from({ length: 60 }, () => ask(router)));
    assert.deepEqual([...new Set(places)].sort(), ["pod-rank-0", "pod-rank-1", "pod-rank-2"]);
    for (const [index, { seen }] of ranks.entries())
      assert.equal(seen.requests, places.filter((place) => place === `pod-rank-${index}`).length);
  });
});
