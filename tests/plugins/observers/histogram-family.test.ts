import assert from "node:assert/strict";
import { test } from "node:test";
import { HistogramFamily } from "../../../plugins/observers/histogram-family.ts";

test("buckets count up to their upper end, and add up", () => {
  const family = new HistogramFamily("a_seconds", "Times.", "api", [0.1, 1]);
  for (const value of [0.05, 0.1, 0.5, 2, 3]) family.observe(value, "chat");
  family.observe(1, "messages");
  assert.equal(
    family.text(),
    `# HELP a_seconds Times.
# TYPE a_seconds histogram
a_seconds_bucket{api="chat",le="0.1"} 2
a_seconds_bucket{api="chat",le="1"} 3
a_seconds_bucket{api="chat",le="+Inf"} 5
a_seconds_sum{api="chat"} 5.65
a_seconds_count{api="chat"} 5
a_seconds_bucket{api="messages",le="0.1"} 0
a_seconds_bucket{api="messages",le="1"} 1
a_seconds_bucket{api="messages",le="+Inf"} 1
a_seconds_sum{api="messages"} 1
a_seconds_count{api="messages"} 1
`,
  );
});
