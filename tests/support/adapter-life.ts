import assert from "node:assert/strict";
import { loadTexts } from "../../config/load.ts";
import { Adapters } from "../../core/control/adapters.ts";
import { builtIns } from "../../plugins/registry.ts";
import { startTestRouter, type TestRouter, waitUntil } from "./router.ts";

/** Replicas that load adapters from a folder when they are first asked for. */
export interface AdapterWorld {
  readonly urls: readonly string[];
  readonly base: string;
  /** Copies an adapter into the replicas' folder. */
  put(name: string): void;
  /** Removes an adapter from it. */
  remove(name: string): void;
}

const MODEL = "food-review";
const V1 = "food-review-v1";
const V2 = "food-review-v2";

/**
 * The whole life of adapters behind one model name: an empty list, the first adapter loaded by the first request, a second one
 * copied in, 90/10, 50/50, all traffic to the second, the first one's folder removed, and the first one unloaded.
 */
export async function liveAdapterLife({ urls, base, put, remove }: AdapterWorld): Promise<void> {
  const router = await startTestRouter(urls, { documents: rewrite({ [V1]: undefined }) });
  try {
    await waitUntil(() => router.router.pool.facts.served.has(base));
    assert.deepEqual(await listed(router), [base, MODEL]);

    assert.deepEqual(await counted(router, 1), { "503 target_unavailable": 1 });
    put(V1);
    await apply(router, urls, { [V1]: undefined });
    assert.deepEqual(await counted(router, 4), { [V1]: 4 });
    await waitUntil(() => router.router.pool.facts.served.has(V1));

    put(V2);
    await apply(router, urls, { [V1]: 90, [V2]: 10 });
    assert.deepEqual(await counted(router, 20), { [V1]: 18, [V2]: 2 });
    await apply(router, urls, { [V1]: 50, [V2]: 50 });
    assert.deepEqual(await counted(router, 20), { [V1]: 10, [V2]: 10 });
    await apply(router, urls, { [V2]: 100 });
    assert.deepEqual(await counted(router, 20), { [V2]: 20 });

    remove(V1);
    assert.deepEqual(await counted(router, 1, V1), { [V1]: 1 }, "what is loaded is served without its folder");
    const changes = await new Adapters(router.router.adapters).unload(V1, {});
    assert.ok(changes.length > 0 && changes.every(({ isDone }) => isDone), JSON.stringify(changes));
    await waitUntil(() => !router.router.pool.facts.served.has(V1));
    assert.deepEqual(await counted(router, 1, V1), { "404 model_not_found": 1 });
    assert.deepEqual(await counted(router, 4), { [V2]: 4 });

    await apply(router, urls, { [V1]: undefined });
    assert.deepEqual(await counted(router, 2), { "503 target_unavailable": 2 }, "without its folder it is not loaded again");
  } finally {
    await router.close();
  }
}

type Weights = Readonly<Record<string, number | undefined>>;

function rewrite(weights: Weights): string {
  const targets = Object.entries(weights).map(
    ([name, weight]) => `{ modelRewrite: ${name}${weight === undefined ? "" : `, weight: ${weight}`} }`,
  );
  return `---
apiVersion: llm-d.ai/v1alpha2
kind: InferenceModelRewrite
metadata: { name: ${MODEL} }
spec:
  poolRef: { name: default }
  rules: [ { matches: [ { model: { type: Exact, value: ${MODEL} } } ], targets: [ ${targets.join(", ")} ] } ]
`;
}

/** Applies the rewrite again with other targets. */
async function apply({ router }: TestRouter, urls: readonly string[], weights: Weights): Promise<void> {
  const text = `apiVersion: signalbox/v1\nkind: Router\nspec: {}\n${rewrite(weights)}`;
  const loaded = await loadTexts([{ file: "test.yaml", text }], builtIns, urls);
  if (loaded.problems !== undefined) throw new Error(JSON.stringify(loaded.problems));
  router.replace(loaded);
}

async function listed({ url }: TestRouter): Promise<readonly string[]> {
  const { data } = (await (await fetch(`${url}/v1/models`)).json()) as { data: readonly { id: string }[] };
  return data.map(({ id }) => id);
}

/** How often each model, or each error, was the response to so many requests for `model`. */
async function counted({ url }: TestRouter, requests: number, model = MODEL): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {};
  for (let i = 0; i < requests; i++) {
    const response = await fetch(`${url}/v1/completions`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ model, prompt: `review ${i}`, max_tokens: 2 }),
    });
    const body = (await response.json()) as { model?: string; error?: { code?: string } };
    const key = response.status === 200 ? (body.model ?? "") : `${response.status} ${body.error?.code}`;
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}
