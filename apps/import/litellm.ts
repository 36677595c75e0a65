import { isMapping } from "../../config/read/problems.ts";
import { type KeyTable, keys, takeKeys } from "./data.ts";
import type { Draft } from "./draft.ts";
import { changed, leftOut, noMeaning, notUnderstood } from "./finding.ts";
import { poolFallbacks, takeDefaultFallbacks, takeFallbacks } from "./litellm-fallbacks.ts";
import { PRICE, takeModels } from "./litellm-models.ts";
import type { Source } from "./source.ts";
import {
  DEFAULT_PROFILE,
  LOGS,
  type Take,
  takeChoice,
  takeEjectionTime,
  takeFewestRequests,
  takeNumber,
  takeResponseTimeout,
  takeRetries,
} from "./taking.ts";
import { onlyDocument } from "./yaml-source.ts";

const FALLBACK = leftOut(
  "a request goes on where a pool is full or out (spec.fallback), not for what an engine says of it: what it refuses, the client gets",
);
const CALLBACK = leftOut(
  "requests are in the access log, /metrics and traces (docs/observe.md); a plugin of your own may send them elsewhere",
);
const CACHE = leftOut("responses are not cached here; replicas cache prompts");
const KEYS = leftOut("who may ask, for which models and how much is in spec.auth: signalbox key new NAME (docs/keys.md)");
const STATE = noMeaning(
  "no database and no Redis is needed: counts are in memory; several routers share them by spec.shared (docs/several-routers.md)",
);
const BODIES = leftOut("bodies pass unchanged but for the model's name");
const PROVIDER = leftOut("providers' models are no matter of this router");

const takeAliases: Take = ({ value, line, name }, draft) => {
  if (!isMapping(value)) return notUnderstood("names and models are wanted");
  for (const [alias, to] of Object.entries(value)) {
    const model = isMapping(to) ? to["model"] : to;
    const others = isMapping(to) ? Object.keys(to).filter((key) => key !== "model") : [];
    for (const key of others)
      draft.find(`${name}.${alias}.${key}`, line, leftOut("a name is served, or it is not listed at all")());
    if (model === alias) draft.find(`${name}.${alias}`, line, ["no meaning here", "it is the model's own name"]);
    else if (typeof model === "string" && model !== "" && alias !== "") draft.standIns.set(alias, { model, line });
    else draft.find(`${name}.${alias}`, line, notUnderstood("the name of a model is wanted"));
  }
  return ["taken over", "an InferenceModelRewrite for each"];
};

/**
 * As in LiteLLM, an alias counts before the entries of model_list that have its name, and stands for entries of the model's name: never
 * for another alias.
 */
function useAliases(draft: Draft): void {
  const entries = new Map(draft.aliases);
  for (const [alias, { model, line }] of draft.standIns) {
    if (entries.has(alias))
      draft.find(`router_settings.model_group_alias.${alias}`, line, [
        "taken over",
        `the alias counts, as in LiteLLM: requests for ${alias} go to ${model}, and not to the entries of model_list with this name`,
      ]);
    draft.aliases.set(alias, entries.get(model) ?? new Map([[model, 1]]));
  }
}

const takeStrategy = takeChoice({
  "simple-shuffle": changed(`${DEFAULT_PROFILE}; weights between different models are kept`),
  "least-busy": takeFewestRequests,
  "latency-based-routing": changed(DEFAULT_PROFILE),
  "usage-based-routing": changed(DEFAULT_PROFILE),
  "usage-based-routing-v2": changed(DEFAULT_PROFILE),
  "cost-based-routing": changed(`${DEFAULT_PROFILE}; there is no price of a replica`),
});

const SETTINGS: KeyTable = {
  model_list: takeModels,
  ...keys("router_settings", "num_retries max_retries", takeRetries),
  ...keys("router_settings", "timeout stream_timeout", takeResponseTimeout),
  "router_settings.routing_strategy": takeStrategy,
  "router_settings.model_group_alias": takeAliases,
  "router_settings.cooldown_time": takeEjectionTime,
  ...keys(
    "router_settings",
    "allowed_fails allowed_fails_policy disable_cooldowns retry_policy model_group_retry_policy retry_after",
    noMeaning("spec.ejection: a replica whose responses fail leaves the pool within a few requests, and returns by a trial"),
  ),
  "router_settings.fallbacks": takeFallbacks,
  "router_settings.default_fallbacks": takeDefaultFallbacks,
  ...keys("router_settings", "context_window_fallbacks content_policy_fallbacks", FALLBACK),
  "router_settings.max_fallbacks": noMeaning("a request is in each pool of its list once"),
  ...keys(
    "router_settings",
    "redis_url redis_host redis_port redis_password redis_db cache_responses cache_kwargs caching_groups client_ttl polling_interval",
    STATE,
  ),
  ...keys(
    "router_settings",
    "routing_strategy_args routing_groups enable_pre_call_checks enable_pre_call_check optional_pre_call_checks enable_tag_filtering tag_filtering_match_any weights tag_routing_prefix deployment_affinity_ttl_seconds default_litellm_params default_max_parallel_requests default_priority model_group_affinity_config ignore_invalid_deployments",
    leftOut("the profile decides: spec.profiles (docs/plugins.md)"),
  ),
  ...keys("router_settings", "set_verbose debug_level", LOGS),
  ...keys(
    "router_settings",
    "assistants_config search_tools guardrail_list router_general_settings provider_budget_config alerting_config",
    leftOut("it is no matter of this router"),
  ),
  "litellm_settings.num_retries": takeRetries,
  "litellm_settings.request_timeout": takeResponseTimeout,
  "litellm_settings.fallbacks": takeFallbacks,
  "litellm_settings.default_fallbacks": takeDefaultFallbacks,
  ...keys("litellm_settings", "context_window_fallbacks content_policy_fallbacks", FALLBACK),
  ...keys(
    "litellm_settings",
    "callbacks success_callback failure_callback service_callbacks audit_log_callbacks langfuse_default_tags callback_settings turn_off_message_logging redact_user_api_key_info redact_messages_in_exceptions s3_callback_params prometheus_metrics_config",
    CALLBACK,
  ),
  ...keys("litellm_settings", "cache cache_params enable_caching_on_provider_specific_optional_params", CACHE),
  ...keys(
    "litellm_settings",
    "drop_params modify_params additional_drop_params add_function_to_prompt enable_json_schema_validation disable_add_transform_inline_image_block enable_preview_features",
    BODIES,
  ),
  ...keys(
    "litellm_settings",
    "set_verbose json_logs suppress_debug_info log_raw_request_response disable_end_user_cost_tracking enable_end_user_cost_tracking_prometheus_only",
    LOGS,
  ),
  ...keys(
    "litellm_settings",
    "max_budget budget_duration default_internal_user_params default_team_settings default_key_generate_params upperbound_key_generate_params max_internal_user_budget internal_user_budget_duration max_end_user_budget key_generation_settings",
    KEYS,
  ),
  ...keys(
    "litellm_settings",
    "cooldown_time allowed_fails",
    noMeaning("spec.ejection: a replica whose responses fail leaves the pool within a few requests"),
  ),
  ...keys(
    "litellm_settings",
    "ssl_verify ssl_certificate ssl_security_level force_ipv4",
    leftOut("TLS to replicas is in spec.pool.tls (docs/tls.md)"),
  ),
  ...keys(
    "litellm_settings",
    "api_base api_key vertex_project vertex_location guardrails public_model_groups mcp_aliases",
    PROVIDER,
  ),
  ...keys(
    "general_settings",
    "master_key litellm_key_header_name custom_auth custom_key_generate max_parallel_requests global_max_parallel_requests allow_requests_on_db_unavailable enable_jwt_auth litellm_jwtauth use_azure_key_vault use_google_kms key_management_system key_management_settings enforce_user_param allowed_routes public_routes admin_only_routes user_header_name user_header_mappings user_api_key_cache_ttl",
    KEYS,
  ),
  ...keys(
    "general_settings",
    "database_url database_connection_pool_limit database_connection_timeout proxy_batch_write_at store_model_in_db store_prompts_in_spend_logs disable_spend_logs disable_spend_updates disable_error_logs database_type database_args use_redis_transaction_buffer",
    STATE,
  ),
  ...keys(
    "general_settings",
    "alerting alert_types alert_to_webhook_url alerting_args alerting_threshold spend_report_frequency",
    leftOut("alert rules are in examples/observability/rules.yml"),
  ),
  ...keys(
    "general_settings",
    "background_health_checks health_check_interval health_check_details disable_reset_budget",
    changed("spec.pool.probes: replicas are always probed, without a prompt"),
  ),
  ...keys(
    "general_settings",
    "completion_model disable_master_key_return ui_access_mode proxy_budget_rescheduler_min_time proxy_budget_rescheduler_max_time pass_through_endpoints forward_client_headers_to_llm_api forward_openai_org_id infer_model_from_keys max_response_size_mb service_account_settings image_generation_model",
    leftOut("it is no matter of this router, or works in another way (docs/reference.md)"),
  ),
  "general_settings.max_request_size_mb": takeNumber({ path: "limits.bodyBytes", scale: 1024 ** 2, min: 1, max: 1024 ** 3 }),
  environment_variables: noMeaning("give the program its environment where it is started; values are not repeated here"),
  ...keys(
    "",
    "callback_settings mcp_servers mcp_tools guardrails prompts vector_store_registry credential_list files_settings finetune_settings assistant_settings agent_list search_tools",
    PROVIDER,
  ),
  include: leftOut("import the files that it names, one by one"),
  ...keys("router_settings", "cost_per_token", noMeaning(PRICE)),
};

/** The proxy of LiteLLM. */
export const litellm: Source = {
  kind: "litellm",
  title: "LiteLLM's config",
  recognises: ({ text }) => /^["']?(model_list|litellm_settings|router_settings)["']?:/m.test(text),
  read(source, draft) {
    draft.set("listen.host", "0.0.0.0", "LiteLLM's default");
    draft.set("listen.port", 4000, "LiteLLM's default");
    takeKeys(onlyDocument(source, draft), SETTINGS, draft);
    useAliases(draft);
    if (draft.fallbacks.length > 0) poolFallbacks(draft);
  },
};
