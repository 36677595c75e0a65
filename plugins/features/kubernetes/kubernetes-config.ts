import { accessOptions, objectName } from "../../../apps/kubernetes/access-options.ts";
import type { CredentialChoice } from "../../../apps/kubernetes/credentials.ts";
import { besideFile } from "../../../config/read/files.ts";
import type { Path } from "../../../config/read/problems.ts";
import { orElse, section, writtenOf } from "../../../config/schema/section.ts";
import { whole } from "../../../config/schema/values.ts";
import type { ConfigAround, Section } from "../../../config/section.ts";
import { lineOfText, z } from "../../../core/contract/options.ts";
import { onOff, type ValuesOf } from "../../../core/settings/row.ts";
import { kubernetesDiscovery } from "./discovery.ts";
import { type ReplicaChoice, shownReplicas } from "./replica-choice.ts";

const KUBERNETES = {
  resources: onOff(false, "Whether the cluster's InferenceModelRewrites for this pool apply, beside those in files."),
};

/** What the router gets from a cluster. */
export interface KubernetesConfig extends ValuesOf<typeof KUBERNETES> {
  readonly credentials: CredentialChoice;
  /** Undefined for that of the context, or of the pod that the router runs in. */
  readonly namespace: string | undefined;
  /** Undefined if the replicas are found in another way. */
  readonly replicas: ReplicaChoice | undefined;
  /** The Router resource that is a part of the config. */
  readonly router: string | undefined;
}

/** What the documents of Kubernetes call a label's key and value. */
const LABEL_KEY = /^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?\/)?[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$/;
const LABEL_VALUE = /^([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?$/;

const portList = z
  .array(whole(1, 65_535))
  .min(1, "at least one port")
  .max(8, "at most 8 ports")
  .refine((ports) => new Set(ports).size === ports.length, "each port once");

const ports = section(
  {
    prefill: portList.describe("Ports of pods with the label llm-d.ai/role: prefill. Default [8000]."),
    decode: portList.describe("Ports of pods with the label llm-d.ai/role: decode. Default [8200]."),
    standalone: portList.describe("Ports of every other pod. Default those of the InferencePool, else [8000].").optional(),
  },
  { prefill: [8000], decode: [8200] },
);

const kubernetes = section({
  ...accessOptions,
  namespace: objectName.describe("Where the replicas are. Default the context's, or the pod's own.").optional(),
  inferencePool: objectName.describe("The InferencePool whose pods are the replicas; the pool is called like it.").optional(),
  selector: z
    .record(z.string(), z.string().regex(LABEL_VALUE, "a label's value"))
    .refine((labels) => Object.keys(labels).length > 0, "at least one label")
    .refine((labels) => Object.keys(labels).every((key) => LABEL_KEY.test(key)), "keys of labels, such as app or example.com/app")
    .describe("Labels of the pods that are the replicas, such as { app: vllm }.")
    .optional(),
  service: objectName.describe("The Service whose endpoints are the replicas; their labels are not known then.").optional(),
  servicePort: lineOfText.describe("The name of its port. Default its only one.").optional(),
  ports: orElse(ports.describe("Where pods serve the API; each port of a pod is a replica of its own."), ports.parse({})),
  ...KUBERNETES,
  router: objectName
    .describe("A Router resource (signalbox.dev/v1) that has the sections which this file does not have; with resources: true.")
    .optional(),
});

type Written = z.infer<typeof kubernetes> | undefined;
type Config = KubernetesConfig | undefined;

const AT = ["spec", "kubernetes"] as const;

/** `spec.kubernetes`. */
export const kubernetesSection = {
  key: "kubernetes",
  schema: kubernetes
    .describe("A cluster that says which replicas there are, and what rewrites. Default none.")
    .optional() as z.ZodType<Written>,
  read(written: Written, around): Config {
    if (written === undefined) return undefined;
    refuseContradictions(written, around);
    const { kubeconfig, context, namespace, resources, router } = written;
    const { file } = around.router.positionOf([...AT, "kubeconfig"]);
    const path = kubeconfig && besideFile(file, kubeconfig);
    return { credentials: { kubeconfig: path, context }, namespace, replicas: replicasOf(written), resources, router };
  },
  // Without any way the section itself is at fault, not the lack of endpoints.
  pool: (written) => (written && (hasWay(written) || !written.resources) ? { name: written.inferencePool } : undefined),
  instances(config) {
    if (config?.replicas === undefined) return [];
    const { credentials, namespace, replicas } = config;
    return [{ name: "replicas", definition: kubernetesDiscovery, parameters: { credentials, namespace, replicas } }];
  },
  cluster: (config) => (config?.resources ? config : undefined),
  written: (config) => config && writtenConfig(config),
  // Resources are followed from the start to the end; replicas are searched anew.
  fixed: (config) => (config?.resources ? { resources: true, ...followed(config) } : { resources: false }),
  changes: (before, after) => [
    after === undefined ? "kubernetes removed" : `kubernetes ${before === undefined ? "added" : "changed"}: ${summaryOf(after)}`,
  ],
  summary: (config) => config && [`cluster   ${summaryOf(config)}`, []],
} satisfies Section<Written, Config>;

/** Where the resources are. */
function followed({ credentials: { kubeconfig, context }, namespace, router }: KubernetesConfig) {
  return { router, namespace, kubeconfig, context };
}

const WAYS = ["inferencePool", "selector", "service"] as const;

const hasWay = (written: NonNullable<Written>) => WAYS.some((key) => written[key] !== undefined);

function refuseContradictions(written: NonNullable<Written>, { router: { report, wasCut } }: ConfigAround): void {
  const given = WAYS.filter((key) => written[key] !== undefined);
  const [first, second] = given;
  const at = (key: string): Path => [...AT, key];
  if (second !== undefined) report(at(second), { found: `${second} beside ${first}`, wanted: "one of them" }, "key");
  if (first === undefined && !written.resources && !wasCut(AT))
    report(AT, { found: "nothing that is wanted of the cluster", wanted: `one of: ${WAYS.join(", ")}, resources` }, "key");
  if (written.router !== undefined && !written.resources)
    report(at("router"), { found: "router without resources", wanted: "resources: true beside it" }, "key");
  if (written.servicePort !== undefined && written.service === undefined)
    report(
      at("servicePort"),
      { found: "servicePort without service", wanted: "ports, for replicas that are found as pods" },
      "key",
    );
}

function replicasOf({ inferencePool, selector, service, servicePort, ports }: NonNullable<Written>): ReplicaChoice | undefined {
  if (inferencePool !== undefined) return { by: "inferencePool", name: inferencePool, ports };
  if (selector !== undefined) return { by: "selector", labels: selector, ports };
  return service === undefined ? undefined : { by: "service", name: service, port: servicePort };
}

function writtenConfig({ credentials, namespace, replicas, resources, router }: KubernetesConfig) {
  return {
    ...credentials,
    namespace,
    ...(replicas && writtenReplicas(replicas)),
    ...writtenOf(KUBERNETES, { resources }),
    ...(router !== undefined && { router }),
  };
}

function writtenReplicas(replicas: ReplicaChoice) {
  switch (replicas.by) {
    case "inferencePool":
      return { inferencePool: replicas.name, ports: replicas.ports };
    case "selector":
      return { selector: replicas.labels, ports: replicas.ports };
    case "service":
      return { service: replicas.name, servicePort: replicas.port };
  }
}

function summaryOf({ namespace, replicas, resources }: KubernetesConfig): string {
  const where = namespace === undefined ? "" : ` in ${namespace}`;
  const found = replicas === undefined ? [] : [`replicas of ${shownReplicas(replicas)}${where}`];
  return [...found, ...(resources ? ["rewrites from its resources"] : [])].join(", ");
}
