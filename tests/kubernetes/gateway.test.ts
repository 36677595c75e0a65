import assert from "node:assert/strict";
import { networkInterfaces } from "node:os";
import { after, before, describe, it } from "node:test";
import type { MockOptions } from "../../apps/lab/mock/options.ts";
import { type MockReplica, startMockReplica } from "../../apps/lab/mock/replica.ts";
import { startTestAdmin } from "../support/admin.ts";
import { type Cluster, definePools, makeCluster } from "../support/cluster-pods.ts";
import { collectedLog } from "../support/collected-log.ts";
import { type KubernetesServer, NO_KUBERNETES, sharedKubernetes } from "../support/kubernetes-server.ts";
import { openClient } from "../support/raw-client.ts";
import { loadTestConfig, readyCount, startTestRouter, type TestRouter, waitUntil } from "../support/router.ts";
import { assertIdle, chatPost, STREAM } from "../support/scripted-pool.ts";

const TIMEOUT = { timeout: 120_000 };
const SKIP = NO_KUBERNETES || false;
const kubernetes = sharedKubernetes(SKIP);
const APP = { app: "vllm" };

describe("a router in a cluster", { skip: SKIP }, () => {
  let server: KubernetesServer;
  before(async () => {
    server = await kubernetes.get();
    await definePools(server);
  }, TIMEOUT);
  after(() => kubernetes.release());

  /** A router whose replicas are found by the lines of its section. */
  async function startRouter({ namespace }: Cluster, lines: string) {
    const log = collectedLog();
    const spec = `  kubernetes:\n    kubeconfig: ${server.files.kubeconfig}\n    namespace: ${namespace}\n${lines}`;
    const router = await startTestRouter([], { spec, operatorLog: log });
    after(() => router.close());
    return { router, log };
  }

  async function replica(host: string, options: Partial<MockOptions> = {}): Promise<MockReplica> {
    const mock = await startMockReplica({ model: "m", host, timeScale: 0, ...options });
    after(() => mock.close());
    return mock;
  }

  const endpointsOf = ({ router }: TestRouter) => router.pool.facts.endpoints;
  const shownOf = (router: TestRouter) => endpointsOf(router).map(({ name, url, phase }) => `${name} ${url.href} ${phase}`);
  const phaseOf = (router: TestRouter, name: string) => endpointsOf(router).find((one) => one.name === name)?.phase;
  const post = async (router: TestRouter) => {
    const body = JSON.stringify({ model: "m", messages: [{ role: "user", content: "hi" }], max_tokens: 4 });
    const headers = { "content-type": "application/json" };
    const response = await fetch(`${router.url}/v1/chat/completions`, { method: "POST", headers, body });
    await response.text();
    return response.status;
  };

  it("loses no request while the ports of an InferencePool change, and replicas that stay go on", TIMEOUT, async () => {
    const cluster = await makeCluster(server);
    const first = await replica("127.0.0.2");
    await replica("127.0.0.3", { port: first.port });
    const second = await replica("127.0.0.2");
    await replica("127.0.0.3", { port: second.port });
    const [one, two] = [first.port, second.port];
    await cluster.inferencePool("vllm", APP, [one]);
    await cluster.pod("p1", APP, { ip: "127.0.0.2" });
    await cluster.pod("p2", APP, { ip: "127.0.0.3" });
    const { router } = await startRouter(cluster, "    inferencePool: vllm\n");
    await waitUntil(() => readyCount(router.router) === 2);
    const at = (port: number) =>
      endpointsOf(router)
        .filter(({ url, phase }) => url.port === port && phase === "ready")
        .map(({ name, slot, generation }) => `${name} ${slot} ${generation}`);
    const before = at(one);
    let isOver = false;
    const statuses: number[] = [];
    const asking = (async () => {
      while (!isOver) statuses.push(await post(router));
    })();
    await cluster.inferencePool("vllm", APP, [one, two]);
    await waitUntil(() => readyCount(router.router) === 4);
    assert.deepEqual(at(one), before, "a further port does not begin the first one anew");
    const others = at(two);
    for (const ports of [[two, one], [two]]) {
      await cluster.inferencePool("vllm", APP, ports);
      await waitUntil(() => at(one).length === (ports.includes(one) ? 2 : 0));
      assert.equal(await post(router), 200);
      assert.deepEqual(at(two), others);
    }
    await cluster.inferencePool("vllm", APP, [one]);
    await waitUntil(() => at(two).length === 0 && at(one).length === 2);
    isOver = true;
    await asking;
    assert.deepEqual(new Set(statuses), new Set([200]));
    assert.ok(statuses.length > 0);
  });

  it("follows the pods of an InferencePool: ready, unready, terminating under streams, gone", TIMEOUT, async () => {
    const cluster = await makeCluster(server);
    // A stream takes seconds.
    const slow = { timeScale: 1, decodeStepMs: 50 };
    const { port } = await replica("127.0.0.2", slow);
    await replica("127.0.0.3", { port, ...slow });
    await cluster.inferencePool("vllm", APP, [port]);
    await cluster.pod("pod-a", { ...APP, gpu: "h100" }, { ip: "127.0.0.2" });
    await cluster.pod("other", { app: "web" }, { ip: "127.0.0.9" });
    await cluster.pod("pending", APP, { phase: "Pending", ready: false });
    const { router } = await startRouter(cluster, "    inferencePool: vllm\n");
    await waitUntil(() => readyCount(router.router) === 1);
    assert.deepEqual(shownOf(router), [`pod-a http://127.0.0.2:${port} ready`]);
    assert.deepEqual(endpointsOf(router)[0]?.labels, { app: "vllm", gpu: "h100" });
    assert.equal(router.router.config.pool, "vllm");

    await cluster.pod("pod-b", APP, { ip: "127.0.0.3", ready: false });
    await waitUntil(() => phaseOf(router, "pod-b") === "not-ready");
    await cluster.setPod("pod-b", { ready: true });
    await waitUntil(() => phaseOf(router, "pod-b") === "ready");
    await cluster.setPod("pod-a", { ready: false });
    await waitUntil(() => phaseOf(router, "pod-a") === "not-ready");
    assert.equal(await post(router), 200);
    assert.equal(router.log.at(-1)?.endpoint, "pod-b");
    await cluster.setPod("pod-a", { ready: true });
    await waitUntil(() => readyCount(router.router) === 2);

    const client = await openClient(router.port);
    client.send(chatPost(`${STREAM},"max_tokens":100`));
    await client.until((text) => text.includes("data: "));
    const serving = endpointsOf(router).find(({ slot }) => (router.router.pool.load.inFlight[slot] ?? 0) > 0)?.name ?? "";
    await cluster.deletePod(serving);
    await waitUntil(() => phaseOf(router, serving) === "draining");
    for (let each = 0; each < 6; each++) assert.equal(await post(router), 200);
    assert.ok(router.log.slice(-6).every(({ endpoint }) => endpoint !== serving));
    await cluster.endPod(serving);
    await waitUntil(() => endpointsOf(router).length === 1);
    await client.until((text) => text.includes("[DONE]"));
    client.destroy();
    await assertIdle(router);
  });

  it("has a replica for each port, narrowed by annotation and changed with the pool", TIMEOUT, async () => {
    const cluster = await makeCluster(server);
    await cluster.inferencePool("vllm", APP, [8000, 8001, 8002]);
    await cluster.pod("whole", APP, { ip: "127.0.0.4" });
    await cluster.pod("part", APP, { ip: "fd00::5" }, { "llm-d.ai/active-ports": "8000, 8002" });
    await cluster.pod("prefill", { ...APP, "llm-d.ai/role": "prefill" }, { ip: "127.0.0.6" });
    await cluster.pod("decode", { ...APP, "llm-d.ai/role": "decode" }, { ip: "127.0.0.7" });
    const { router } = await startRouter(cluster, "    inferencePool: vllm\n");
    const urls = () => endpointsOf(router).map(({ name, url }) => `${name} ${url.href}`);
    await waitUntil(() => endpointsOf(router).length > 0);
    assert.deepEqual(urls(), [
      "decode http://127.0.0.7:8200",
      "part-rank-0 http://[fd00::5]:8000",
      "part-rank-2 http://[fd00::5]:8002",
      "prefill http://127.0.0.6:8000",
      "whole-rank-0 http://127.0.0.4:8000",
      "whole-rank-1 http://127.0.0.4:8001",
      "whole-rank-2 http://127.0.0.4:8002",
    ]);
    await cluster.inferencePool("vllm", APP, [9000]);
    await waitUntil(() => urls().includes("whole http://127.0.0.4:9000"));
    assert.equal(urls().length, 3, "part says that it uses other ports");
    await cluster.pod("new", { app: "sglang" }, { ip: "127.0.0.8" });
    await cluster.inferencePool("vllm", { app: "sglang" }, [9000]);
    await waitUntil(() => urls().join() === "new http://127.0.0.8:9000");
    await cluster.label("whole", { app: "sglang" });
    await waitUntil(() => urls().length === 2);
  });

  it("waits for a pool of either API, and keeps the replicas of one that is deleted", TIMEOUT, async () => {
    const cluster = await makeCluster(server);
    await cluster.pod("pod-a", APP, { ip: "127.0.0.2" });
    const { router, log } = await startRouter(cluster, "    inferencePool: older\n    ports: { standalone: [7000] }\n");
    await waitUntil(() => log.lines.some((line) => line.includes("There is no InferencePool older")));
    const list = `/apis/inference.networking.x-k8s.io/v1alpha2/namespaces/${cluster.namespace}/inferencepools`;
    const pool = { spec: { selector: APP, targetPortNumber: 8000 } };
    const kind = { apiVersion: "inference.networking.x-k8s.io/v1alpha2", kind: "InferencePool", metadata: { name: "older" } };
    await cluster.request("POST", list, { body: { ...kind, ...pool } });
    await waitUntil(() => endpointsOf(router).length === 1, 60_000);
    assert.equal(endpointsOf(router)[0]?.url.href, "http://127.0.0.2:7000");
    await cluster.request("DELETE", `${list}/older`);
    await waitUntil(() => router.router.control.discoveryTroubles.size === 1);
    assert.match([...router.router.control.discoveryTroubles.values()][0]?.text ?? "", /is deleted, or selects nothing/);
    assert.equal(endpointsOf(router).length, 1);
  });

  it("follows the endpoints of a Service over all its slices", TIMEOUT, async () => {
    // The API takes no loopback address there.
    const host = ownAddress();
    const [one, two] = [await replica("0.0.0.0"), await replica("0.0.0.0")];
    const cluster = await makeCluster(server);
    const member = (name: string, conditions: object = {}) => {
      return { addresses: [host], targetRef: { kind: "Pod", name, namespace: cluster.namespace }, conditions };
    };
    const put = (name: string, port: number, ...endpoints: readonly object[]) =>
      cluster.slice(name, "vllm", { addressType: "IPv4", ports: [{ name: "http", port }], endpoints });
    await put("vllm-1", one.port, member("pod-a"));
    const { router } = await startRouter(cluster, "    service: vllm\n");
    await waitUntil(() => readyCount(router.router) === 1);
    await put("vllm-2", two.port, member("pod-b", { ready: false, serving: false, terminating: false }), member("pod-a"));
    await waitUntil(() => phaseOf(router, "pod-b") === "not-ready");
    assert.deepEqual(shownOf(router), [`pod-a http://${host}:${one.port} ready`, `pod-b http://${host}:${two.port} not-ready`]);
    await put("vllm-2", two.port, member("pod-b", { ready: true }));
    await waitUntil(() => phaseOf(router, "pod-b") === "ready");
    await put("vllm-1", one.port, member("pod-a", { ready: false, serving: true, terminating: true }));
    await waitUntil(() => phaseOf(router, "pod-a") === "draining");
    assert.equal(await post(router), 200);
    assert.equal(router.log.at(-1)?.endpoint, "pod-b");
    await put("vllm-1", one.port);
    await waitUntil(() => endpointsOf(router).length === 1);
  });

  it("lists its pods once, however often the config is changed, and follows another choice without a gap", TIMEOUT, async () => {
    const cluster = await makeCluster(server);
    const { port } = await replica("127.0.0.2");
    await cluster.pod("pod-a", { ...APP, tier: "gold" }, { ip: "127.0.0.2" });
    await cluster.pod("pod-b", APP, { ip: "127.0.0.3" });
    const sectionOf = (selector: string) =>
      `  kubernetes: { kubeconfig: ${server.files.kubeconfig}, namespace: ${cluster.namespace}, selector: ${selector}, ports: { standalone: [${port}] } }\n`;
    const log = collectedLog();
    const router = await startTestRouter([], { spec: sectionOf("{ app: vllm }"), operatorLog: log });
    after(() => router.close());
    await waitUntil(() => readyCount(router.router) === 1 && endpointsOf(router).length === 2);
    const [before] = endpointsOf(router);
    for (let turn = 1; turn <= 3; turn++) {
      const spec = `${sectionOf("{ app: vllm }")}  limits: { pluginMs: ${turn} }\n`;
      router.router.replace(await loadTestConfig([], { spec }));
      assert.equal(endpointsOf(router)[0], before);
    }
    await cluster.label("pod-b", { app: null });
    await waitUntil(() => endpointsOf(router).length === 1);
    router.router.replace(await loadTestConfig([], { spec: sectionOf("{ tier: gold }") }));
    assert.equal(endpointsOf(router)[0]?.name, "pod-a", "until the other pods are listed");
    await cluster.pod("pod-c", { tier: "gold" }, { ip: "127.0.0.4" });
    await waitUntil(() => endpointsOf(router).length === 2);
    const next = sectionOf("{ app: vllm }").replace(server.files.kubeconfig, "/nowhere/config");
    const refused = await loadTestConfig([], { spec: next });
    assert.throws(() => router.router.replace(refused), /the kubeconfig \/nowhere\/config can't be used: there is no such file/);
    assert.equal(endpointsOf(router).length, 2);
    await cluster.pod("pod-d", { tier: "gold" }, { ip: "127.0.0.5" });
    await waitUntil(() => endpointsOf(router).length === 3);
    assert.deepEqual(
      log.lines.filter((line) => line.startsWith("warning: The Kubernetes")),
      [],
    );
  });

  it("serves on while the API server is away, says how old its list is, and catches up", TIMEOUT, async () => {
    const cluster = await makeCluster(server);
    const { port } = await replica("127.0.0.2");
    await replica("127.0.0.3", { port });
    await cluster.pod("pod-a", APP, { ip: "127.0.0.2" });
    const { router, log } = await startRouter(cluster, `    selector: { app: vllm }\n    ports: { standalone: [${port}] }\n`);
    await waitUntil(() => readyCount(router.router) === 1);
    const admin = await startTestAdmin(router.router);
    after(() => admin.close());
    const page = async (path: string) => (await fetch(`http://127.0.0.1:${admin.port}${path}`)).text();
    assert.doesNotMatch(await page("/metrics"), /discovery_stale_seconds\{/);

    await server.kill();
    await waitUntil(() => router.router.control.discoveryTroubles.size === 1);
    assert.equal(await post(router), 200);
    assert.match(await page("/metrics"), /signalbox_discovery_stale_seconds\{discovery="kubernetes\/replicas"\} \d/);
    const { isWell, warnings } = JSON.parse(await page("/status")) as { isWell: boolean; warnings: readonly string[] };
    assert.equal(isWell, false);
    assert.match(
      warnings.join("\n"),
      /"kubernetes\/replicas" does not know the replicas as they are now\. Its list is \d+ s old: /,
    );
    await server.restart();
    await cluster.pod("pod-b", APP, { ip: "127.0.0.3" });
    await waitUntil(() => readyCount(router.router) === 2, 60_000);
    assert.equal(router.router.control.discoveryTroubles.size, 0);
    assert.equal(log.lines.filter((line) => line.includes("can't be watched")).length, 1);
    assert.equal(log.lines.filter((line) => line.includes("is watched again")).length, 1);
  });
});

/** An address of this machine that is not its loopback. */
function ownAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((addresses = []) => addresses);
  const own = all.find(({ family, internal }) => family === "IPv4" && !internal);
  assert.ok(own, "This machine has no network");
  return own.address;
}
