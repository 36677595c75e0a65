import assert from "node:assert/strict";
import { join } from "node:path";
import { startMockReplica } from "../../apps/lab/mock/replica.ts";
import { followingSpec, put, type ResourceDocument } from "./cluster-resources.ts";
import type { KubernetesServer } from "./kubernetes-server.ts";
import { type RouterProcess, startRouterProcess } from "./router-process.ts";

/** What is read of the status. */
interface Status {
  readonly config: { readonly generation: number };
  readonly warnings: readonly string[];
  readonly rewrites: readonly { readonly name: string; readonly targets: readonly { readonly name: string }[] }[];
  readonly resources: {
    readonly isWatched: boolean;
    readonly isWriter: boolean;
    readonly resources: readonly { readonly name: string; readonly state: string }[];
  };
}

const PROGRAM = join(import.meta.dirname ?? ".", "quick-cluster-process.ts");
const ADAPTERS = ["food-review-v1", "food-review-v2"];

export type ClusterRouters = Awaited<ReturnType<typeof startClusterRouters>>;

/** Routers over the same two mock replicas that follow the resources of a new namespace, and what of it is there before them. */
export async function startClusterRouters(
  server: KubernetesServer,
  namespace: string,
  {
    documents = [],
    count = 1,
    more = "",
  }: { readonly documents?: readonly ResourceDocument[]; readonly count?: number; readonly more?: string } = {},
) {
  await server.admin.request("POST", "/api/v1/namespaces", { body: { metadata: { name: namespace } } });
  await put(server, ...documents);
  const replicas = await Promise.all(
    [1, 2].map(() => startMockReplica({ model: "base", adapters: ADAPTERS, timeScale: 0, seenLimit: 10_000 })),
  );
  const urls = replicas.map(({ url }) => url);
  const routers: RouterProcess[] = [];
  const start = async () => {
    const router = await startRouterProcess(urls, {
      program: PROGRAM,
      spec: followingSpec(server, namespace, more),
      hasAdmin: true,
    });
    routers.push(router);
    return router;
  };
  await Promise.all(Array.from({ length: count }, start));
  return {
    namespace,
    routers,
    start,
    async close() {
      for (const router of routers) router.kill("SIGTERM");
      await Promise.all(routers.map(({ exited }) => exited));
      await Promise.all(replicas.map((replica) => replica.close()));
    },
    /** The model of the answer; its status where there is none. */
    async ask(model: string, { port } = routers[0]!): Promise<string | number> {
      const answer = await fetch(`http://127.0.0.1:${port}/v1/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model, prompt: "Hello", max_tokens: 1 }),
      });
      const { model: served } = (await answer.json()) as { readonly model: string };
      return answer.status === 200 ? served : answer.status;
    },
    /** How often the replicas were asked for each model since the last time; there must be so many requests. */
    counted(requests: number): Readonly<Record<string, number>> {
      const bodies = replicas.flatMap(({ seen }) =>
        seen.requests.filter(({ method }) => method === "POST").map(({ body }) => body),
      );
      for (const { seen } of replicas) seen.clear();
      assert.equal(bodies.length, requests, "nothing is lost, nothing comes twice");
      const counts: Record<string, number> = {};
      for (const body of bodies) {
        const { model } = JSON.parse(body.toString("utf8")) as { readonly model: string };
        counts[model] = (counts[model] ?? 0) + 1;
      }
      return counts;
    },
    async status({ adminPort } = routers[0]!): Promise<Status> {
      return (await (await fetch(`http://127.0.0.1:${adminPort}/status`)).json()) as Status;
    },
  };
}
