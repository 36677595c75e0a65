import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { type MockReplica, startMockReplica } from "../../apps/lab/mock/replica.ts";
import { askFor, makeRunning, startTestAdmin } from "../support/admin.ts";
import { fullPage, readFamilies } from "../support/metrics-page.ts";
import { NO_PROMETHEUS, PROMTOOL } from "../support/prometheus.ts";
import { startTestRouter, type TestRouter, waitUntil } from "../support/router.ts";
import { CHAT } from "../support/scripted-pool.ts";

const KEY = "sk-of-the-metrics";
const SPEC = `  auth: { keys: [ { name: a, sha256: ${createHash("sha256").update(KEY).digest("hex")} } ] }
  plugins: [ { type: request-metrics, parameters: { genAi: true } } ]
  pool: { adapters: { unlisted: any } }
  mirrors: [ { rule: food, target: m } ]
  admission: {}
  sessions: { gate: true }
  websockets: {}
  conversations: {}
  scale: {}
  disaggregation: { decider: never }
  kvEvents: {}
  shadow: { name: candidate, plugins: [ { pluginRef: random } ] }
`;
/** Clients may ask for "food" too; its copies go to the base model. */
const REWRITE = `---
apiVersion: llm-d.ai/v1alpha2
kind: InferenceModelRewrite
metadata: { name: food }
spec:
  poolRef: { name: default }
  rules: [ { matches: [ { model: { type: Exact, value: food } } ], targets: [ { modelRewrite: v1, weight: 1 }, { modelRewrite: m, weight: 0 } ] } ]`;
const HEADERS = { "content-type": "application/json", authorization: `Bearer ${KEY}` };
/** So many requests of a client that makes up names. */
const MADE_UP = 300;

describe("the metrics of a live router that served all kinds of requests", () => {
  let replicas: readonly MockReplica[] = [];
  let router: TestRouter;
  let close: () => Promise<void>;
  let page = "";

  before(async () => {
    replicas = await Promise.all(
      [0, 1].map(() => startMockReplica({ model: "m", adapters: ["v1"], timeScale: 0, replyTokens: 6 })),
    );
    router = await startTestRouter(
      replicas.map(({ url }) => url),
      { spec: SPEC, documents: REWRITE },
    );
    const admin = await startTestAdmin(router.router, { running: await makeRunning() });
    close = () => admin.close();
    const readPage = async () => (await askFor(admin.port, "/metrics")).body;
    await ask({ model: "m", stream: true, stream_options: { include_usage: true } });
    await ask({ model: "m", stream: true });
    await ask({ model: "m" });
    await ask({ model: "food" });
    await fetch(router.url + CHAT, { method: "POST", body: "{", headers: HEADERS });
    await replicas[0]?.faults.set("status", 503, { times: 1 });
    await replicas[1]?.faults.set("status", 503, { times: 1 });
    await ask({ model: "m" });
    for (let index = 0; index < MADE_UP; index++) await ask({ model: `made-up"\n${index}` });
    await waitUntil(() => router.log.length >= MADE_UP + 6);
    page = await readPage();
  });
  after(async () => {
    await close();
    await router.close();
    await Promise.all(replicas.map((replica) => replica.close()));
  });

  async function ask(about: Readonly<Record<string, unknown>>): Promise<void> {
    const body = JSON.stringify({ messages: [{ role: "user", content: "hello" }], max_tokens: 6, ...about });
    const answer = await fetch(router.url + CHAT, { method: "POST", headers: HEADERS, body });
    await answer.text();
  }

  it("promtool finds nothing wrong with them", { skip: !PROMTOOL && NO_PROMETHEUS }, () => {
    const { status, stdout, stderr } = spawnSync("promtool", ["check", "metrics"], { input: page, encoding: "utf8" });
    assert.equal(status, 0, stdout + stderr);
    assert.equal(stdout + stderr, "");
  });

  it("are those of the catalogue", () => {
    const heads = (text: string) => readFamilies(text).map(({ name, type }) => `${name} ${type}`);
    // On systems other than Linux some of the process are unknown; this router follows no cluster, is alone, and has one pool.
    const isEverywhere = (head: string) => !/_fds|_kubernetes_|_shared_|_pool_(requests|fallbacks)_/.test(head);
    assert.deepEqual(heads(page).filter(isEverywhere), heads(fullPage()).filter(isEverywhere));
  });

  it("have no series of names that a client made up, and count its requests as other", () => {
    assert.doesNotMatch(page, /made-up/);
    const others = [...page.matchAll(/^signalbox_requests_total\{.*target="other".*\} (\d+)$/gm)].map(([, count]) =>
      Number(count),
    );
    assert.equal(
      others.reduce((sum, count) => sum + count, 0),
      MADE_UP,
    );
    assert.ok(page.split("\n").length < 1500);
  });

  it("have the times and tokens of a stream, its tokens counted where none are reported", () => {
    const sumOf = (name: string) =>
      [...page.matchAll(new RegExp(`^${name}(?:\\{[^\\n]*\\})? (\\S+)$`, "gm"))].reduce(
        (sum, [, value]) => sum + Number(value),
        0,
      );
    assert.equal(sumOf("signalbox_time_to_first_token_seconds_count"), 2);
    assert.equal(sumOf("signalbox_time_per_output_token_seconds_count"), 2);
    // Counted by events, and two events of a stream have no token.
    const counted = sumOf("signalbox_estimated_output_tokens_total");
    assert.ok(counted >= 6 && counted <= 8, String(counted));
    assert.ok(sumOf("signalbox_overhead_seconds_count") >= 3);
    assert.ok(sumOf("signalbox_decision_seconds_count") >= 3);
    assert.ok(sumOf("signalbox_event_loop_delay_seconds_count") >= 1);
    assert.ok(sumOf("signalbox_plugin_timed_requests_total") >= 1);
    assert.ok(sumOf("process_resident_memory_bytes") > 2 ** 20);
  });
});
