import assert from "node:assert/strict";
import { after, it } from "node:test";
import { collectedLog } from "../support/collected-log.ts";
import { startTestRouter, waitUntil } from "../support/router.ts";
import { answerOk } from "../support/scripted-pool.ts";
import { startScriptedReplica } from "../support/scripted-replica.ts";

const REWRITE = `---
apiVersion: llm-d.ai/v1alpha2
kind: InferenceModelRewrite
metadata: { name: food }
spec:
  poolRef: { name: default }
  rules:
    - matches: [ { model: { value: food } } ]
      targets: [ { modelRewrite: a, weight: 50 }, { modelRewrite: big, weight: 50 } ]
`;

const base = { id: "base", root: "/models/base", parent: null };
const adapter = { id: "a", root: "/adapters/a", parent: "base", max_model_len: null };

async function setUp(...lists: readonly (readonly { readonly id: string }[])[]) {
  const replicas = await Promise.all(lists.map((list) => startScriptedReplica(answerOk, list)));
  const router = await startTestRouter(
    replicas.map(({ url }) => url),
    { documents: REWRITE },
  );
  after(async () => {
    await router.close();
    await Promise.all(replicas.map((replica) => replica.close()));
  });
  const complete = (prompt: unknown) =>
    fetch(`${router.url}/v1/completions`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ model: "base", prompt }),
    });
  return { router, replicas, complete };
}

it("the list of models keeps what the replicas agree on, and the smallest context", async () => {
  const { router } = await setUp(
    [{ ...base, ...{ max_model_len: 4096 } }, adapter],
    [{ ...base, ...{ max_model_len: 8192, root: "/elsewhere" } }, adapter],
    [{ id: "big", ...{ max_model_len: 131_072 } }],
  );
  const { data } = (await (await fetch(`${router.url}/v1/models`)).json()) as { data: readonly Record<string, unknown>[] };
  const shown = Object.fromEntries(data.map(({ id, object: _, created: __, owned_by: ___, ...about }) => [id, about]));
  assert.deepEqual(shown, {
    base: { max_model_len: 4096, parent: null },
    a: { max_model_len: 4096, root: "/adapters/a", parent: "base" },
    big: { max_model_len: 131_072 },
    food: { max_model_len: 4096 },
  });
  const one = (await (await fetch(`${router.url}/v1/models/a`)).json()) as object;
  assert.deepEqual({ ...one, created: 0 }, { ...data.find(({ id }) => id === "a"), created: 0 });
});

it("a long prompt goes to the replica that can hold it; one that none can hold is refused early", async () => {
  const { replicas, complete } = await setUp([{ ...base, ...{ max_model_len: 64 } }], [{ ...base, ...{ max_model_len: 1024 } }]);
  const ids = (length: number) => Array.from({ length }, (_, id) => id);
  for (let i = 0; i < 4; i++) assert.equal((await complete(ids(100))).status, 200);
  assert.deepEqual(
    replicas.map(({ requests }) => requests.length),
    [0, 4],
  );
  const refused = await complete(ids(1025));
  const { error } = (await refused.json()) as { error: { message: string; code: string; type: string } };
  assert.deepEqual([refused.status, error.code, error.type], [400, "context_length_exceeded", "invalid_request_error"]);
  assert.match(
    error.message,
    /This model's maximum context length is 1024 tokens\. However, your request has at least 1025 input/,
  );
  assert.equal((await complete("x".repeat(60_000))).status, 200, "text may fit, however unlikely that is");
  assert.equal(replicas[0]?.requests.length, 0);
});

it("an odd entry costs a replica none of its other models, and the log says so once", async () => {
  const replica = await startScriptedReplica(answerOk, [base, { id: 1 }, adapter]);
  const log = collectedLog();
  const spec =
    "  plugins: [ { name: list, type: model-list, parameters: { periodMs: 100 } } ]\n  pool: { probes: { readiness: { periodSeconds: 1 } } }\n";
  const router = await startTestRouter([replica.url], { operatorLog: log, spec });
  after(async () => {
    await router.close();
    await replica.close();
  });
  const { data } = (await (await fetch(`${router.url}/v1/models`)).json()) as { data: readonly { readonly id: string }[] };
  assert.deepEqual(data.map(({ id }) => id).sort(), ["a", "base"]);
  const said = () => log.lines.filter((line) => line.includes("left out"));
  assert.match(said()[0] ?? "", /of 3 models in its list, 1 can't be used: entry 2 has no/);
  const [endpoint] = router.router.pool.facts.endpoints;
  const { lastCheckMs } = router.router.control.timesOf(endpoint!);
  await waitUntil(() => router.router.control.timesOf(endpoint!).lastCheckMs > lastCheckMs);
  assert.equal(said().length, 1);
  assert.equal(router.router.control.leftOut(endpoint!).length, 1);
});
