import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { makeCluster } from "../support/cluster-pods.ts";
import { type KubernetesServer, NO_KUBERNETES, sharedKubernetes } from "../support/kubernetes-server.ts";
import { startTestRouter, waitUntil } from "../support/router.ts";

const TIMEOUT = { timeout: 300_000 };
const SKIP = NO_KUBERNETES || false;
const kubernetes = sharedKubernetes(SKIP);
// Nothing listens at their addresses: so many replicas in this process would be what is measured.
const PODS = Number(process.env["SIGNALBOX_PODS"] ?? 100);
const AT_ONCE = 20;
const LONG_MS = 120_000;

describe("a router over many pods", { skip: SKIP }, () => {
  let server: KubernetesServer;
  before(async () => {
    server = await kubernetes.get();
  }, TIMEOUT);
  after(() => kubernetes.release());

  it("finds all of them, and follows them as they change together", TIMEOUT, async () => {
    const cluster = await makeCluster(server);
    const names = Array.from({ length: PODS }, (_, index) => `pod-${index}`);
    const inBatches = async (all: readonly string[], run: (name: string, index: number) => Promise<void>) => {
      for (let from = 0; from < all.length; from += AT_ONCE)
        await Promise.all(all.slice(from, from + AT_ONCE).map((name, index) => run(name, from + index)));
    };
    await inBatches(names, (name, index) =>
      cluster.pod(name, { app: "vllm" }, { ip: `127.1.${Math.floor(index / 200)}.${(index % 200) + 1}` }),
    );
    const usageBefore = process.cpuUsage();
    const residentBefore = process.memoryUsage().rss;
    const fromMs = performance.now();
    const spec = `  kubernetes: { kubeconfig: ${server.files.kubeconfig}, namespace: ${cluster.namespace}, selector: { app: vllm } }\n`;
    const router = await startTestRouter([], { spec });
    after(() => router.close());
    const { router: inner } = router;
    await waitUntil(() => inner.pool.facts.endpoints.length === PODS, LONG_MS);
    const listedMs = performance.now() - fromMs;
    const cpuMs = process.cpuUsage(usageBefore);
    const residentMiB = (process.memoryUsage().rss - residentBefore) / 2 ** 20;
    console.log(
      `${PODS} pods: listed after ${Math.round(listedMs)} ms, ${Math.round((cpuMs.user + cpuMs.system) / 1000)} ms CPU, ${Math.round(residentMiB)} MiB more`,
    );

    const half = names.filter((_, index) => index % 2 === 0);
    const changedFromMs = performance.now();
    await inBatches(half, (name) => cluster.setPod(name, { ready: false }));
    const writtenMs = performance.now() - changedFromMs;
    const unready = () => inner.pool.facts.endpoints.filter(({ reported }) => reported === "not-ready");
    await waitUntil(() => unready().length === half.length, LONG_MS);
    console.log(
      `${half.length} pods became unready: written in ${Math.round(writtenMs)} ms, known ${Math.round(performance.now() - changedFromMs - writtenMs)} ms after the last`,
    );
    assert.deepEqual(new Set(unready().map(({ name }) => name)), new Set(half));
  });
});
