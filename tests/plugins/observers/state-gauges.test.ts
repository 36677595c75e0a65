import assert from "node:assert/strict";
import { test } from "node:test";
import { stateGauges } from "../../../plugins/observers/state-gauges.ts";
import { makeEndpoint, makeLoad } from "../../support/endpoints.ts";
import { makeMapping, makeView } from "../../support/view.ts";

const endpoints = [makeEndpoint(0, { models: ["base", "v1"] }), makeEndpoint(1, { phase: "not-ready", models: ["base", "v2"] })];

test("the pool as gauges", () => {
  const view = makeView(endpoints, {
    mappings: [makeMapping("food/0", { v1: 90, v2: 10 })],
    load: makeLoad(2, {
      inFlight: [3, 0],
      prefillTokens: [700, 0],
      waiting: [1, 5],
      running: [2, 5],
      kvUsage: [0.5, 0.5],
      freshness: [0.3, 0],
    }),
    prefixIndex: { entries: 10, maxEntries: 100, bytes: 4096 },
    memory: { limitBytes: 1000, bodyBytes: 300, unreadBytes: 200, refusals: 4 },
    acceptPauses: 2,
    connectionsTo: ({ slot }) => slot + 4,
    ejectionsOf: ({ slot }) => 2 * slot,
    droppedLogLines: 12,
    config: { generation: 3, isLastReloadApplied: false, confirmedAtS: 1_893_456_060 },
  });
  const samples = stateGauges(view)
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  assert.deepEqual(samples, [
    'signalbox_endpoint_ready{endpoint="e0"} 1',
    'signalbox_endpoint_ready{endpoint="e1"} 0',
    'signalbox_endpoint_ejected{endpoint="e0"} 0',
    'signalbox_endpoint_ejected{endpoint="e1"} 0',
    'signalbox_endpoint_share{endpoint="e0"} 1',
    'signalbox_endpoint_share{endpoint="e1"} 1',
    'signalbox_endpoint_in_flight{endpoint="e0"} 3',
    'signalbox_endpoint_in_flight{endpoint="e1"} 0',
    'signalbox_endpoint_prefill_tokens{endpoint="e0"} 700',
    'signalbox_endpoint_prefill_tokens{endpoint="e1"} 0',
    'signalbox_endpoint_connections{endpoint="e0"} 4',
    'signalbox_endpoint_connections{endpoint="e1"} 5',
    // e1's scraped values have no freshness left.
    'signalbox_endpoint_waiting{endpoint="e0"} 1',
    'signalbox_endpoint_running{endpoint="e0"} 2',
    'signalbox_endpoint_kv_cache_utilization{endpoint="e0"} 0.5',
    'signalbox_endpoint_ejections_total{endpoint="e0"} 0',
    'signalbox_endpoint_ejections_total{endpoint="e1"} 2',
    'signalbox_rewrite_target_weight{rule="food/0",target="v1"} 90',
    'signalbox_rewrite_target_weight{rule="food/0",target="v2"} 10',
    'signalbox_rewrite_target_ready_endpoints{rule="food/0",target="v1"} 1',
    'signalbox_rewrite_target_ready_endpoints{rule="food/0",target="v2"} 0',
    "signalbox_prefix_index_entries 10",
    "signalbox_prefix_index_max_entries 100",
    "signalbox_prefix_index_bytes 4096",
    "signalbox_body_bytes 300",
    "signalbox_unread_bytes 200",
    "signalbox_memory_limit_bytes 1000",
    "signalbox_memory_refusals_total 4",
    "signalbox_log_dropped_total 12",
    "signalbox_accept_pauses_total 2",
    "signalbox_start_time_seconds 1893456000",
    "signalbox_config_generation 3",
    "signalbox_config_last_reload_successful 0",
    "signalbox_config_last_reload_success_time_seconds 1893456060",
  ]);
});

test("without an index there are no gauges of it", () => assert.doesNotMatch(stateGauges(makeView(endpoints)), /prefix_index/));
