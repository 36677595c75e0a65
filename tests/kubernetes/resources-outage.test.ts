import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { apply, conditionOf, eventually, installKinds, NO_CRDS, rewriteOf } from "../support/cluster-resources.ts";
import { startClusterRouters } from "../support/cluster-router.ts";
import { type KubernetesServer, NO_KUBERNETES, sharedKubernetes } from "../support/kubernetes-server.ts";

const TIMEOUT = { timeout: 240_000 };
const REWRITES = Number(process.env["SIGNALBOX_REWRITES"] ?? 40);
const SKIP = NO_KUBERNETES || NO_CRDS || false;
const kubernetes = sharedKubernetes(SKIP);

describe("routers that follow the resources of a cluster", { skip: SKIP }, () => {
  let server: KubernetesServer;
  before(async () => {
    server = await kubernetes.get();
    await installKinds(server);
  }, TIMEOUT);
  after(() => kubernetes.release());

  it("share one Lease: its holder writes the status, and another one after it is killed", TIMEOUT, async () => {
    const document = rewriteOf("lease", "food-review", { "food-review-v1": 1 });
    const { routers, status } = await startClusterRouters(server, "lease", { documents: [document], count: 2 });
    const writers = async () => {
      const all = await Promise.all(routers.map((router) => status(router)));
      return all.map(({ resources }) => resources.isWriter);
    };
    const first = await eventually(async () => {
      const now = await writers();
      return now.includes(true) && now;
    }, "one holds the Lease");
    assert.equal(first.filter(Boolean).length, 1);
    await eventually(async () => (await conditionOf(server, document))?.status === "True", "its status");
    const [holder, other] = first[0] ? [routers[0]!, routers[1]!] : [routers[1]!, routers[0]!];
    holder.kill("SIGKILL");
    await apply(server, rewriteOf("lease", "food-review", { "food-review-v1": 1, "food-review-v2": undefined }));
    await eventually(async () => (await conditionOf(server, document))?.status === "False", "the other one writes the status");
    assert.equal((await status(other)).resources.isWriter, true);
  });

  it("serve on while the API server is away, and learn what happened when it is back", TIMEOUT, async () => {
    const name = "food-review";
    const { routers, start, ask, status } = await startClusterRouters(server, "outage", {
      documents: [rewriteOf("outage", name, { "food-review-v1": 1 })],
    });
    let isOver = false;
    const asking = (async () => {
      while (!isOver) assert.match(String(await ask(name)), /^food-review-v[12]$/, "nothing is lost");
    })();
    await server.kill();
    await eventually(async () => !(await status()).resources.isWatched, "the router notices");
    assert.match((await status()).warnings.join("\n"), /The cluster's resources are those of \d+ s ago/);
    const late = await start();
    assert.equal(await ask(name, late), 404, "one that starts now knows the files alone");
    await server.restart();
    await apply(server, rewriteOf("outage", name, { "food-review-v2": 1 }));
    for (const router of routers)
      await eventually(async () => (await ask(name, router)) === "food-review-v2", "the change is known");
    isOver = true;
    await asking;
    await eventually(async () => (await status()).warnings.length === 0, "all kinds are watched again");
  });

  it("take many rewrites that come together", TIMEOUT, async () => {
    const { routers, ask, status } = await startClusterRouters(server, "many");
    const documents = Array.from({ length: REWRITES }, (_, index) =>
      rewriteOf("many", `model-${index}`, { "food-review-v1": 1 }),
    );
    const cpuMs = routers[0]!.cpuMs;
    const fromMs = performance.now();
    const list = "/apis/llm-d.ai/v1alpha2/namespaces/many/inferencemodelrewrites";
    // Not by kubectl, which bounds its own rate.
    await Promise.all(documents.map((body) => server.admin.request("POST", list, { body })));
    const appliedMs = performance.now();
    await eventually(async () => (await status()).rewrites.length === REWRITES, "all are used");
    const usedMs = performance.now();
    assert.equal(await ask(`model-${REWRITES - 1}`), "food-review-v1");
    await eventually(async () => {
      const { items } = (await server.admin.request("GET", list)) as {
        readonly items: readonly { readonly status?: { readonly conditions?: readonly { readonly reason: string }[] } }[];
      };
      return items.every(({ status: own }) => own?.conditions?.[0]?.reason === "Accepted");
    }, "all statuses are written");
    const seconds = (ms: number) => (ms / 1000).toFixed(1);
    const { generation } = (await status()).config;
    console.log(
      `${REWRITES} rewrites: ${seconds(appliedMs - fromMs)} s to apply, used ${seconds(usedMs - appliedMs)} s after the last, ${generation - 1} reloads, status of all after ${seconds(performance.now() - appliedMs)} s, ${seconds(routers[0]!.cpuMs - cpuMs)} s of CPU`,
    );
  });
});
