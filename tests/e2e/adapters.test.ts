import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { type MockReplica, startMockReplica } from "../../apps/lab/mock/replica.ts";
import { startTestRouter, type TestRouter, waitUntil } from "../support/router.ts";

const REWRITE = `---
apiVersion: llm-d.ai/v1alpha2
kind: InferenceModelRewrite
metadata: { name: food }
spec:
  poolRef: { name: default }
  rules:
    - matches: [ { model: { value: food } } ]
      targets: [ { modelRewrite: food-v1, weight: 50 }, { modelRewrite: food-v2, weight: 50 } ]
`;
const PICKER = `---
apiVersion: llm-d.ai/v1alpha1
kind: EndpointPickerConfig
plugins:
- { type: lora-affinity-scorer }
- { type: prefix-cache-scorer }
- { type: session-affinity-scorer }
schedulingProfiles:
- name: default
  plugins:
  - { pluginRef: lora-affinity-scorer, weight: 2 }
  - { pluginRef: prefix-cache-scorer, weight: 3 }
  - { pluginRef: session-affinity-scorer, weight: 9 }
`;

/** Replicas with the given adapters, each beside the model "base", and a router over them with the reference's config. */
async function setUp(
  adapters: readonly (readonly string[])[],
): Promise<{ router: TestRouter; replicas: readonly MockReplica[] }> {
  const replicas = await Promise.all(
    adapters.map((names) => startMockReplica({ model: "base", adapters: names, timeScale: 0, kvTokens: 65_536 })),
  );
  const router = await startTestRouter(
    replicas.map(({ url }) => url),
    { documents: REWRITE + PICKER },
  );
  after(async () => {
    await router.close();
    await Promise.all(replicas.map((replica) => replica.close()));
  });
  return { router, replicas };
}

async function ask(router: TestRouter, model: string, prompt: string, headers: Readonly<Record<string, string>> = {}) {
  const answer = await fetch(`${router.url}/v1/completions`, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify({ model, prompt, max_tokens: 2 }),
  });
  await answer.text();
  assert.equal(answer.status, 200);
  const header = (name: string) => answer.headers.get(name) ?? "";
  return { endpoint: header("x-signalbox-endpoint"), target: header("x-signalbox-model"), session: header("x-session-token") };
}

const nameOf = ({ port }: MockReplica) => `127.0.0.1-${port}`;

describe("adapters", () => {
  it("the drawn target decides which replicas qualify", async () => {
    const { router, replicas } = await setUp([["food-v1"], ["food-v2"], ["food-v1"]]);
    const [first, second, third] = replicas.map(nameOf);
    const targets: string[] = [];
    for (let i = 0; i < 12; i++) {
      const { endpoint, target } = await ask(router, "food", `question ${i}`);
      targets.push(target);
      assert.ok(target === "food-v2" ? endpoint === second : endpoint === first || endpoint === third, `${target} ${endpoint}`);
    }
    assert.equal(targets.filter((target) => target === "food-v2").length, 6);
  });

  it("an adapter stays with the replica whose engine holds it; the base model goes anywhere", async () => {
    const { router } = await setUp([
      ["food-v1", "food-v2"],
      ["food-v1", "food-v2"],
      ["food-v1", "food-v2"],
    ]);
    const places = async (model: string) => {
      const seen = new Set<string>();
      for (let i = 0; i < 20; i++) seen.add((await ask(router, model, `${model} ${i}`)).endpoint);
      return seen.size;
    };
    assert.equal(await places("food-v1"), 1);
    assert.equal(await places("food-v2"), 1);
    assert.ok((await places("base")) > 1);
  });

  it("what one adapter has cached is not another's: the prefix is hashed with the target", async () => {
    const { router } = await setUp([
      ["food-v1", "food-v2"],
      ["food-v1", "food-v2"],
    ]);
    const prompt = "All reviews of the soup of the day, in full. ".repeat(100);
    await ask(router, "food-v1", prompt);
    const entries = (model: string) => {
      const before = router.router.pool.prefixStats?.entries ?? 0;
      return ask(router, model, prompt).then(() => (router.router.pool.prefixStats?.entries ?? 0) - before);
    };
    assert.equal(await entries("food-v1"), 0);
    assert.ok((await entries("food-v2")) > 0);
  });

  it("a session's token brings it back, over everything else", async () => {
    const { router } = await setUp([["food-v1"], ["food-v1"], ["food-v1"]]);
    const first = await ask(router, "base", "hello");
    assert.equal(Buffer.from(first.session, "base64").toString("utf8"), first.endpoint);
    const other = router.router.pool.facts.endpoints.find(({ name }) => name !== first.endpoint)!;
    const session = Buffer.from(other.name).toString("base64");
    for (let i = 0; i < 5; i++) {
      const { endpoint, session: again } = await ask(router, "base", "hello", { "X-Session-Token": session });
      assert.deepEqual([endpoint, again], [other.name, session]);
    }
  });

  it("the index is as large as the replica says its cache is", async () => {
    const { router } = await setUp([["food-v1"]]);
    await ask(router, "base", "a prompt that is long enough to be indexed. ".repeat(50));
    await waitUntil(() => router.router.pool.prefixStats?.slots[0]?.capacityTokens === 65_536);
  });
});
