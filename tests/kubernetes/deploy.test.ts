import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { parseAllDocuments } from "yaml";
import { loadTexts } from "../../config/load.ts";
import { formatProblem } from "../../config/read/problems.ts";
import { builtIns } from "../../plugins/registry.ts";
import { definePools, makeCluster } from "../support/cluster-pods.ts";
import { apply, conditionOf, eventually, installKinds, kubectl, NO_CRDS, rewriteOf } from "../support/cluster-resources.ts";
import { helm, NO_HELM } from "../support/helm.ts";
import { type KubernetesServer, NO_KUBERNETES, sharedKubernetes } from "../support/kubernetes-server.ts";
import { startRouterProcess } from "../support/router-process.ts";

const TIMEOUT = { timeout: 120_000 };
const SKIP = NO_KUBERNETES || NO_CRDS || false;
const kubernetes = sharedKubernetes(SKIP);

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly rules?: unknown;
  readonly spec?: { readonly template?: unknown };
  readonly data?: Readonly<Record<string, string>>;
}

const manifests = (text: string) =>
  parseAllDocuments(text)
    .map((document) => document.toJS() as Manifest | null)
    .filter((manifest) => manifest !== null);
const ofKind = (all: readonly Manifest[], kind: string) => all.find((manifest) => manifest.kind === kind);

/** The manifests have a config that can run. */
async function checkConfig(all: readonly Manifest[]): Promise<void> {
  const text = ofKind(all, "ConfigMap")?.data?.["signalbox.yaml"] ?? "";
  const { problems = [] } = await loadTexts([{ file: "signalbox.yaml", text }], builtIns);
  assert.deepEqual(problems.map(formatProblem), []);
}

describe("deployments in a cluster", { skip: SKIP }, () => {
  let server: KubernetesServer;
  const folder = mkdtempSync(join(tmpdir(), "signalbox-deploy-"));
  before(async () => {
    server = await kubernetes.get();
    await installKinds(server);
    await definePools(server);
  }, TIMEOUT);
  after(async () => {
    await kubernetes.release();
    rmSync(folder, { recursive: true });
  });

  it(
    "by kustomize are taken by the API server, and run as their service account with no more rights than they need",
    TIMEOUT,
    async () => {
      const { namespace, inferencePool, pod } = await makeCluster(server);
      const text = await kubectl(server, ["kustomize", "examples/deploy/gateway"]);
      await checkConfig(manifests(text));
      await kubectl(server, ["apply", "-n", namespace, "-k", "examples/deploy/gateway"]);

      const token = await kubectl(server, ["create", "token", "signalbox", "-n", namespace]);
      const kubeconfig = join(folder, "config");
      const config = {
        "current-context": "x",
        clusters: [{ name: "x", cluster: { server: server.address, "certificate-authority": server.files.ca } }],
        users: [{ name: "x", user: { token: token.trim() } }],
        contexts: [{ name: "x", context: { cluster: "x", user: "x", namespace } }],
      };
      writeFileSync(kubeconfig, JSON.stringify(config));
      await inferencePool("llama", { app: "vllm" }, [8000]);
      await pod("vllm-1", { app: "vllm" }, { ip: "127.0.0.77" });
      const router = await startRouterProcess([], {
        spec: `  kubernetes: { kubeconfig: ${kubeconfig}, inferencePool: llama, resources: true, router: main }`,
        hasAdmin: true,
      });
      after(async () => {
        router.kill("SIGTERM");
        await router.exited;
      });
      const good = rewriteOf(namespace, "good", { v1: 1 });
      const bad = rewriteOf(namespace, "bad", { v1: 1, v2: undefined });
      const main = {
        apiVersion: "signalbox.dev/v1",
        kind: "Router",
        metadata: { name: "main", namespace },
        spec: { responseHeaders: false },
      };
      await apply(server, good, bad, main);
      await eventually(async () => (await conditionOf(server, good))?.status === "True", "the status of a good one");
      await eventually(async () => (await conditionOf(server, bad))?.status === "False", "the status of a bad one");
      await eventually(
        async () => (await kubectl(server, ["get", "-n", namespace, "routers"])).includes("True"),
        "the Router's status",
      );
      await eventually(async () => (await kubectl(server, ["get", "-n", namespace, "events"])).includes("Rejected"), "an event");
      const status = await (await fetch(`http://127.0.0.1:${router.adminPort}/status`)).text();
      assert.match(status, /vllm-1/);
      assert.doesNotMatch(router.errors, /forbidden/i, "the Role allows all that the router asks for");

      const can = async (...words: readonly string[]) => {
        const as = `--as=system:serviceaccount:${namespace}:signalbox`;
        return (await kubectl(server, ["auth", "can-i", ...words, "-n", namespace, as]).catch(() => "no")).trim();
      };
      assert.equal(await can("list", "pods"), "yes");
      assert.deepEqual(
        await Promise.all([
          can("list", "secrets"),
          can("update", "routers.signalbox.dev"),
          can("delete", "pods"),
          can("get", "configmaps"),
        ]),
        ["no", "no", "no", "no"],
      );
    },
  );

  it("by Helm are the same: config, Role and pods", { ...TIMEOUT, skip: NO_HELM || false }, async () => {
    await kubectl(server, ["create", "namespace", "chart"]);
    const rendered = helm("template", "signalbox", "examples/deploy/chart", "--namespace", "chart");
    await kubectl(server, ["apply", "-n", "chart", "-f", "-"], [rendered]);
    const ofChart = manifests(rendered);
    await checkConfig(ofChart);
    const ofBase = manifests(await kubectl(server, ["kustomize", "examples/deploy/gateway"]));
    assert.deepEqual(ofChart.map(({ kind }) => kind).sort(), ofBase.map(({ kind }) => kind).sort());
    assert.deepEqual(ofKind(ofChart, "Role")?.rules, ofKind(ofBase, "Role")?.rules);
    const containers = (all: readonly Manifest[]) => {
      const { spec } = ofKind(all, "Deployment")!.spec!.template as {
        readonly spec: { readonly containers: readonly object[]; readonly securityContext: object };
      };
      return [spec.securityContext, spec.containers.map((container) => ({ ...container, imagePullPolicy: "IfNotPresent" }))];
    };
    assert.deepEqual(containers(ofChart), containers(ofBase));
    const monitored = helm("template", "x", "examples/deploy/chart", "--set", "serviceMonitor.enabled=true,router=main");
    assert.equal(ofKind(manifests(monitored), "ServiceMonitor")?.metadata.name, "x-signalbox");
    await checkConfig(manifests(monitored));
    const shared = '{"shared":{"secret":"env:SIGNALBOX_SHARED","kubernetes":{}}}';
    const sharing = helm(
      "template",
      "x",
      "examples/deploy/chart",
      "--set-json",
      `spec=${shared}`,
      "--set-json",
      'env=[{"name":"A"}]',
    );
    assert.match(sharing, /resources: \[configmaps\]/);
    assert.match(sharing, /env:\n +- name: A\n +- \{ name: POD_NAME, /);
    assert.doesNotMatch(rendered, /\[configmaps\]|POD_NAME/);
    const wrong = () => helm("template", "x", "examples/deploy/chart", "--set", "spec.listen.port=1");
    assert.throws(wrong, /values don't meet the specifications|spec/);
  });
});
