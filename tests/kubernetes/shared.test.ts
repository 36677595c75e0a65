/** Routers that agree by the API server of a cluster: a real one. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { parseAllDocuments } from "yaml";
import { systemClock } from "../../core/contract/clock.ts";
import { silentLog } from "../../core/contract/log.ts";
import type { Link } from "../../core/pool/carrier.ts";
import type { Services } from "../../core/services.ts";
import { kubernetesStore } from "../../plugins/features/shared/kubernetes-link.ts";
import { type Cluster, makeCluster } from "../support/cluster-pods.ts";
import { eventually } from "../support/cluster-resources.ts";
import { sharedStatusOf } from "../support/features.ts";
import { type KubernetesServer, NO_KUBERNETES, sharedKubernetes } from "../support/kubernetes-server.ts";
import { programOn } from "../support/own-runtime.ts";
import { exchange } from "../support/raw-client.ts";
import { readyCount, startTestRouter, type TestRouter, waitUntil } from "../support/router.ts";
import { type RouterProcess, startRouterProcess } from "../support/router-process.ts";
import { answerOk, chatPost } from "../support/scripted-pool.ts";
import { type Script, type ScriptedReplica, startScriptedReplica } from "../support/scripted-replica.ts";

process.env["SHARED_TEST"] = "a-secret-of-at-least-sixteen";
const TIMEOUT = { timeout: 240_000 };
const SKIP = NO_KUBERNETES || false;
const kubernetes = sharedKubernetes(SKIP);
const keyLine = (key: string) => `Authorization: Bearer ${key}\r\n`;
const [ALICE, BOB] = ["sk-alice", "sk-bob"].map(keyLine) as [string, string];
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const LIMIT = 60;
const LONG_MS = 90_000;

/** How many replicas it may send requests to. */
async function readyAt({ adminPort }: RouterProcess): Promise<number> {
  const status = await (await fetch(`http://127.0.0.1:${adminPort}/status`)).json();
  return (status as { readonly endpoints: readonly { readonly isAvailable: boolean }[] }).endpoints.filter(
    ({ isAvailable }) => isAvailable,
  ).length;
}

/** Half a minute passes in three seconds. */
const QUICK: Services = {
  clock: {
    now: () => systemClock.now() * 10,
    wall: () => systemClock.wall(),
    after: (ms, run) => systemClock.after(ms / 10, run),
    every: (ms, run) => systemClock.every(ms / 10, run),
  },
  random: Math.random,
  log: silentLog,
};

const RIGHTS = "/apis/rbac.authorization.k8s.io/v1";
/** What the example has of a kind. */
const manifestOf = (kind: string) =>
  parseAllDocuments(readFileSync("examples/deploy/several-routers.yaml", "utf8"))
    .map((document) => document.toJS() as { readonly kind: string })
    .find((manifest) => manifest.kind === kind)!;

/** A kubeconfig of the example's service account, in a namespace where it has the example's Role. */
async function accountConfig({ address, files }: KubernetesServer, { namespace, request }: Cluster): Promise<string> {
  const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
  await request("POST", accounts, { body: manifestOf("ServiceAccount") });
  await request("POST", `${RIGHTS}/namespaces/${namespace}/roles`, { body: manifestOf("Role") });
  await request("POST", `${RIGHTS}/namespaces/${namespace}/rolebindings`, { body: manifestOf("RoleBinding") });
  const made = await request("POST", `${accounts}/signalbox-routers/token`, { body: { spec: {} } });
  const { token } = (made as { readonly status: { readonly token: string } }).status;
  return JSON.stringify({
    "current-context": "x",
    clusters: [{ name: "x", cluster: { server: address, "certificate-authority": files.ca } }],
    users: [{ name: "x", user: { token } }],
    contexts: [{ name: "x", context: { cluster: "x", user: "x", namespace } }],
  });
}

interface ConfigMaps {
  readonly items: readonly { readonly metadata: { readonly name: string } }[];
}

describe("routers that agree by ConfigMaps", { skip: SKIP }, () => {
  let server: KubernetesServer;
  let cluster: Cluster;
  let replicas: ScriptedReplica[];
  let routers: TestRouter[];
  /** On two other runtimes. */
  let others: RouterProcess[];
  /** Of the service account that they run as. */
  let folder: string;
  let kubeconfig: string;
  let script: Script = answerOk;
  const [one, two] = [0, 1].map((index) => () => routers[index]!) as [() => TestRouter, () => TestRouter];
  const shared = (router: TestRouter) => sharedStatusOf(router.router)!;
  const hear = (others: number) =>
    waitUntil(() => routers.map(shared).every(({ isUp, routers: heard }) => isUp && heard.length === others), LONG_MS);
  const list = () => `/api/v1/namespaces/${cluster.namespace}/configmaps`;
  const place = () => ({ credentials: { kubeconfig }, namespace: undefined, everyMs: 1_000 });
  const names = async () => {
    const { items } = (await cluster.request(
      "GET",
      `${list()}?labelSelector=signalbox.dev/shared,signalbox.dev/shared!=routers`,
    )) as ConfigMaps;
    return items.map(({ metadata: { name } }) => name);
  };

  before(async () => {
    server = await kubernetes.get();
    cluster = await makeCluster(server);
    replicas = await Promise.all([0, 1, 2].map(() => startScriptedReplica((request, socket) => script(request, socket))));
    folder = mkdtempSync(join(tmpdir(), "signalbox-shared-"));
    kubeconfig = join(folder, "config");
    writeFileSync(kubeconfig, await accountConfig(server, cluster));
    const urls = replicas.map(({ url }) => url);
    const spec = `  shared: { secret: "env:SHARED_TEST", kubernetes: { kubeconfig: ${kubeconfig} } }
  auth: { keys: [{ name: alice, sha256: "${sha256("sk-alice")}", limits: { requestsPerMinute: ${LIMIT} } }, { name: bob, sha256: "${sha256("sk-bob")}" }] }`;
    routers = await Promise.all([0, 1].map(() => startTestRouter(urls, { spec })));
    const { versions } = process;
    const own = versions["deno"] ? "deno" : versions["bun"] ? "bun" : "node";
    const env = { POD_NAME: "router-1", POD_UID: "d9607e19-f88f-11e6-a518-42010a800195", POD_NAMESPACE: cluster.namespace };
    const start = (runtime: Parameters<typeof programOn>[0]) =>
      startRouterProcess(urls, { spec, env, run: programOn(runtime), hasAdmin: true });
    others = await Promise.all((["node", "deno", "bun"] as const).filter((runtime) => runtime !== own).map(start));
    await hear(3);
  }, TIMEOUT);
  after(async () => {
    await Promise.all((routers ?? []).map((router) => router.close()));
    for (const other of others ?? []) other.kill("SIGKILL");
    await Promise.all((replicas ?? []).map((replica) => replica.close()));
    await kubernetes.release();
    rmSync(folder, { recursive: true, force: true });
  });

  it("a replica that one drains or ejects is out at all of them", TIMEOUT, async () => {
    const { name: drained } = one().router.pool.facts.endpoints[0]!;
    one().router.control.intents.set(drained, { intent: "drain", reason: "", by: "ops", forMs: undefined, graceMs: 0 });
    await waitUntil(() => readyCount(two().router) === 2);
    for (const other of others) await eventually(async () => (await readyAt(other)) === 2, "a process has heard of it");
    two().router.control.intents.clear(drained, "somebody else");
    await waitUntil(() => readyCount(one().router) === 3);

    const bad = replicas[1]!;
    script = (request, socket) => (socket.localPort === bad.port ? void socket.destroy() : answerOk(request, socket));
    const ejected = ({ router }: TestRouter) => router.pool.facts.endpoints.filter(({ ejection }) => ejection !== undefined);
    for (let n = 0; ejected(one()).length === 0 && n < 400; n++) await exchange(one().port, chatPost("", BOB));
    await waitUntil(() => ejected(two()).length === 1);
    assert.match(ejected(two())[0]!.ejection!.reason, /seen by another router$/);
    script = answerOk;
  });

  it("a key's limit holds at both together", TIMEOUT, async () => {
    const ask = async (n: number) => (await exchange(routers[n % 2]!.port, chatPost("", ALICE))).startsWith("HTTP/1.1 200");
    const before = routers.map((router) => shared(router).messages.heard);
    assert.deepEqual(await Promise.all([ask(0), ask(1)]), [true, true]);
    // What each has used is in what the others say next.
    await waitUntil(() => routers.every((router, index) => shared(router).messages.heard >= before[index]! + 12));
    const served = await Promise.all(Array.from({ length: 3 * LIMIT }, (_, n) => ask(n)));
    const count = 2 + served.filter(Boolean).length;
    assert.ok(count <= LIMIT + 2 && count >= LIMIT / 2, `${count} of ${LIMIT}`);
  });

  it("rights that are taken away are named, and used again once they are back", TIMEOUT, async () => {
    const binding = `${RIGHTS}/namespaces/${cluster.namespace}/rolebindings`;
    await cluster.request("DELETE", `${binding}/signalbox-routers`);
    await waitUntil(() => routers.every((router) => !shared(router).isUp), LONG_MS);
    assert.match(shared(one()).fault, /refuses PATCH .* with status 403: .*Its role has to allow that\./);
    assert.match(await exchange(one().port, chatPost("", BOB)), /^HTTP\/1\.1 200 /);
    await cluster.request("POST", binding, { body: manifestOf("RoleBinding") });
    await hear(3);
  });

  it("the API server is away: requests go on, and the status says why; it is back: they agree again", TIMEOUT, async () => {
    await server.kill();
    await waitUntil(() => routers.every((router) => !shared(router).isUp), LONG_MS);
    for (const { port } of routers) assert.match(await exchange(port, chatPost("", BOB)), /^HTTP\/1\.1 200 /);
    assert.match(shared(one()).fault, /^The Kubernetes API .* (gives no response|has not answered)/);
    await waitUntil(() => routers.every((router) => shared(router).routers.length === 0), LONG_MS);
    await server.restart();
    await hear(3);
    assert.equal((await names()).length, 4);
  });

  it("those that stop leave nothing behind, nor does one that is killed, after a while", TIMEOUT, async () => {
    const { pool } = one().router.config;
    const [stopped, killed] = others as [RouterProcess, RouterProcess];
    stopped.kill("SIGTERM");
    await stopped.exited;
    assert.equal((await names()).length, 3, "it has deleted its own");
    await hear(2);
    killed.kill("SIGKILL");
    await killed.exited;
    await hear(1);
    assert.equal((await names()).length, 3, "nobody knows yet that it will not come back");
    let link: Link | undefined;
    await new Promise<void>((up) => {
      link = kubernetesStore(place()).open(`signalbox:1:${pool}`, { received() {}, up, down() {}, lost() {} }, QUICK);
    });
    await eventually(async () => (await names()).length === 3, "the quick one is there, and has deleted the one that was killed");
    link?.close();
    await Promise.all(routers.splice(0).map((router) => router.close()));
    await eventually(async () => (await names()).length === 0, "they have deleted their own");
  });
});
