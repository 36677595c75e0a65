import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { conditionOf, eventually, installKinds, NO_CRDS, put, rewriteOf } from "../support/cluster-resources.ts";
import { type ClusterRouters, startClusterRouters } from "../support/cluster-router.ts";
import { type KubernetesServer, NO_KUBERNETES, sharedKubernetes } from "../support/kubernetes-server.ts";
import type { RouterProcess } from "../support/router-process.ts";

const TIMEOUT = { timeout: 240_000 };
const REWRITES = Number(process.env["SIGNALBOX_REWRITES"] ?? 40);
const SKIP = NO_KUBERNETES || NO_CRDS || false;
const NAME = "food-review";
const kubernetes = sharedKubernetes(SKIP);

describe("routers that follow the resources of a cluster", { skip: SKIP }, () => {
  let server: KubernetesServer;
  let cluster: ClusterRouters;
  /** The one that is left after the first test. */
  let other: RouterProcess;
  const document = (targets: Readonly<Record<string, number | undefined>>) => rewriteOf("outage", NAME, targets);
  before(async () => {
    server = await kubernetes.get();
    await installKinds(server);
    cluster = await startClusterRouters(server, "outage", { documents: [document({ "food-review-v1": 1 })], count: 2 });
  }, TIMEOUT);
  after(async () => {
    await cluster?.close();
    await kubernetes.release();
  });

  it("share one Lease: its holder writes the status, and another one after it is killed", TIMEOUT, async () => {
    const { routers, status } = cluster;
    const first = await eventually(async () => {
      const all = await Promise.all(routers.map((router) => status(router)));
      const writers = all.map(({ resources }) => resources.isWriter);
      return writers.includes(true) && writers;
    }, "one holds the Lease");
    assert.equal(first.filter(Boolean).length, 1);
    await eventually(async () => (await conditionOf(server, document({})))?.status === "True", "its status");
    const holder = first[0] ? routers[0]! : routers[1]!;
    other = first[0] ? routers[1]! : routers[0]!;
    holder.kill("SIGKILL");
    await put(server, document({ "food-review-v1": 1, "food-review-v2": undefined }));
    await eventually(
      async () => (await conditionOf(server, document({})))?.status === "False",
      "the other one writes the status",
    );
    assert.equal((await status(other)).resources.isWriter, true);
  });

  it("serve on while the API server is away, and learn what happened when it is back", TIMEOUT, async () => {
    const { start, ask, status } = cluster;
    await put(server, document({ "food-review-v1": 1 }));
    await eventually(async () => (await status(other)).warnings.length === 0, "it is good again");
    let isOver = false;
    const asking = (async () => {
      while (!isOver) {
        assert.match(String(await ask(NAME, other)), /^food-review-v[12]$/, "nothing is lost");
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    })();
    await server.kill();
    await eventually(async () => !(await status(other)).resources.isWatched, "the router notices");
    assert.match((await status(other)).warnings.join("\n"), /The cluster's resources are those of \d+ s ago/);
    const late = await start();
    assert.equal(await ask(NAME, late), 404, "one that starts now knows the files alone");
    await server.restart();
    await put(server, document({ "food-review-v2": 1 }));
    for (const router of [other, late])
      await eventually(async () => (await ask(NAME, router)) === "food-review-v2", "the change is known");
    isOver = true;
    await asking;
    await eventually(async () => (await status(other)).warnings.length === 0, "all kinds are watched again");
  });

  it("take many rewrites that come together", TIMEOUT, async () => {
    const { ask, status } = cluster;
    const documents = Array.from({ length: REWRITES }, (_, index) =>
      rewriteOf("outage", `model-${index}`, { "food-review-v1": 1 }),
    );
    const cpuMs = other.cpuMs;
    const before = (await status(other)).config.generation;
    const fromMs = performance.now();
    const list = "/apis/llm-d.ai/v1alpha2/namespaces/outage/inferencemodelrewrites";
    await Promise.all(documents.map((body) => server.admin.request("POST", list, { body })));
    const appliedMs = performance.now();
    await eventually(async () => (await status(other)).rewrites.length > REWRITES, "all are used");
    const usedMs = performance.now();
    assert.equal(await ask(`model-${REWRITES - 1}`, other), "food-review-v1");
    await eventually(async () => {
      const { items } = (await server.admin.request("GET", list)) as {
        readonly items: readonly { readonly status?: { readonly conditions?: readonly { readonly reason: string }[] } }[];
      };
      return items.every(({ status: own }) => own?.conditions?.[0]?.reason === "Accepted");
    }, "all statuses are written");
    const seconds = (ms: number) => (ms / 1000).toFixed(1);
    const { generation } = (await status(other)).config;
    console.log(
      `${REWRITES} rewrites: ${seconds(appliedMs - fromMs)} s to apply, used ${seconds(usedMs - appliedMs)} s after the last, ${generation - before} reloads, status of all after ${seconds(performance.now() - appliedMs)} s, ${seconds(other.cpuMs - cpuMs)} s of CPU, ${Math.round(other.residentBytes / 2 ** 20)} MiB in all`,
    );
  });
});
