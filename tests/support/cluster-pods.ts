import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { KubernetesError } from "../../apps/kubernetes/kubernetes-error.ts";
import { type KubernetesServer, oncePerServer } from "./kubernetes-server.ts";
import { sharedPath } from "./shared.ts";

/** What a pod is at one moment. */
interface PodState {
  readonly ip?: string;
  readonly phase?: string;
  readonly ready?: boolean;
}

/** A namespace of a real API server, in which the test writes what people, controllers and kubelets would. */
export interface Cluster {
  readonly namespace: string;
  /** Creates a pod that runs at this address. */
  pod(
    name: string,
    labels: Readonly<Record<string, string>>,
    state: PodState,
    annotations?: Readonly<Record<string, string>>,
  ): Promise<void>;
  setPod(name: string, state: PodState): Promise<void>;
  label(name: string, labels: Readonly<Record<string, string | null>>): Promise<void>;
  /** Deletes it as people do: it terminates until `endPod`. */
  deletePod(name: string): Promise<void>;
  /** Its containers have ended, so it is gone. */
  endPod(name: string): Promise<void>;
  /** Creates or changes an InferencePool of the newer API. */
  inferencePool(name: string, labels: Readonly<Record<string, string>>, ports: readonly number[]): Promise<void>;
  /** The endpoints that a Service's controller would write. */
  slice(name: string, service: string, slice: object): Promise<void>;
  request: KubernetesServer["admin"]["request"];
}

let namespaces = 0;

export async function makeCluster({ admin }: KubernetesServer): Promise<Cluster> {
  const namespace = `test-${process.pid}-${++namespaces}`;
  const request = admin.request.bind(admin);
  await request("POST", "/api/v1/namespaces", { body: { metadata: { name: namespace } } });
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  const mergePatch = (path: string, body: object) =>
    request("PATCH", path, { body, contentType: "application/merge-patch+json" }).then(() => {});
  const put = async (list: string, name: string, body: object) => {
    try {
      await request("POST", list, { body: { metadata: { name }, ...body } });
    } catch (thrown) {
      if (!(thrown instanceof KubernetesError) || thrown.status !== 409) throw thrown;
      await mergePatch(`${list}/${name}`, body);
    }
  };
  const setPod = (name: string, state: PodState) => mergePatch(`${pods}/${name}/status`, { status: statusOf(state) });
  return {
    namespace,
    request,
    async pod(name, labels, state, annotations = {}) {
      const spec = { nodeName: "node", containers: [{ name: "vllm", image: "vllm" }], terminationGracePeriodSeconds: 600 };
      await request("POST", pods, { body: { metadata: { name, labels, annotations }, spec } });
      await setPod(name, { phase: "Running", ready: true, ...state });
    },
    setPod,
    label: (name, labels) => mergePatch(`${pods}/${name}`, { metadata: { labels } }),
    deletePod: (name) => request("DELETE", `${pods}/${name}`).then(() => {}),
    endPod: (name) => request("DELETE", `${pods}/${name}?gracePeriodSeconds=0`).then(() => {}),
    inferencePool: (name, labels, ports) =>
      put(`/apis/inference.networking.k8s.io/v1/namespaces/${namespace}/inferencepools`, name, {
        apiVersion: "inference.networking.k8s.io/v1",
        kind: "InferencePool",
        spec: {
          selector: { matchLabels: labels },
          targetPorts: ports.map((number) => ({ number })),
          endpointPickerRef: { name: "unused", port: { number: 9002 } },
        },
      }),
    slice: (name, service, slice) =>
      put(`/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`, name, {
        metadata: { name, labels: { "kubernetes.io/service-name": service } },
        ...slice,
      }),
  };
}

function statusOf({ ip, phase, ready }: PodState) {
  return {
    ...(phase !== undefined && { phase }),
    ...(ip !== undefined && { podIP: ip, podIPs: [{ ip }] }),
    ...(ready !== undefined && { conditions: [{ type: "Ready", status: ready ? "True" : "False" }] }),
  };
}

/**
 * Adds the APIs of InferencePools, once to a server: the newer one as its project defines it, where that is beside the checkout; the
 * older one loosely.
 */
export const definePools = oncePerServer(async ({ admin }) => {
  const path = sharedPath("corpora/crds/inference.networking.k8s.io_inferencepools.yaml");
  const newer =
    path === undefined
      ? looseDefinition("inference.networking.k8s.io", "v1", "InferencePool", "inferencepools")
      : parse(readFileSync(path, "utf8"));
  for (const body of [newer, looseDefinition("inference.networking.x-k8s.io", "v1alpha2", "InferencePool", "inferencepools")])
    await admin.request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", { body });
  for (const api of ["inference.networking.k8s.io/v1", "inference.networking.x-k8s.io/v1alpha2"])
    await served(admin, `${api}/inferencepools`);
});

/** Adds a kind of which anything is taken. */
export async function defineLoosely(
  { admin }: KubernetesServer,
  group: string,
  version: string,
  kind: string,
  plural: string,
): Promise<void> {
  const body = looseDefinition(group, version, kind, plural);
  await admin.request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", { body });
  await served(admin, `${group}/${version}/${plural}`);
}

function looseDefinition(group: string, version: string, kind: string, plural: string) {
  const names = { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase() };
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}`, annotations: { "api-approved.kubernetes.io": "unapproved, test" } },
    spec: { group, names, scope: "Namespaced", versions: [{ name: version, served: true, storage: true, schema }] },
  };
}

/** A definition takes effect some time after it is written. */
async function served(admin: KubernetesServer["admin"], list: string): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      await admin.request("GET", `/apis/${list}`);
      return;
    } catch (thrown) {
      if (tries === 100) throw thrown;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
