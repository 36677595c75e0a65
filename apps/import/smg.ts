import { flag, flags, list, toggle } from "./command-line.ts";
import { changed, leftOut, noMeaning, notUnderstood } from "./finding.ts";
import { flagSource, isProgram } from "./flag-source.ts";
import { needSelector, SHARED_FLAGS } from "./router-flags.ts";
import { OTLP, type Take, takeNumber } from "./taking.ts";

const OUT_OF_SCOPE = "tools and what stores them are no matter of this router";
const CONVERSATIONS = "spec.conversations holds conversations in memory, without a database (docs/conversations.md)";
const NO_TOKENS = "prompts are not tokenized or parsed here: replicas do that";
const SHARED = "several routers tell each other by a store that they share: write spec.shared (docs/several-routers.md)";
const BY_POLICY = "the default profile measures what it needs";

const takeAlias: Take = ({ words }, draft) => {
  const pairs = words.map((word) => word.split(/=(.*)/s, 2));
  if (!pairs.every(([alias, model]) => alias && model)) return notUnderstood("ALIAS=MODEL is wanted");
  for (const [alias, model] of pairs) draft.addAlias(alias!, model!);
  return ["taken over", "an InferenceModelRewrite"];
};

/** Shepherd Model Gateway, once sglang-router and sgl-model-gateway. */
export const smg = flagSource({
  kind: "smg",
  title: "SMG",
  isCommand: (words) => isProgram(words, /^(smg|amg|sglang[-_]router|sgl[-_]router|sgl-model-gateway)/),
  usual: { host: "0.0.0.0", port: 30_000 },
  finish: needSelector,
  table: {
    ...SHARED_FLAGS,
    "--model-alias": list(takeAlias),
    "--shutdown-grace-period-secs": flag(takeNumber({ path: "limits.drainTimeoutMs", scale: 1000, min: 0, max: 2 ** 31 - 1 })),
    "--health-check-port": flag(changed("/health and /ready are at the router's own port, and at the admin port")),
    ...flags(
      ["--disable-health-check"],
      toggle(leftOut("replicas are always probed: without that nobody knows which models they have")),
    ),
    "--remove-unhealthy-workers": toggle(noMeaning("a replica that fails stays listed, and returns by itself")),
    ...flags(
      ["--tls-cert-path", "--tls-key-path"],
      flag(leftOut("write listen: { tls: { certFile: …, keyFile: … } } (docs/tls.md)")),
    ),
    ...flags(
      ["--client-cert-path", "--client-key-path"],
      flag(leftOut("write pool: { tls: { certFile: …, keyFile: … } } (docs/tls.md)")),
    ),
    "--ca-cert-paths": list(leftOut("write pool: { tls: { caFile: … } } (docs/tls.md)")),
    "--enable-trace": toggle(leftOut("list the plugin otel-traces, as in examples/observability/tracing.yaml")),
    "--otlp-traces-endpoint": flag(OTLP),
    ...flags(
      ["--control-plane-api-keys", "--jwt-role-mapping"],
      list(leftOut("write admin: { tokens: … } for operators, and auth for clients (docs/keys.md)")),
    ),
    ...flags(
      ["--jwt-issuer", "--jwt-audience", "--jwt-jwks-uri"],
      flag(leftOut("write auth with the plugin jwt (docs/keys.md); it is for clients, spec.admin.tokens for operators")),
    ),
    "--control-plane-audit-enabled": toggle(noMeaning("each change through the admin API is logged with who made it")),
    "--upstream-pool-idle-timeout-secs": flag(
      takeNumber({ path: "limits.upstreamIdleTimeoutMs", scale: 1000, min: 1, max: 2 ** 31 - 1 }),
    ),
    "--upstream-http2": toggle(leftOut("replicas are spoken to in HTTP/1.1")),
    ...flags(
      ["--stream-request-bodies-over", "--stream-body-stall-timeout-secs"],
      flag(noMeaning("a body is complete before a replica is chosen")),
    ),
    ...flags(["--log-json"], toggle(noMeaning("logs are JSON where the output is no terminal"))),
    ...flags(["--router-selector", "--mesh-peer-urls"], list(leftOut(SHARED))),
    ...flags(["--enable-mesh"], toggle(leftOut(SHARED))),
    ...flags(["--mesh-server-name", "--mesh-host", "--mesh-advertise-host", "--mesh-port"], flag(leftOut(SHARED))),
    ...flags(
      [
        "--load-monitor-interval",
        "--balance-token-usage-threshold",
        "--overload-token-usage-threshold",
        "--least-load-kv-pressure-weight",
        "--least-load-default-throughput",
        "--least-load-mean-prefill-tokens",
        "--least-load-max-waiting-requests",
        "--prefix-token-count",
        "--prefix-hash-load-factor",
        "--prefix-hash-balance-abs-threshold",
        "--overlap-decay",
        "--selection-temperature",
        "--bucket-adjust-interval-secs",
        "--max-idle-secs",
        "--assignment-mode",
        "--redis-key-prefix",
      ],
      flag(noMeaning(BY_POLICY)),
    ),
    "--routing-key-override": toggle(noMeaning(BY_POLICY)),
    ...flags(
      [
        "--model-path",
        "--tokenizer-path",
        "--chat-template",
        "--reasoning-parser",
        "--tool-call-parser",
        "--tokenizer-cache-l0-max-entries",
        "--tokenizer-cache-l1-max-memory",
        "--multimodal-tensor-transport",
        "--multimodal-shm-min-bytes",
      ],
      flag(noMeaning(NO_TOKENS)),
    ),
    ...flags(
      ["--disable-tokenizer-autoload", "--tokenizer-cache-enable-l0", "--tokenizer-cache-enable-l1"],
      toggle(noMeaning(NO_TOKENS)),
    ),
    ...flags(
      [
        "--history-backend",
        "--schema-config",
        "--oracle-wallet-path",
        "--oracle-tns-alias",
        "--oracle-connect-descriptor",
        "--oracle-username",
        "--oracle-password",
        "--oracle-pool-min",
        "--oracle-pool-max",
        "--oracle-pool-timeout-secs",
        "--postgres-db-url",
        "--postgres-pool-max",
        "--redis-url",
        "--redis-pool-max",
        "--redis-retention-days",
      ],
      flag(leftOut(CONVERSATIONS)),
    ),
    "--oracle-external-auth": toggle(leftOut(CONVERSATIONS)),
    ...flags(["--mcp-config-path", "--storage-hook-wasm-path"], flag(leftOut(OUT_OF_SCOPE))),
    "--enable-wasm": toggle(leftOut(OUT_OF_SCOPE)),
    "--storage-context-headers": list(leftOut(OUT_OF_SCOPE)),
    ...flags(["--bootstrap-port-annotation", "--worker-ports-annotation"], flag(leftOut("write spec.kubernetes.ports"))),
    "--model-id-from": flag(noMeaning("a replica's models are those that it lists")),
    ...flags(["--backend", "--zmq-engine-count"], flag(noMeaning("replicas are spoken to over HTTP, whichever engine they are"))),
    "--router-disable-arg-fallback": toggle(noMeaning("there is no engine to start")),
  },
});
