import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import { makeApi, makeRewrite } from "../../../support/api.ts";

const FILE = `---
apiVersion: llm-d.ai/v1alpha2
kind: InferenceModelRewrite
metadata: { name: food }
spec:
  poolRef: { name: default }
  rules:
    - matches: [ { model: { value: food } } ]
      targets: [ { modelRewrite: v1, weight: 90 }, { modelRewrite: v2, weight: 10 } ]
`;

interface Shown {
  readonly name: string;
  readonly origin: string;
  readonly change: { readonly by: string; readonly until: string | null } | null;
  readonly document: ReturnType<typeof makeRewrite>;
}

const weightsOf = (shown: unknown) =>
  (shown as Shown).document.spec.rules.map(({ targets }) =>
    targets.map(({ modelRewrite, weight }) => `${modelRewrite}=${weight}`),
  );

async function setUp(documents = FILE) {
  const made = await makeApi({ documents });
  return {
    ...made,
    list: async () => (await made.ask("GET", "/rewrites")).json as { rewrites: Shown[]; deleted: { name: string }[] },
    rules: () => made.running.loaded.config.rewrites.map(({ name }) => name),
  };
}

test("shows the files' rewrites with their places", async () => {
  const { list, ask } = await setUp();
  const { rewrites, deleted } = await list();
  assert.deepEqual(
    rewrites.map(({ name, origin, change }) => [name, origin, change]),
    [["food", "test.yaml:5:1", null]],
  );
  assert.deepEqual(deleted, []);
  assert.deepEqual((await ask("GET", "/rewrites/food")).json, JSON.parse(JSON.stringify(rewrites[0])));
  assert.equal((await ask("GET", "/rewrites/foot")).status, 404);
});

test("PUT creates and replaces by name; the generation grows with each change", async () => {
  const { ask, list, rules, running } = await setUp();
  const created = await ask("PUT", "/rewrites/drinks", {
    body: makeRewrite("drinks", { tea: 1 }),
    headers: { "if-match": '"1"' },
  });
  assert.equal(created.status, 200);
  assert.equal(created.headers.get("etag"), '"2"');
  assert.deepEqual(rules(), ["food/0", "drinks/0"]);
  const replaced = await ask("PUT", "/rewrites/food", { body: makeRewrite("food", { v2: 1 }) });
  assert.deepEqual(weightsOf(replaced.json["rewrite"]), [["v2=1"]]);
  assert.equal(running.generation, 3);
  const { rewrites } = await list();
  assert.deepEqual(
    rewrites.map(({ name, origin, change }) => [name, origin, change?.by]),
    [
      ["food", "admin API", "192.0.2.7"],
      ["drinks", "admin API", "192.0.2.7"],
    ],
  );
});

test("PATCH changes the named weights and keeps the others", async () => {
  const { ask, logged } = await setUp();
  const { status, json } = await ask("PATCH", "/rewrites/food", { body: { targets: [{ modelRewrite: "v2", weight: 50 }] } });
  assert.equal(status, 200);
  assert.deepEqual(weightsOf(json["rewrite"]), [["v1=90", "v2=50"]]);
  const { fields } = logged.find(({ message }) => message === "Changed through the admin API")!;
  assert.equal(fields?.["what"], "rewrite food");
  assert.match(String(fields?.["before"]), /"modelRewrite":"v2","weight":10/);
  assert.match(String(fields?.["after"]), /"modelRewrite":"v2","weight":50/);
});

test("DELETE hides the files' rewrite, revert brings it back", async () => {
  const { ask, list, rules } = await setUp();
  assert.deepEqual((await ask("DELETE", "/rewrites/food")).json, { rewrite: null, written: null });
  assert.deepEqual(rules(), []);
  assert.deepEqual(
    (await list()).deleted.map(({ name }) => name),
    ["food"],
  );
  assert.equal((await ask("POST", "/rewrites/food/revert")).status, 200);
  assert.deepEqual(rules(), ["food/0"]);
  assert.equal((await ask("POST", "/rewrites/food/revert")).status, 404);
});

test("DELETE of one that is in no file leaves nothing behind", async () => {
  const { ask, list, rules } = await setUp("");
  await ask("PUT", "/rewrites/drinks", { body: makeRewrite("drinks", { tea: 1 }) });
  await ask("DELETE", "/rewrites/drinks");
  assert.deepEqual([await list(), rules()], [{ rewrites: [], deleted: [] }, []]);
});

test("a change ends by itself, and those without an end stay over a reload", async () => {
  const { ask, clock, running, rules } = await setUp();
  await ask("PATCH", "/rewrites/food?forSeconds=60", { body: { targets: [{ modelRewrite: "v2", weight: 50 }] } });
  await ask("PUT", "/rewrites/drinks", { body: makeRewrite("drinks", { tea: 1 }) });
  assert.equal((await ask("POST", "/config/reload")).status, 200);
  const weights = () => running.loaded.config.rewrites[0]?.targets.map(({ weight }) => weight);
  assert.deepEqual(weights(), [90, 50]);
  await clock.advance(61_000);
  // Loading takes turns of its own.
  while (running.overlay.rewrites.length > 1) await new Promise((resolve) => setTimeout(resolve, 1));
  assert.deepEqual(weights(), [90, 10]);
  assert.deepEqual(rules(), ["food/0", "drinks/0"]);
});

describe("what is refused changes nothing", () => {
  const weights = (...targets: unknown[]) => ({ targets });
  const rows: readonly (readonly [string, method: string, path: string, body: unknown, status: number, code: string])[] = [
    ["another name in the body", "PUT", "/rewrites/food", makeRewrite("drinks", { tea: 1 }), 400, "other_name"],
    ["another kind", "PUT", "/rewrites/food", { ...makeRewrite("food", { v1: 1 }), kind: "Router" }, 400, "invalid_body"],
    ["a pool that is not this one's", "PUT", "/rewrites/food", otherPool(), 422, "invalid_config"],
    ["only weights of 0", "PUT", "/rewrites/food", makeRewrite("food", { v1: 0 }), 422, "invalid_config"],
    ["an unknown rewrite", "PATCH", "/rewrites/foot", weights({ modelRewrite: "v1", weight: 1 }), 404, "unknown_rewrite"],
    ["an unknown target", "PATCH", "/rewrites/food", weights({ modelRewrite: "v3", weight: 1 }), 400, "unknown_target"],
    [
      "a rule that is not there",
      "PATCH",
      "/rewrites/food",
      { rule: 1, ...weights({ modelRewrite: "v1", weight: 1 }) },
      400,
      "unknown_rule",
    ],
    ["a weight that is none", "PATCH", "/rewrites/food", weights({ modelRewrite: "v1", weight: 1.5 }), 400, "invalid_body"],
    ["no end", "DELETE", "/rewrites/food?forSeconds=0", undefined, 400, "bad_query"],
    ["a written change with an end", "DELETE", "/rewrites/food?forSeconds=9&write=true", undefined, 400, "bad_query"],
    ["nothing to revert", "POST", "/rewrites/food/revert", undefined, 404, "unknown_change"],
  ];
  for (const [name, method, path, body, status, code] of rows) {
    it(name, async () => {
      const { ask, running } = await setUp();
      const answer = await ask(method, path, { body });
      assert.deepEqual([answer.status, answer.json["code"]], [status, code]);
      assert.deepEqual([running.generation, running.overlay.rewrites], [1, []]);
      if (status === 422)
        assert.match(String((answer.json["faults"] as string[])[0]), /^admin API, InferenceModelRewrite "food" {2}spec/);
    });
  }
});

function otherPool() {
  const document = makeRewrite("food", { v1: 1 });
  return { ...document, spec: { ...document.spec, poolRef: { name: "other" } } };
}

test("of two changes made for the same generation, one is refused, even at the same time", async () => {
  const { ask } = await setUp();
  const change = (weight: number) =>
    ask("PATCH", "/rewrites/food", { body: { targets: [{ modelRewrite: "v2", weight }] }, headers: { "if-match": '"1"' } });
  const answers = await Promise.all([change(20), change(30)]);
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 412]);
});

test("there are at most 200 changes beside the files", async () => {
  const { ask, running } = await setUp();
  const rewrites = Array.from({ length: 200 }, (_, index) => ({
    ...{ namespace: "default", name: `r${index}`, by: "", sinceMs: 0, untilMs: undefined },
    document: makeRewrite(`r${index}`, { v1: 1 }),
  }));
  await running.change(() => ({ rewrites }), "api");
  const one = await ask("PUT", "/rewrites/one-more", { body: makeRewrite("one-more", { v1: 1 }) });
  assert.deepEqual([one.status, one.json["code"]], [409, "too_many_changes"]);
  assert.equal((await ask("PUT", "/rewrites/r7", { body: makeRewrite("r7", { v2: 1 }) })).status, 200);
});
