import { isMapping } from "../../config/read/problems.ts";
import { takeFlags } from "./command-line.ts";
import { type KeyTable, keys, mappingAt, takeKeys } from "./data.ts";
import type { Draft } from "./draft.ts";
import { changed, leftOut, noMeaning, notUnderstood } from "./finding.ts";
import {
  INTERVAL,
  LMCACHE,
  PRODUCTION_STACK_FLAGS,
  SESSION_KEY,
  takeBackends,
  takeDiscovery,
  takeLogic,
} from "./production-stack.ts";
import { needSelector, podPorts, takePodPort } from "./router-flags.ts";
import type { Source } from "./source.ts";
import { keyInVariable, OTLP, PAIRS, secretLeftOut, type Take, takePort } from "./taking.ts";
import { onlyDocument } from "./yaml-source.ts";

const ENGINE = noMeaning("how Kubernetes runs the engines is the chart's matter: leave that as it is");
const ROUTER_POD = noMeaning("how Kubernetes runs the router: examples/deploy has a manifest, examples/gateway a chart");
const MODELS = noMeaning("a replica says itself which models it has (/v1/models)");
const CHART = noMeaning("it is a part of the chart of its own");
const ADAPTERS = leftOut(
  "its controller loads adapters; here replicas are asked to: signalbox adapters load NAME, or on the first request (docs/reference.md)",
);

/** What the chart gives pods where the values say nothing. */
const USUAL_LABELS: Readonly<Record<string, unknown>> = { environment: "test", release: "test" };
const API_KEY = "VLLM_API_KEY";

const takeLabels: Take = ({ name, line, value }, draft) => {
  if (!isMapping(value)) return notUnderstood("labels are wanted");
  if (draft.spec["kubernetes"] === undefined) return ["no meaning here", "replicas are listed, not found by labels"];
  const labels: Readonly<Record<string, unknown>> = { ...USUAL_LABELS, ...value };
  const odd = Object.keys(labels).filter((key) => !isLabelValue(labels[key]));
  for (const key of odd) draft.find(`${name}.${key}`, line, notUnderstood("a label's value is wanted"));
  const selector = Object.fromEntries(Object.entries(labels).filter(([key]) => !odd.includes(key)));
  draft.set("kubernetes.selector", selector, name);
  return ["taken over", "spec.kubernetes.selector"];
};

const isLabelValue = (value: unknown) => typeof value === "string" && /^[\w.-]*$/.test(value);

/** A key of replicas: by the variable that the chart gives its pods. */
const takeKey: Take = ({ name, value }, draft) => {
  if (typeof value === "string") return secretLeftOut(`pool: { auth: { bearer: env:${API_KEY} } }`);
  if (Object.values(value as object).every((each) => each === "")) return ["no meaning here", "it names no key"];
  const bearer = keyInVariable(API_KEY);
  if (bearer === undefined)
    return ["left out", `give the router the key as ${API_KEY}, and write pool: { auth: { bearer: env:${API_KEY} } }`];
  draft.set("pool.auth", bearer, name);
  return ["taken over", "spec.pool.auth"];
};

const takeArgs: Take = ({ value, line }, draft) => {
  if (!Array.isArray(value)) return notUnderstood("a list is wanted");
  takeFlags(
    value.map((word) => ({ text: String(word), line })),
    PRODUCTION_STACK_FLAGS,
    draft,
  );
  return ["taken over", "each switch for itself"];
};

const MODEL_KEYS =
  "enabled annotations podAnnotations labels podLabels serviceAccountName priorityClassName runtimeClassName repository tag imagePullPolicy imagePullSecret modelRevision replicaCount resources requestCPU requestMemory requestGPU requestGPUType requestGPUMem requestGPUMemPercentage requestGPUCores limitCPU limitMemory limitGPUMem limitGPUMemPercentage limitGPUCores pvcStorage pvcAccessMode storageClass pvcMatchLabels pvcLabels pvcAnnotations extraVolumes extraVolumeMounts initContainer vllmConfig hf_token envFromSecret env affinity nodeSelectorTerms nodeName nodeSelector tolerations tolerationsPolicy shmSize serviceAnnotations keda raySpec chatTemplate chatTemplateConfigMap enableTool toolCallParser lmcacheConfig podSecurityContext containerSecurityContext securityContext startupProbe livenessProbe readinessProbe lifecycle terminationGracePeriodSeconds strategy sidecar extraContainers hostNetwork dnsPolicy containerPort servicePort";
const ENGINE_KEYS =
  "enableEngine serviceMonitor extraPorts servicePort configs strategy startupProbe livenessProbe readinessProbe maxUnavailablePodDisruptionBudget tolerations runtimeClassName schedulerName securityContext containerSecurityContext podSecurityContext sidecar priorityClassName imagePullPolicy imagePullSecrets affinity nodeSelectorTerms annotations serviceAccountName pdb extraVolumes extraVolumeMounts env";
const ROUTER_KEYS =
  "enableRouter repository tag imagePullPolicy imagePullSecrets serviceAccountName hf_token securityContext containerSecurityContext podSecurityContext extraVolumes extraVolumeMounts replicaCount env autoscaling pdb priorityClassName serviceType serviceAnnotations nodePort servicePort rootPath extraPorts strategy resources labels podAnnotations annotations ingress route affinity nodeSelectorTerms tolerations livenessProbe startupProbe readinessProbe serviceMonitor lifecycle terminationGracePeriodSeconds topologySpreadConstraints";

const VALUES: KeyTable = {
  ...keys("servingEngineSpec", ENGINE_KEYS, ENGINE),
  "servingEngineSpec.labels": takeLabels,
  "servingEngineSpec.containerPort": takePodPort,
  "servingEngineSpec.vllmApiKey": takeKey,
  ...keys("servingEngineSpec.modelSpec[]", MODEL_KEYS, ENGINE),
  ...keys("servingEngineSpec.modelSpec[]", "name modelURL modelType", MODELS),
  "servingEngineSpec.modelSpec[].enableLoRA": changed("adapters that a replica lists, or may load, are served under their names"),
  ...keys("routerSpec", ROUTER_KEYS, ROUTER_POD),
  "routerSpec.containerPort": takePort,
  "routerSpec.serviceDiscovery": takeDiscovery,
  "routerSpec.k8sServiceDiscoveryType": PRODUCTION_STACK_FLAGS["--k8s-service-discovery-type"]!.take,
  "routerSpec.staticBackends": takeBackends,
  "routerSpec.staticModels": MODELS,
  "routerSpec.routingLogic": takeLogic,
  "routerSpec.prefixMinMatchLength": PRODUCTION_STACK_FLAGS["--prefix-min-match-length"]!.take,
  "routerSpec.sessionKey": SESSION_KEY,
  "routerSpec.extraArgs": takeArgs,
  ...keys("routerSpec", "engineScrapeInterval requestStatsWindow", INTERVAL),
  ...keys("routerSpec", "lmcacheConfig lmcacheControllerPort lmcacheControllerReplyPort lmcacheControllerHeartbeatPort", LMCACHE),
  "routerSpec.enablePD": leftOut(PAIRS),
  "routerSpec.otel": OTLP,
  "routerSpec.vllmApiKey": takeKey,
  ...keys("", "loraAdapters loraController", ADAPTERS),
  ...keys(
    "",
    "cacheserverSpec sharedPvcStorage extraObjects grafanaDashboards kube-prometheus-stack prometheus-adapter nameOverride fullnameOverride global",
    CHART,
  ),
};

/** Helm values of vLLM's production stack. */
export const productionStackValues: Source = {
  kind: "production-stack-values",
  title: "production-stack's Helm values",
  recognises: ({ text }) => /^["']?(servingEngineSpec|routerSpec)["']?:/m.test(text),
  read(source, draft) {
    const document = onlyDocument(source, draft);
    draft.set("listen.host", "0.0.0.0", "the chart");
    draft.set("listen.port", 8000, "the chart's default");
    findPods(document.value, draft);
    takeKeys(document, VALUES, draft);
    needSelector(draft);
  },
};

/** The pods of the chart have its labels and those of servingEngineSpec, unless the router lists its backends. */
function findPods(values: unknown, draft: Draft): void {
  if ((mappingAt(values, "routerSpec")["serviceDiscovery"] ?? "k8s") !== "k8s") return;
  draft.set("kubernetes.selector", USUAL_LABELS, "the chart's labels");
  draft.set("kubernetes.ports", podPorts(8000), "the chart's port");
  draft.find("the release's namespace", 0, [
    "changed",
    "spec.kubernetes.namespace is that of the pod that the router runs in, unless it is written",
  ]);
  draft.find("the pods of servingEngineSpec", 0, ["taken over", "spec.kubernetes.selector and ports"]);
}
