/** Autoscalers' objects, and the metric that they ask for, with a real API server. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { exampleText } from "../examples/example-files.ts";
import { certificateFolder, makeAuthority } from "../support/certificates.ts";
import { defineLoosely } from "../support/cluster-pods.ts";
import { apply, eventually, kubectl } from "../support/cluster-resources.ts";
import { type KubernetesServer, NO_KUBERNETES, sharedKubernetes } from "../support/kubernetes-server.ts";
import { waitUntil } from "../support/router.ts";
import { startRouterProcess } from "../support/router-process.ts";

const TIMEOUT = { timeout: 120_000 };
const SKIP = NO_KUBERNETES || false;
const kubernetes = sharedKubernetes(SKIP);
const METRIC = "/apis/external.metrics.k8s.io/v1beta1/namespaces/default/signalbox-wanted-replicas";

describe("autoscalers in a cluster", { skip: SKIP }, () => {
  let server: KubernetesServer;
  before(async () => {
    server = await kubernetes.get();
  }, TIMEOUT);
  after(() => kubernetes.release());

  it("have objects that the API server takes", TIMEOUT, async () => {
    await defineLoosely(server, "keda.sh", "v1alpha1", "ScaledObject", "scaledobjects");
    const text = exampleText("deploy/autoscale.yaml");
    const told = await kubectl(server, ["apply", "-f", "-"], [text]);
    for (const made of [
      "service/signalbox-admin",
      "apiservice.apiregistration.k8s.io",
      "horizontalpodautoscaler",
      "scaledobject",
    ])
      assert.match(told, new RegExp(`${made}.* created`));
    await kubectl(server, ["delete", "-f", "-"], [text]);
  });

  it("read how many replicas are wanted through the API server", TIMEOUT, async () => {
    const folder = certificateFolder();
    folder.write("admin", makeAuthority("admin.test").issue({ names: ["localhost"] }));
    const router = await startRouterProcess(["http://127.0.0.1:9"], {
      spec: "  pool: { name: llama }\n  scale: {}\n",
      admin: `{ port: 0, tls: { certFile: ${folder.at("admin.crt")}, keyFile: ${folder.at("admin.key")} } }`,
    });
    after(async () => {
      router.kill("SIGTERM");
      await router.exited;
      folder.remove();
    });
    await waitUntil(() => router.printed.includes("Status page: https://"));
    const refused = await fetch(`http://127.0.0.1:${router.port}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"model":"m","messages":[]}',
    });
    await refused.text();
    await apply(
      server,
      {
        apiVersion: "v1",
        kind: "Service",
        metadata: { name: "router", namespace: "default" },
        spec: { type: "ExternalName", externalName: "localhost" },
      },
      {
        apiVersion: "apiregistration.k8s.io/v1",
        kind: "APIService",
        metadata: { name: "v1beta1.external.metrics.k8s.io" },
        spec: {
          ...{ group: "external.metrics.k8s.io", version: "v1beta1", groupPriorityMinimum: 100, versionPriority: 100 },
          ...{ service: { name: "router", namespace: "default", port: router.adminPort }, insecureSkipTLSVerify: true },
        },
      },
    );
    const read = (query: string) => kubectl(server, ["get", "--raw", METRIC + query]).catch(() => undefined);
    const text = await eventually(() => read("?labelSelector=pool%3Dllama"), "the metric through the API server");
    const { kind, items } = JSON.parse(text);
    assert.deepEqual(
      [kind, items.length, items[0].value, items[0].metricLabels],
      ["ExternalMetricValueList", 1, "1", { pool: "llama" }],
    );
    assert.match(await kubectl(server, ["get", "apiservice", "v1beta1.external.metrics.k8s.io"]), /True/);
    assert.match(await kubectl(server, ["api-resources"]).catch((thrown: Error) => thrown.message), /signalbox-wanted-replicas/);
    await kubectl(server, ["delete", "apiservice", "v1beta1.external.metrics.k8s.io"]);
    await kubectl(server, ["delete", "service", "router"]);
  });
});
