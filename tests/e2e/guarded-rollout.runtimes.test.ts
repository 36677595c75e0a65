import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { MockOptions } from "../../apps/lab/mock/options.ts";
import { type MockReplica, startMockReplica } from "../../apps/lab/mock/replica.ts";
import { askFor } from "../support/admin.ts";
import { run } from "../support/cli.ts";
import type { WholeStatus } from "../support/features.ts";
import { postRequest, startFetchRouter } from "../support/fetch-router.ts";
import { exchange, postBytes, readAnswer } from "../support/raw-client.ts";
import { type ReloadingRouter, startReloadingRouter } from "../support/reloading.ts";
import { waitUntil } from "../support/router.ts";

const CHAT = "/v1/chat/completions";
const body = (words: number) =>
  JSON.stringify({ model: "food", stream: true, max_tokens: 2, messages: [{ role: "user", content: "word ".repeat(words) }] });

const mocks: MockReplica[] = [];
after(() => Promise.all(mocks.map((mock) => mock.close())));

/** Two replicas: one has v1, the other v2, with options of its own. */
async function startPair(v2: Partial<MockOptions> = {}, both: Partial<MockOptions> = { timeScale: 0 }) {
  const pair = await Promise.all([
    startMockReplica({ model: "base", adapters: ["v1"], ...both }),
    startMockReplica({ model: "base", adapters: ["v2"], ...both, ...v2 }),
  ]);
  mocks.push(...pair);
  return pair;
}

interface Parts {
  readonly guard?: string;
  readonly admin?: string;
  readonly weights?: readonly [number, number];
  readonly sticky?: string;
}

// What fails is not to be hidden by ejections, which take the replica of v2 away.
function configOf(pair: readonly MockReplica[], { guard = "{ rule: food, target: v2 }", admin = "{}" }: Parts = {}): string {
  const urls = pair.map(({ url }, index) => `{ name: gpu${index + 1}, url: "${url}" }`);
  return `apiVersion: signalbox/v1
kind: Router
spec:
  admin: ${admin}
  pool: { endpoints: [ ${urls.join(", ")} ] }
  ejection: false
  guards: [ ${guard} ]
`;
}

function rewriteOf({ weights: [v1, v2] = [50, 50], sticky = "" }: Parts = {}): string {
  return `apiVersion: llm-d.ai/v1alpha2
kind: InferenceModelRewrite
metadata: { name: food }
spec:
  poolRef: { name: default }
  rules:
    - matches: [ { model: { value: food } } ]
      targets: [ { modelRewrite: v1, weight: ${v1} }, { modelRewrite: v2, weight: ${v2} } ]
${sticky}`;
}

async function startRouter(pair: readonly MockReplica[], parts: Parts = {}): Promise<ReloadingRouter> {
  return startReloadingRouter({ "router.yaml": configOf(pair, parts), "rewrite.yaml": rewriteOf(parts) }, { isFolder: true });
}

/** The target that served, or would have. */
async function askOnce(port: number, words = 5, lines = ""): Promise<{ status: number; target: string }> {
  const { status, head } = readAnswer(await exchange(port, postBytes(CHAT, body(words), `${lines}Connection: close\r\n`)));
  return { status, target: /\r\nx-signalbox-model: (.*)/i.exec(head)?.[1] ?? "" };
}

/** So many requests, some at once; how many each target got. */
async function askOften(port: number, count: number, words = 5, before: (index: number) => unknown = () => {}) {
  const seen: Record<string, number> = {};
  for (let n = 0; n < count; n += 10) {
    await before(n);
    for (const { target } of await Promise.all(Array.from({ length: 10 }, () => askOnce(port, words))))
      seen[target] = (seen[target] ?? 0) + 1;
  }
  return seen;
}

const v2Of = ({ rewrites }: WholeStatus) => rewrites[0]?.targets.find(({ name }) => name === "v2");

/** Asks until the guard has stopped v2; returns the status then. */
async function untilStopped(
  router: ReloadingRouter,
  before: (index: number) => unknown = () => {},
  words = 5,
): Promise<WholeStatus> {
  for (let asked = 0; asked < 3_000; asked += 50) {
    await askOften(router.process.port, 50, words, before);
    const now = await router.status();
    if (v2Of(now)?.guard?.state === "stopped") return now;
  }
  return assert.fail(`not stopped: ${JSON.stringify(v2Of(await router.status()))}`);
}

describe("a v2 that fails one request in ten", { timeout: 120_000 }, () => {
  it("is stopped, everything says why, v1 serves on, a reload keeps it so, and one command undoes it", async () => {
    const pair = await startPair();
    const router = await startRouter(pair);
    const { port, adminPort } = router.process;
    const fail = () => pair[1]!.faults.set("status", 500, { times: 1 });
    // Every fifth of v2's, since only half of ten requests go there.
    const stopped = await untilStopped(router, (index) => (index % 20 === 0 ? fail() : undefined));

    const reason = /^v2 fails \d.* %.*, v1 0 %.*: worse by more than 2 points at confidence 95 %, after \d+ and \d+ requests\.$/;
    assert.match(v2Of(stopped)?.guard?.text ?? "", reason);
    assert.equal(v2Of(stopped)?.weight, 0);
    assert.deepEqual(
      stopped.config.overlay.map(({ rewrite, by }) => [rewrite, by]),
      [["food", "guard food/0 v2"]],
    );
    assert.match(stopped.config.overlay[0]?.reason ?? "", reason);
    assert.equal(stopped.config.lastReload?.cause, "guard");
    assert.ok(
      stopped.warnings.some((warning) => /^A guard stopped v2: v2 fails/.test(warning)),
      stopped.warnings.join("\n"),
    );
    assert.match(router.process.errors, /A guard stopped a target: its weight is 0 now.*v2 fails/);
    const metrics = (await askFor(adminPort, "/metrics")).body;
    assert.match(metrics, /^signalbox_guard_stopped\{rule="food\/0",target="v2"\} 1$/m);
    assert.match(metrics, /^signalbox_rewrite_target_weight\{rule="food\/0",target="v2"\} 0$/m);
    const admin = `http://127.0.0.1:${adminPort}`;
    const { out } = await run("get", "rewrites", "--admin", admin);
    assert.match(out, /^food \(admin API, by guard food\/0 v2 at .*\)\n {2}food -> v1 50, v2 0$/m);
    assert.match(out, /^ {4}v2: \d+ requests; errors .*; ttft mean .* ms; .*ended by length \d+/m);
    assert.match(out, /^ {4}v2: stopped by its guard at .*: v2 fails/m);
    assert.match((await run("status", "--admin", admin)).out, /v2 0% on 1 \(stopped by its guard\)/);
    const explained = await fetch(`${admin}/api/v1/explain`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ body: JSON.stringify({ model: "food", messages: [] }) }),
    });
    const { notes } = (await explained.json()) as { notes: readonly string[] };
    assert.ok(
      notes.some((note) => /^A guard of the rule food\/0 has stopped v2: v2 fails/.test(note)),
      notes.join("\n"),
    );

    await pair[1]!.faults.clear();
    assert.deepEqual(await askOften(port, 40), { v1: 40 });

    const { generation } = stopped.config;
    router.write("router.yaml", `${configOf(pair)}  retries: { budgetLeast: 4 }\n`);
    const reloaded = await router.untilGeneration(generation + 1);
    assert.deepEqual([v2Of(reloaded)?.weight, v2Of(reloaded)?.guard?.state], [0, "stopped"]);
    assert.deepEqual(await askOften(port, 20), { v1: 20 });

    assert.equal((await run("revert", "rewrite", "food", "--admin", admin)).code, 0);
    const undone = await router.status();
    assert.deepEqual([v2Of(undone)?.weight, v2Of(undone)?.guard?.state, v2Of(undone)?.guard?.requests], [50, "watching", 0]);
    // The count of draws goes on, so these may begin in the middle of a pair.
    assert.ok(((await askOften(port, 20))["v2"] ?? 0) >= 9);
    assert.deepEqual(undone.config.overlay, []);
  });
});

describe("a v2 that takes twice as long to its first token", { timeout: 120_000 }, () => {
  it("is stopped, on a read-only admin port too, until its file is another one", async () => {
    const pair = await startPair({ prefillTokensPerS: 2_000 }, { prefillTokensPerS: 4_000 });
    const guard = "{ rule: food/0, target: v2, against: v1, worseBy: { ttft: 20% }, minRequests: 20 }";
    const router = await startRouter(pair, { guard, admin: "{ readOnly: true }" });
    const stopped = await untilStopped(router, undefined, 60);
    assert.match(
      v2Of(stopped)?.guard?.text ?? "",
      /^The first byte of v2 typically takes .* ms, that of v1 .* ms: slower by more than 20 % at confidence 95 %/,
    );
    router.write("rewrite.yaml", rewriteOf({ weights: [90, 10] }));
    const next = await router.untilGeneration(stopped.config.generation + 1);
    assert.deepEqual([v2Of(next)?.weight, v2Of(next)?.guard?.state, next.config.overlay], [10, "watching", []]);
  });
});

describe("equal targets", { timeout: 120_000 }, () => {
  it("are not stopped, though both fail now and then", async () => {
    const pair = await startPair();
    const router = await startRouter(pair);
    const fail = (index: number) =>
      Promise.all(pair.map((mock) => (index % 50 === 0 ? mock.faults.set("status", 500, { times: 1 }) : undefined)));
    assert.deepEqual(await askOften(router.process.port, 600, 5, fail), { v1: 300, v2: 300 });
    const now = await router.status();
    const [v1, v2] = now.rewrites[0]?.targets ?? [];
    assert.deepEqual([v2?.guard?.state, v1?.guard, v2?.figures?.requests], ["watching", null, 300]);
    assert.equal(v2?.figures?.errors, 12);
    assert.ok(v2.figures.errorRate !== null && (v2.figures.errorRate.low ?? 1) < 0.04 && (v2.figures.errorRate.high ?? 0) > 0.04);
    assert.deepEqual(now.config.overlay, []);
  });
});

describe("sessions of a sticky rule", { timeout: 120_000 }, () => {
  it("stay on their target beside a guard, and go elsewhere once it is stopped", async () => {
    const pair = await startPair();
    const parts = { guard: "{ rule: food, target: v2, minRequests: 10 }", sticky: "      sticky: { header: X-User }\n" };
    const router = await startRouter(pair, parts);
    const targetsOf = async () => {
      const answers = [];
      for (let user = 0; user < 60; user++) answers.push((await askOnce(router.process.port, 5, `X-User: u${user}\r\n`)).target);
      return answers;
    };
    const first = await targetsOf();
    assert.deepEqual([...new Set(first)].sort(), ["v1", "v2"]);
    assert.deepEqual(await targetsOf(), first);
    await pair[1]!.faults.set("status", 500);
    for (let user = 100; user < 200; user++) await askOnce(router.process.port, 5, `X-User: u${user}\r\n`);
    assert.equal(v2Of(await router.status())?.guard?.state, "stopped");
    assert.deepEqual([...new Set(await targetsOf())], ["v1"]);
  });
});

it("a guard in an annotation works in the fetch face, whose admin API is read-only unless it has a token", {
  timeout: 120_000,
}, async () => {
  const pair = await startPair();
  const documents = `---\n${rewriteOf().replace("name: food }", 'name: food, annotations: { "signalbox/guard": "target=v2 errorRate=5%" } }')}`;
  const warned: string[] = [];
  const router = await startFetchRouter(
    pair.map(({ url }) => url),
    { spec: "  ejection: false", documents, log: { info() {}, warn: (message) => void warned.push(message), error() {} } },
  );
  after(() => router.close());
  await pair[1]!.faults.set("status", 500);
  const ask = async () => {
    const answer = await router.fetch(postRequest(CHAT, body(5)));
    await answer.text();
    return answer.status;
  };
  for (let n = 0; n < 150; n++) await ask();
  await waitUntil(() => warned.includes("A guard stopped a target: its weight is 0 now"));
  for (let n = 0; n < 10; n++) assert.equal(await ask(), 200);
  const { rewrites } = (await (await router.admin(new Request("http://router/api/v1/rewrites"))).json()) as {
    rewrites: { change: { by: string; reason: string }; rules: { targets: { guard: { state: string } | null }[] }[] }[];
  };
  assert.equal(rewrites[0]?.change.by, "guard food/0 v2");
  assert.match(rewrites[0].change.reason, /^v2 fails 100 %/);
  assert.deepEqual(
    rewrites[0].rules[0]?.targets.map(({ guard }) => guard?.state),
    [undefined, "stopped"],
  );
});

it("what is refused before the first probes is no error of a target, so no guard stops one for it", {
  timeout: 60_000,
}, async () => {
  const pair = await startPair({}, { timeScale: 0, loadingMs: 600_000 });
  const router = await startRouter(pair, { guard: "{ rule: food, target: v2, minRequests: 20 }", weights: [90, 10] });
  for (let n = 0; n < 200; n++) assert.equal((await askOnce(router.process.port)).status, 503);
  const { rewrites } = await router.status();
  const shown = rewrites[0]?.targets.map(({ name, weight, figures }) => [name, weight, figures?.errors, figures?.unjudged]);
  assert.deepEqual(shown, [
    ["v1", 90, 0, 180],
    ["v2", 10, 0, 20],
  ]);
});
