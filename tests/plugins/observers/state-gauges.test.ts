import assert from "node:assert/strict";
import { test } from "node:test";
import { stateGauges } from "../../../plugins/observers/state-gauges.ts";
import { makeEndpoint, makeLoad } from "../../support/endpoints.ts";
import { makeMapping, makeView } from "../../support/view.ts";

const endpoints = [makeEndpoint(0, { models: ["base", "v1"] }), makeEndpoint(1, { phase: "not-ready", models: ["base", "v2"] })];

test("the pool as gauges", () => {
  const view = makeView(endpoints, {
    config: { mappings: [makeMapping("food/0", { v1: 90, v2: 10 })] },
    pool: {
      load: makeLoad(2, {
        inFlight: [3, 0],
        prefillTokens: [700, 0],
        waiting: [1, 5],
        running: [2, 5],
        kvUsage: [0.5, 0.5],
        freshness: [0.3, 0],
      }),
      prefixIndex: { entries: 10, maxEntries: 100, bytes: 4096 },
      connectionsTo: ({ slot }) => slot + 4,
      discoveryTroubles: new Map([
        ["cluster", { text: "It is down.", sinceMs: -35_000 }],
        ["other", { text: "It is down.", sinceMs: Number.NaN }],
      ]),
    },
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
    'signalbox_endpoint_prefill_tokens_per_second{endpoint="e0"} 8000',
    'signalbox_endpoint_prefill_tokens_per_second{endpoint="e1"} 8000',
    'signalbox_endpoint_connections{endpoint="e0"} 4',
    'signalbox_endpoint_connections{endpoint="e1"} 5',
    // e1's scraped values have no freshness left.
    'signalbox_endpoint_waiting{endpoint="e0"} 1',
    'signalbox_endpoint_running{endpoint="e0"} 2',
    'signalbox_endpoint_kv_cache_utilization{endpoint="e0"} 0.5',
    'signalbox_endpoint_phase{endpoint="e0",phase="ready"} 1',
    'signalbox_endpoint_phase{endpoint="e1",phase="not-ready"} 1',
    'signalbox_discovery_stale_seconds{discovery="cluster"} 35',
    'signalbox_rewrite_target_weight{rule="food/0",target="v1"} 90',
    'signalbox_rewrite_target_weight{rule="food/0",target="v2"} 10',
    'signalbox_rewrite_target_ready_endpoints{rule="food/0",target="v1"} 1',
    'signalbox_rewrite_target_ready_endpoints{rule="food/0",target="v2"} 0',
    "signalbox_prefix_index_entries 10",
    "signalbox_prefix_index_max_entries 100",
    "signalbox_prefix_index_bytes 4096",
  ]);
});

test("without an index there are no gauges of it", () => assert.doesNotMatch(stateGauges(makeView(endpoints)), /prefix_index/));
