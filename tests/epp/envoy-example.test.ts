import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, beforeEach, describe, it } from "node:test";
import { parse } from "yaml";
import { type MockReplica, startMockReplica } from "../../apps/lab/mock/replica.ts";
import { exampleText } from "../examples/example-files.ts";
import { killAll, type Running, signalbox, until } from "../support/cli.ts";
import { ENVOY_EXAMPLE, type EnvoyProcess, HAS_ENVOY, startEnvoy } from "../support/envoy.ts";
import type { AccessLine } from "../support/router.ts";

const CHAT = { model: "food-review", max_tokens: 4, messages: [{ role: "user", content: "Was the soup any good?" }] };

interface EnvoyConfig {
  readonly static_resources: { readonly clusters: readonly { readonly name: string }[] };
}

/** The clusters of the example that requests may go to: all but the router's own. */
const clusters = (parse(ENVOY_EXAMPLE) as EnvoyConfig).static_resources.clusters
  .map(({ name }) => name)
  .filter((name) => !name.startsWith("signalbox"));

/** The router of the example, over these replicas; with the line for clusters that take a list where `isListed`. */
function routerText(replicas: readonly MockReplica[], isListed: boolean): string {
  const text = exampleText("gateway/router.yaml")
    .replace(":8001", `:${replicas[0]!.port}`)
    .replace(":8002", `:${replicas[1]!.port}`);
  return isListed ? text.replace("# limits: {", "limits: {") : text;
}

/** Each with the router's config as it is shipped, and with its commented line where the cluster takes a list. */
const CASES = clusters.flatMap((cluster) =>
  cluster === "replicas"
    ? ([[cluster, false]] as const)
    : ([false, true] as const).map((isListed) => [cluster, isListed] as const),
);

describe("examples/gateway as shipped: router.yaml, envoy.yaml and a real Envoy", { skip: !HAS_ENVOY }, () => {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-gateway-"));
  let replicas: readonly MockReplica[] = [];
  let envoy: EnvoyProcess | undefined;
  beforeEach(async () => {
    const adapters = ["food-review-v1", "food-review-v2"];
    replicas = await Promise.all([1, 2].map(() => startMockReplica({ model: "base", adapters, timeScale: 0 })));
  });
  afterEach(async () => {
    await envoy?.stop();
    envoy = undefined;
    killAll();
    await Promise.all(replicas.map((replica) => replica.close()));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  async function start(cluster: string, isListed: boolean): Promise<{ readonly url: string; readonly router: Running }> {
    const file = join(folder, "router.yaml");
    writeFileSync(file, routerText(replicas, isListed));
    const router = signalbox("epp", "-f", file, "--grpc-port", "0", "--admin-port", "0");
    await until(() => router.output.err.includes("2 of 2 replicas ready"));
    const pickerPort = Number(/grpc:\/\/127\.0\.0\.1:(\d+)/.exec(router.output.err)?.[1]);
    envoy = await startEnvoy({ pickerPort, cluster, listed: [replicas[0]!.port, replicas[1]!.port] });
    return { url: envoy.url, router };
  }

  const send = async (url: string): Promise<{ readonly status: number; readonly endpoint: string; readonly text: string }> => {
    const headers = { "content-type": "application/json" };
    const response = await fetch(`${url}/v1/chat/completions`, { method: "POST", headers, body: JSON.stringify(CHAT) });
    const text = await response.text();
    return { status: response.status, endpoint: response.headers.get("x-signalbox-endpoint") ?? "", text };
  };
  const chats = ({ seen }: MockReplica) => seen.requests.filter(({ path }) => path === "/v1/chat/completions").length;
  const logged = ({ output }: Running) =>
    output.out
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line) as AccessLine);

  it("has both kinds of clusters", () => assert.deepEqual(clusters, ["replicas", "listed-replicas"]));

  for (const [cluster, isListed] of CASES) {
    it(`cluster ${cluster}${isListed ? " with fallbacks" : ""}: 20 of 20 are served, each where the router said, 18 and 2`, async () => {
      const { url, router } = await start(cluster, isListed);
      const answers: Awaited<ReturnType<typeof send>>[] = [];
      for (let i = 0; i < 20; i++) answers.push(await send(url));
      assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200], answers[0]?.text);
      const served = answers.map(({ text }) => (JSON.parse(text) as { model: string }).model);
      assert.equal(served.filter((model) => model === "food-review-v1").length, 18);
      assert.deepEqual(
        ["gpu1", "gpu2"].map((name) => answers.filter(({ endpoint }) => endpoint === name).length),
        replicas.map(chats),
      );
      await until(() => logged(router).length === 20);
      const tries = logged(router).flatMap(({ attempts }) => attempts.map(({ result }) => result));
      assert.deepEqual(tries, Array(20).fill(200));
      assert.doesNotMatch(router.output.err, /refused|not-ready/);
    });
  }

  it("cluster listed-replicas with fallbacks: where one replica has gone, the other one serves, and nobody sees an error", async () => {
    const { url } = await start("listed-replicas", true);
    await replicas[0]!.close();
    const answers: Awaited<ReturnType<typeof send>>[] = [];
    for (let i = 0; i < 10; i++) answers.push(await send(url));
    assert.deepEqual([...new Set(answers.map(({ status, endpoint }) => `${status} ${endpoint}`))], ["200 gpu2"]);
  });
});
