import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { KubernetesClient } from "../../apps/kubernetes/client.ts";
import { findCredentials } from "../../apps/kubernetes/credentials.ts";
import { KubernetesError } from "../../apps/kubernetes/kubernetes-error.ts";
import { Watch } from "../../apps/kubernetes/watch.ts";
import { systemClock } from "../../core/contract/clock.ts";
import { collectedLog } from "../support/collected-log.ts";
import { type KubernetesServer, NO_KUBERNETES, sharedKubernetes } from "../support/kubernetes-server.ts";
import { waitUntil } from "../support/router.ts";

const TIMEOUT = { timeout: 90_000 };
const SKIP = NO_KUBERNETES || false;
const kubernetes = sharedKubernetes(SKIP);

describe("a real API server", { skip: SKIP }, () => {
  let server: KubernetesServer;
  const folder = mkdtempSync(join(tmpdir(), "signalbox-kubeconfig-"));
  before(async () => {
    server = await kubernetes.get();
  }, TIMEOUT);
  after(async () => {
    await kubernetes.release();
    rmSync(folder, { recursive: true });
  });

  function clientOf(user: object, cluster: object) {
    const kubeconfig = join(folder, "config");
    const config = {
      "current-context": "x",
      clusters: [{ name: "x", cluster: { server: server.address, ...cluster } }],
      users: [{ name: "x", user }],
      contexts: [{ name: "x", context: { cluster: "x", user: "x" } }],
    };
    writeFileSync(kubeconfig, JSON.stringify(config));
    return new KubernetesClient(
      findCredentials({ kubeconfig }, { clock: systemClock, environment: process.env }),
      systemClock,
      Math.random,
    );
  }
  const base64 = (file: string) => readFileSync(file).toString("base64");
  const whoami = async (client: KubernetesClient) => {
    const body = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
    const review = await client.request("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", { body });
    return (review as { status: { userInfo: { username: string } } }).status.userInfo.username;
  };
  const failureOf = async (client: KubernetesClient) => {
    const thrown: unknown = await whoami(client).catch((error: unknown) => error);
    assert.ok(thrown instanceof KubernetesError, String(thrown));
    return thrown;
  };

  it("knows who comes with a token, with a client certificate, by a login program, and with nothing", TIMEOUT, async () => {
    const { ca, clientChain, clientKey } = server.files;
    const trusted = { "certificate-authority": ca };
    assert.equal(await whoami(clientOf({ token: "admin-token" }, trusted)), "admin");
    assert.equal(await whoami(clientOf({ "client-certificate": clientChain, "client-key": clientKey }, trusted)), "certified");
    const inline = { "client-certificate-data": base64(clientChain), "client-key-data": base64(clientKey) };
    assert.equal(await whoami(clientOf(inline, { "certificate-authority-data": base64(ca) })), "certified");
    const apiVersion = "client.authentication.k8s.io/v1";
    const credential = JSON.stringify({ apiVersion, kind: "ExecCredential", status: { token: "admin-token" } });
    const exec = { apiVersion, command: "echo", args: [credential], interactiveMode: "Never" };
    assert.equal(await whoami(clientOf({ exec }, trusted)), "admin");
    assert.equal((await failureOf(clientOf({ token: "wrong" }, trusted))).status, 401);
    assert.equal((await failureOf(clientOf({}, trusted))).status, 403);
  });

  it("is trusted only with its authority and its name, or where that is not looked at", TIMEOUT, async () => {
    const { ca, clientChain } = server.files;
    const user = { token: "admin-token" };
    const hint = /Give the authority that has signed its certificate/;
    assert.match((await failureOf(clientOf(user, {}))).message, hint);
    assert.match((await failureOf(clientOf(user, { "certificate-authority": clientChain }))).message, hint);
    const other = { "certificate-authority": ca, "tls-server-name": "other.example" };
    assert.match((await failureOf(clientOf(user, other))).message, hint);
    assert.equal(
      await whoami(clientOf(user, { "certificate-authority": ca, "tls-server-name": "kubernetes.default.svc" })),
      "admin",
    );
    assert.equal(await whoami(clientOf(user, { "insecure-skip-tls-verify": true })), "admin");
  });

  it("says why it refuses", TIMEOUT, async () => {
    await assert.rejects(server.admin.request("GET", "/api/v1/namespaces/nowhere"), { status: 404, reason: "NotFound" });
    const body = { apiVersion: "v1", kind: "Namespace", metadata: { name: "default" } };
    await assert.rejects(server.admin.request("POST", "/api/v1/namespaces", { body }), { status: 409, reason: "AlreadyExists" });
  });

  it("is watched: pages, changes, an outage, and a version that is too old", TIMEOUT, async () => {
    const { admin } = server;
    const path = "/api/v1/namespaces/default/configmaps";
    const put = (name: string) =>
      admin.request("POST", path, { body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name, labels: { of: "watch" } } } });
    await Promise.all(Array.from({ length: 10 }, (_, index) => put(`map-${index}`)));
    const told: (readonly string[])[] = [];
    const log = collectedLog();
    const watch = new Watch<string>({
      client: admin,
      path,
      query: { labelSelector: "of=watch", limit: "4" },
      pick: ({ metadata: { name } }) => name,
      changed: (items) => told.push([...items.keys()]),
      clock: systemClock,
      random: Math.random,
      log,
    });
    after(() => watch.stop());
    watch.start();
    await waitUntil(() => told.length > 0);
    assert.deepEqual([told.length, told[0]?.length, watch.isSynced], [1, 10, true]);
    await put("later");
    await admin.request("DELETE", `${path}/map-0`);
    await waitUntil(() => told.at(-1)?.includes("later") === true && !told.at(-1)!.includes("map-0"));

    await server.kill();
    await waitUntil(() => watch.staleSinceMs !== undefined);
    assert.equal(told.at(-1)?.length, 10);
    await server.restart();
    await waitUntil(() => watch.staleSinceMs === undefined, 60_000);
    await put("latest");
    await waitUntil(() => told.at(-1)?.includes("latest") === true, 30_000);
    assert.deepEqual(
      log.lines.map((line) => line.split(" {")[0]),
      ["warning: The Kubernetes API can't be watched; what it said last stays", "info: The Kubernetes API is watched again"],
    );
    let seen = "";
    const bytes = (chunk: Uint8Array) => {
      seen += Buffer.from(chunk).toString();
    };
    await admin.stream(`${path}?watch=1&resourceVersion=1`, { signal: AbortSignal.timeout(20_000), begun() {}, bytes });
    assert.match(seen, /^\{"type":"ERROR".*"code":410/, "what the watch has to expect");
  });
});
