/** How the workers' values of a gauge become one. A gauge that is in neither list is the same at all of them, or the largest counts. */
const SUMMED: ReadonlySet<string> = new Set([
  "signalbox_endpoint_connections",
  "signalbox_prefix_index_bytes",
  "signalbox_body_bytes",
  "signalbox_unread_bytes",
  "signalbox_memory_limit_bytes",
  "process_resident_memory_bytes",
  "signalbox_heap_used_bytes",
  "signalbox_heap_bytes",
  "process_open_fds",
  "process_max_fds",
  "signalbox_conversation_turns",
  "signalbox_conversation_bytes",
  "signalbox_key_in_flight",
  "signalbox_stored_bytes",
  "signalbox_wanted_replicas",
  "signalbox_scale_work_replicas",
  "signalbox_scale_under_way_requests",
  "signalbox_scale_waiting_requests",
  "signalbox_wanted_replicas_of_model",
  "signalbox_scale_under_way_requests_of_model",
  "signalbox_session_turns_waiting",
  "signalbox_admission_waiting",
  "signalbox_admission_waiting_bytes",
  "signalbox_mirror_in_flight",
  "signalbox_websocket_connections",
]);

/** All is well only where it is at each of them. */
const LEAST: ReadonlySet<string> = new Set([
  "signalbox_endpoint_ready",
  "signalbox_endpoint_share",
  "signalbox_start_time_seconds",
  "signalbox_config_last_reload_successful",
  "signalbox_config_last_reload_success_time_seconds",
  "signalbox_well",
  "signalbox_shared_up",
  "signalbox_shared_routers",
  "signalbox_rewrite_target_ready_endpoints",
  "signalbox_tls_certificate_expiry_time_seconds",
  "signalbox_kubernetes_resources_watched",
]);

export function ofGauges(name: string): (one: number, other: number) => number {
  if (SUMMED.has(name)) return (one, other) => one + other;
  return LEAST.has(name) ? Math.min : Math.max;
}
