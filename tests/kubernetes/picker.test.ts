import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { parseAllDocuments } from "yaml";
import { startMockReplica } from "../../apps/lab/mock/replica.ts";
import { signalbox, until } from "../support/cli.ts";
import { type Cluster, defineLoosely, definePools, makeCluster } from "../support/cluster-pods.ts";
import { conditionOf, eventually, installKinds, kubectl, NO_CRDS, put, rewriteOf } from "../support/cluster-resources.ts";
import { GatewayCall, health } from "../support/gateway.ts";
import { GrpcClient } from "../support/grpc-client.ts";
import { type KubernetesServer, NO_KUBERNETES, sharedKubernetes } from "../support/kubernetes-server.ts";

const TIMEOUT = { timeout: 120_000 };
const SKIP = NO_KUBERNETES || NO_CRDS || false;
const MANIFEST = "examples/gateway/gateway-api.yaml";
const CHAT = JSON.stringify({ model: "food-review", messages: [{ role: "user", content: "Hello" }] });
const kubernetes = sharedKubernetes(SKIP);

interface ConfigMap {
  readonly kind: string;
  readonly data: Readonly<Record<string, string>>;
}

describe("the endpoint picker of a gateway in a cluster", { skip: SKIP }, () => {
  let server: KubernetesServer;
  let cluster: Cluster;
  const folder = mkdtempSync(join(tmpdir(), "signalbox-picker-"));
  before(async () => {
    server = await kubernetes.get();
    await installKinds(server);
    await definePools(server);
    // Theirs are beside no checkout: any Gateway and HTTPRoute is taken here.
    await defineLoosely(server, "gateway.networking.k8s.io", "v1", "Gateway", "gateways");
    await defineLoosely(server, "gateway.networking.k8s.io", "v1", "HTTPRoute", "httproutes");
    cluster = await makeCluster(server);
    await kubectl(server, ["apply", "-n", cluster.namespace, "-f", MANIFEST]);
  }, TIMEOUT);
  after(async () => {
    rmSync(folder, { recursive: true });
    await kubernetes.release();
  });

  /** The manifest's own config, as one who is not in the cluster reaches it; its replicas listen on another port than there. */
  async function configFile(port: number): Promise<string> {
    const token = await kubectl(server, ["create", "token", "signalbox-epp", "-n", cluster.namespace]);
    const kubeconfig = join(folder, "kubeconfig");
    const config = {
      "current-context": "x",
      clusters: [{ name: "x", cluster: { server: server.address, "certificate-authority": server.files.ca } }],
      users: [{ name: "x", user: { token: token.trim() } }],
      contexts: [{ name: "x", context: { cluster: "x", user: "x", namespace: cluster.namespace } }],
    };
    writeFileSync(kubeconfig, JSON.stringify(config));
    const documents = parseAllDocuments(readFileSync(MANIFEST, "utf8")).map((document) => document.toJS() as ConfigMap);
    const text = documents.find(({ kind }) => kind === "ConfigMap")?.data["signalbox.yaml"] ?? "";
    const file = join(folder, "signalbox.yaml");
    const outside = `kubernetes: { kubeconfig: ${kubeconfig}, ports: { standalone: [${port}] }, `;
    writeFileSync(file, text.replace("kubernetes: { ", outside).replace("settleMs: 10000", "settleMs: 0"));
    return file;
  }

  it("follows its pool and its rewrites as its service account, and says where a gateway sends a request", TIMEOUT, async () => {
    const replica = await startMockReplica({ host: "127.0.0.2", model: "base", adapters: ["food-review-v1"], timeScale: 0 });
    after(() => replica.close());
    const port = Number(new URL(replica.url).port);
    await cluster.pod("vllm-1", { app: "vllm" }, { ip: "127.0.0.2" });
    const rewrite = rewriteOf(cluster.namespace, "food-review", { "food-review-v1": 1 });
    await put(server, rewrite);
    const file = await configFile(port);
    const { child, output, ended } = signalbox("epp", "-f", file, "--host", "127.0.0.1", "--grpc-port", "0", "--admin-port", "0");
    after(() => child.kill("SIGKILL"));
    await until(() => /listening on grpc:\/\/[^ ]+:\d+/.test(output.err));
    const client = new GrpcClient(Number(/listening on grpc:\/\/[^ ]+:(\d+)/.exec(output.err)?.[1]));
    after(() => client.close());
    await eventually(async () => (await health(client, "readiness")) === "SERVING", "a replica is ready");
    const call = new GatewayCall(client, { body: CHAT });
    const { destination, metadata, body = "" } = await call.ask();
    assert.deepEqual([destination, metadata], [`127.0.0.2:${port}`, `127.0.0.2:${port}`]);
    assert.equal((JSON.parse(body) as { readonly model: string }).model, "food-review-v1");
    await eventually(async () => (await conditionOf(server, rewrite))?.status === "True", "the rewrite is told so");
    assert.doesNotMatch(output.err, /forbidden/i, "the Role allows all that it asks for");

    await cluster.setPod("vllm-1", { ready: false });
    await eventually(async () => (await health(client, "readiness")) === "NOT_SERVING", "no replica is ready");
    call.call.reset();
    process.kill(child.pid!, "SIGTERM");
    assert.equal(await ended, 0);
  });
});
