import { type Flag, flag, flags, list, toggle } from "./command-line.ts";
import type { Draft } from "./draft.ts";
import { changed, leftOut, noMeaning, notUnderstood } from "./finding.ts";
import {
  DEFAULT_PROFILE,
  LOGS,
  numberOf,
  PAIRS,
  secretLeftOut,
  type Take,
  takeChoice,
  takeEjectionTime,
  takeFewestRequests,
  takeHost,
  takeNumber,
  takePort,
  takeProfile,
  takeReplicas,
  takeResponseTimeout,
  takeRetries,
  takeSessions,
} from "./taking.ts";

// The switches that vllm-router and SMG (sglang-router) share: both come from one program.

const TREE = "the router's prefix index has the size of each replica's cache, and weighs it against load";
const BREAKER = "spec.ejection: a replica whose responses fail leaves the pool within a few requests, and returns by a trial";
const RANKS = leftOut("write the ports of the ranks: endpoints: [{ url: http://gpu1, ports: [8000, 8001] }]");
const IN_PROBES = ["liveness", "readiness"] as const;

/** Replicas of pairs are listed as replicas that do both. */
const takePair: Take = ({ words }, draft) => {
  const [effect, why] = draft.addEndpoint(words[0] ?? "");
  return effect === "taken over" ? ["left out", `it is listed as a replica: ${PAIRS}`] : [effect, why];
};

const takeWorkers: Take = (given, draft) => {
  const addresses = given.words.flatMap((word) => word.split(",")).filter((word) => word !== "");
  return takeReplicas(given, addresses, draft);
};

const random = takeProfile(["random"]);
const byDefault = changed(DEFAULT_PROFILE);

const takePolicy = takeChoice({
  random,
  round_robin: takeProfile(["round-robin"]),
  power_of_two: takeProfile(["active-request", "power-of-two"]),
  cache_aware: byDefault,
  least_load: takeFewestRequests,
  prefix_hash: byDefault,
  consistent_hash: takeSessions,
  consistent_hashing: takeSessions,
  rendezvous_hash: takeSessions,
  sticky_round_robin: takeSessions,
  sticky_least_loaded: takeSessions,
  kv_aware: byDefault,
  manual: takeSessions,
  bucket: changed(`${DEFAULT_PROFILE}; prompts are not sorted by length`),
  passthrough: byDefault,
});

/** Labels of a selector; undefined where it is not made of them. */
function labelsOf(words: readonly string[]): Readonly<Record<string, string>> | undefined {
  const pairs = words.flatMap((word) => word.split(/[\s,]+/)).filter((word) => word !== "");
  const labels = pairs.map((pair) => pair.split(/=(.*)/s, 2));
  const isLabel = ([key = "", value]: readonly string[]) =>
    /^[\w./-]+$/.test(key) && value !== undefined && /^[\w.-]*$/.test(value);
  return pairs.length > 0 && labels.every(isLabel) ? Object.fromEntries(labels) : undefined;
}

export const takeSelector: Take = ({ name, words }, draft) => {
  const labels = labelsOf(words);
  if (labels === undefined) return notUnderstood("labels are wanted, such as app=vllm");
  draft.set("kubernetes.selector", labels, name);
  return ["taken over", "spec.kubernetes.selector"];
};

/** Where pods serve, whatever their role is. */
export const podPorts = (port: number) => ({ prefill: [port], decode: [port], standalone: [port] });

export const takePodPort: Take = ({ name, value }, draft) => {
  const port = numberOf(value);
  if (port === undefined || !Number.isInteger(port) || port < 1 || port > 65_535)
    return notUnderstood("a port from 1 to 65535 is wanted");
  draft.set("kubernetes.ports", podPorts(port), name);
  return ["taken over", "spec.kubernetes.ports"];
};

export const takeNamespace: Take = ({ name, value }, draft) => {
  if (!/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/.test(String(value))) return notUnderstood("a namespace's name is wanted");
  draft.set("kubernetes.namespace", value, name);
  return ["taken over", "spec.kubernetes.namespace"];
};

/** The same number in both probes. */
function takeProbes(key: string, min: number): Take {
  return (given, draft) => {
    const taken = IN_PROBES.map((probe) =>
      takeNumber({ path: `pool.probes.${probe}.${key}`, min, max: 2_000_000, isWhole: key !== "periodSeconds" })(given, draft),
    );
    return taken[0]![0] === "taken over" ? ["taken over", `spec.pool.probes, ${IN_PROBES.join(" and ")}`] : taken[0]!;
  };
}

const takeHealthPath: Take = ({ name, value }, draft) => {
  if (!/^\/[\w./-]*$/.test(String(value))) return notUnderstood("a path such as /health is wanted");
  draft.set("pool.probes.liveness.path", value, name);
  return ["changed", "spec.pool.probes.liveness.path; whether a replica can serve is asked of /v1/models as well"];
};

const takeOrigins: Take = ({ name, words }, draft) => {
  const isFit = words.length > 0 && words.every((word) => word === "*" || /^https?:\/\/[^/]+$/.test(word));
  if (!isFit) return notUnderstood("origins are wanted, such as https://chat.example");
  draft.set("listen.cors.origins", words, name);
  return ["taken over", "spec.listen.cors"];
};

const takeLimit: Take = ({ name, value }, draft) => {
  const number = numberOf(value);
  if (number === undefined) return notUnderstood("a number is wanted");
  if (number <= 0) return ["no meaning here", "there is no limit there, and none here"];
  draft.set("admission.waitsForReplicas", false, name);
  return ["changed", "spec.admission: requests wait while no replica has room, instead of one number for all of them"];
};

const noRetries: Take = ({ name }, draft) => {
  draft.fix("limits.retries", 0, name);
  return ["taken over", "spec.limits.retries: 0"];
};

const noEjection: Take = ({ name }, draft) => {
  draft.fix("ejection", false, name);
  return ["taken over", "spec.ejection: false"];
};

export const SHARED_FLAGS: Readonly<Record<string, Flag>> = {
  "--host": flag(takeHost),
  "--port": flag(takePort),
  "--worker-urls": list(takeWorkers),
  "--policy": flag(takePolicy),
  ...flags(["--prefill-policy", "--decode-policy", "--encode-policy"], flag(leftOut(PAIRS))),
  ...flags(["--mini-lb", "--pd-disaggregation", "--vllm-pd-disaggregation", "--epd-disaggregation"], toggle(leftOut(PAIRS))),
  "--prefill": list(takePair),
  "--decode": list(takePair),
  "--encode": list(leftOut("encoders are not separated here: replicas read images themselves")),
  ...flags(
    ["--prefill-selector", "--decode-selector", "--encode-selector"],
    list(leftOut(`${PAIRS}; put the labels that all replicas share into spec.kubernetes.selector`)),
  ),
  ...flags(
    ["--worker-startup-timeout-secs", "--worker-startup-check-interval", "--worker-startup-delay"],
    flag(noMeaning("a replica is asked for its models until it has them, and gets requests from then on")),
  ),
  ...flags(
    [
      "--cache-threshold",
      "--balance-abs-threshold",
      "--balance-rel-threshold",
      "--eviction-interval-secs",
      "--max-tree-size",
      "--block-size",
    ],
    flag(noMeaning(TREE)),
  ),
  "--max-payload-size": flag(takeNumber({ path: "limits.bodyBytes", min: 1, max: 1024 ** 3 })),
  "--intra-node-data-parallel-size": flag(RANKS),
  ...flags(["--dp-aware", "--dp-minimum-tokens-scheduler"], toggle(RANKS)),
  "--enable-igw": toggle(noMeaning("replicas may have different models here: each is asked for its list")),
  "--api-key": flag(() => secretLeftOut("pool: { auth: { bearer: env:NAME } }")),
  ...flags(["--log-dir", "--log-level"], flag(LOGS)),
  "--service-discovery": toggle(changed("spec.kubernetes, with the labels of the selector")),
  "--selector": list(takeSelector),
  "--service-discovery-port": flag(takePodPort),
  "--service-discovery-namespace": flag(takeNamespace),
  ...flags(
    ["--prometheus-port", "--prometheus-host"],
    flag(changed("metrics are at /metrics of the admin port, spec.admin (127.0.0.1:9090)")),
  ),
  "--prometheus-duration-buckets": list(noMeaning("buckets are fixed here")),
  "--request-id-headers": list(changed("x-request-id is read, and sent with each response")),
  "--request-timeout-secs": flag(takeResponseTimeout),
  "--retry-max-retries": flag(takeRetries),
  ...flags(
    ["--retry-initial-backoff-ms", "--retry-max-backoff-ms", "--retry-backoff-multiplier", "--retry-jitter-factor"],
    flag(noMeaning("a retry goes to another replica after spec.retries.backoffMs at most")),
  ),
  "--disable-retries": toggle(noRetries),
  ...flags(["--cb-failure-threshold", "--cb-success-threshold", "--cb-window-duration-secs"], flag(noMeaning(BREAKER))),
  "--cb-timeout-duration-secs": flag(takeEjectionTime),
  "--disable-circuit-breaker": toggle(noEjection),
  "--health-failure-threshold": flag(takeProbes("failureThreshold", 1)),
  "--health-success-threshold": flag(
    noMeaning("one probe that succeeds is enough; a replica that returns gets few requests at first"),
  ),
  "--health-check-timeout-secs": flag(takeProbes("timeoutSeconds", 0.001)),
  "--health-check-interval-secs": flag(takeProbes("periodSeconds", 0.001)),
  "--health-check-endpoint": flag(takeHealthPath),
  "--max-concurrent-requests": flag(takeLimit),
  "--queue-size": flag(
    takeNumber({ path: "admission.maxRequests", min: 1, max: 100_000, why: "requests wait while no replica has room" }),
  ),
  "--queue-timeout-secs": flag(
    takeNumber({
      path: "admission.maxWaitMs",
      scale: 1000,
      min: 1,
      max: 2 ** 31 - 1,
      why: "requests wait while no replica has room",
    }),
  ),
  "--rate-limit-tokens-per-second": flag(leftOut("rates are limited by key: spec.auth (docs/keys.md)")),
  "--cors-allowed-origins": list(takeOrigins),
};

/** Pods without a selector are none of anybody's. */
export function needSelector(draft: Draft): void {
  const kubernetes = draft.spec["kubernetes"] as { readonly selector?: unknown } | undefined;
  if (kubernetes === undefined || kubernetes.selector !== undefined) return;
  draft.remove("kubernetes", [
    "left out",
    "no labels say which pods are the replicas: write spec.kubernetes.selector if pods are to be found",
  ]);
  if (draft.endpoints.length === 0)
    draft.find(
      "the pods",
      0,
      notUnderstood(
        "no labels say which pods are the replicas: add them (--k8s-label-selector, --selector), or name the replicas' URLs",
      ),
    );
}
