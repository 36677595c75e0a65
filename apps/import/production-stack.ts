import { type Flag, flag, flags, toggle } from "./command-line.ts";
import { changed, leftOut, noMeaning, notUnderstood } from "./finding.ts";
import { flagSource } from "./flag-source.ts";
import { needSelector, takeNamespace, takePodPort, takeSelector } from "./router-flags.ts";
import {
  DEFAULT_PROFILE,
  LOGS,
  OTLP,
  PAIRS,
  RETRIES,
  type Take,
  takeChoice,
  takeHost,
  takePort,
  takeProfile,
  takeReplicas,
  takeSessions,
} from "./taking.ts";

const OFFLINE = "batches and files are no matter of this router";

const parts = (value: unknown) =>
  String(value)
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");

export const takeBackends: Take = (given, draft) => takeReplicas(given, parts(given.value), draft);

const takeAliases: Take = ({ value }, draft) => {
  const pairs = parts(value).map((part) => part.split(/:(.*)/s, 2));
  if (pairs.length === 0 || !pairs.every(([alias, model]) => alias && model)) return notUnderstood("ALIAS:MODEL is wanted");
  for (const [alias, model] of pairs) draft.addAlias(alias!, model!);
  return ["taken over", "an InferenceModelRewrite"];
};

export const takeLogic = takeChoice({
  roundrobin: takeProfile(["round-robin"]),
  session: takeSessions,
  prefixaware: changed(DEFAULT_PROFILE),
  kvaware: changed(
    `${DEFAULT_PROFILE}; it knows what it sent, what replicas report, and with spec.kvEvents what engines publish (docs/kv-events.md)`,
  ),
  priority: leftOut("write spec.admission for requests with priorities (docs/admission.md)"),
  disaggregated_prefill: leftOut(PAIRS),
  disaggregated_prefill_orchestrated: leftOut(PAIRS),
});

export const SESSION_KEY = changed(
  "with --routing-logic session, clients send back the x-session-token of a response instead of this header",
);
export const INTERVAL = noMeaning("replicas' metrics are read each second while they have requests");
export const LMCACHE = noMeaning(
  "caches are known from what was sent and what replicas report; no controller is asked; spec.kvEvents follows what engines publish (docs/kv-events.md)",
);

export const takeDiscovery: Take = takeChoice({
  static: noMeaning("replicas are listed in spec.pool.endpoints"),
  k8s: changed("spec.kubernetes"),
});

/** The switches of its router, which its chart passes too. */
export const PRODUCTION_STACK_FLAGS: Readonly<Record<string, Flag>> = {
  "--host": flag(takeHost),
  "--port": flag(takePort),
  "--service-discovery": flag(takeDiscovery),
  "--k8s-service-discovery-type": flag(
    takeChoice({
      "pod-ip": noMeaning("pods are asked directly"),
      "service-name": leftOut("write spec.kubernetes.service for replicas behind a Service"),
    }),
  ),
  "--static-backends": flag(takeBackends),
  ...flags(
    ["--static-models", "--static-model-types", "--static-model-labels"],
    flag(noMeaning("each replica is asked which models it has (/v1/models)")),
  ),
  "--static-aliases": flag(takeAliases),
  "--static-backend-health-checks": toggle(changed("spec.pool.probes: /health and /v1/models, without a prompt")),
  "--backend-health-check-timeout-seconds": flag(noMeaning("probes have a time of their own: spec.pool.probes")),
  "--k8s-port": flag(takePodPort),
  "--k8s-namespace": flag(takeNamespace),
  "--k8s-label-selector": flag(takeSelector),
  "--k8s-watcher-timeout-seconds": flag(noMeaning("a watch that hangs is found by itself")),
  "--routing-logic": flag(takeLogic),
  "--session-key": flag(SESSION_KEY),
  "--prefix-min-match-length": flag(noMeaning("cached tokens are weighed against work, without a least length")),
  "--callbacks": flag(leftOut("write a plugin: signalbox new observer NAME")),
  "--request-rewriter": flag(noMeaning("it changes nothing there")),
  "--enable-batch-api": toggle(leftOut(OFFLINE)),
  ...flags(["--file-storage-class", "--file-storage-path", "--batch-processor"], flag(leftOut(OFFLINE))),
  ...flags(["--engine-stats-interval", "--request-stats-window", "--log-stats-interval"], flag(INTERVAL)),
  "--log-stats": toggle(noMeaning("figures are in /metrics and /status")),
  ...flags(
    ["--dynamic-config-yaml", "--dynamic-config-json"],
    flag(leftOut("the config file itself is watched here: import what that file says with its switches")),
  ),
  "--version": toggle(noMeaning("it only prints")),
  "--feature-gates": flag(leftOut("a semantic cache or PII checks are no matter of this router")),
  ...flags(
    ["--semantic-cache-model", "--semantic-cache-dir", "--semantic-cache-threshold"],
    flag(leftOut("responses are not cached here")),
  ),
  ...flags(["--log-level", "--log-format"], flag(LOGS)),
  ...flags(
    ["--sentry-dsn", "--sentry-traces-sample-rate", "--sentry-profile-session-sample-rate"],
    flag(leftOut("errors are in the log; traces come from the plugin otel-traces")),
  ),
  ...flags(["--otel-endpoint", "--otel-service-name"], flag(OTLP)),
  "--otel-secure": toggle(leftOut("list the plugin otel-traces")),
  ...flags(["--prefill-model-labels", "--decode-model-labels"], flag(leftOut(PAIRS))),
  ...flags(
    ["--kv-aware-threshold", "--lmcache-controller-port", "--lmcache-health-check-interval", "--lmcache-worker-timeout"],
    flag(LMCACHE),
  ),
  "--max-instance-failover-reroute-attempts": flag(changed(`spec.limits.retries is 2: ${RETRIES}`)),
};

/** The router of vLLM's production stack. */
export const productionStack = flagSource({
  kind: "production-stack",
  title: "production-stack's router",
  isCommand: (words) => words.some((word) => /^--(routing-logic|static-backends|k8s-label-selector)\b/.test(word)),
  usual: { host: "0.0.0.0", port: 8001 },
  table: PRODUCTION_STACK_FLAGS,
  finish: needSelector,
});
