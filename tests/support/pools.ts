import assert from "node:assert/strict";
import { after } from "node:test";
import type { PoolsFeature, Router } from "../../core/router.ts";
import { startTestRouter, type TestRouter, type TestRouterOptions, waitUntil } from "./router.ts";
import { answerOk } from "./scripted-pool.ts";
import { type Script, type ScriptedReplica, startScriptedReplica } from "./scripted-replica.ts";

/** A Pool document; `lines` stand below its spec, indented by two. */
export function poolDocument(name: string, urls: readonly string[], lines = ""): string {
  const endpoints = urls.map((url) => `{ url: "${url}" }`).join(", ");
  return `---\napiVersion: signalbox/v1\nkind: Pool\nmetadata: { name: ${name} }\nspec:\n  pool: { endpoints: [${endpoints}] }\n${lines}\n`;
}

/** A rewrite of one rule for the model; `targets` as they are written in the document. */
export function rewriteDocument(name: string, model: string, targets: string, more = ""): string {
  const meta = `metadata: { name: ${name} }`;
  const rule = `{ matches: [{ model: { value: ${model} } }], targets: [${targets}]${more} }`;
  return `---\napiVersion: llm-d.ai/v1alpha2\nkind: InferenceModelRewrite\n${meta}\nspec: { poolRef: { name: default }, rules: [${rule}] }\n`;
}

/** The routers behind the pools of a router. */
export function routersOf(router: Router): ReadonlyMap<string, Router> {
  const found = router.config.modules.map(({ plugin }) => (plugin as Partial<PoolsFeature>).routersOfPools);
  return found.find((routers) => routers !== undefined) ?? new Map();
}

/** Starts a replica that ends with the test file. */
export async function replicaOf(models: readonly string[] = ["m"], script: Script = answerOk): Promise<ScriptedReplica> {
  const replica = await startScriptedReplica(script, models);
  after(() => replica.close());
  return replica;
}

/** A router over the first replicas, with further documents; resolves when every replica of every pool is ready. */
export async function startPools(
  urls: readonly string[],
  options: TestRouterOptions & { readonly poolsReady?: number },
): Promise<TestRouter> {
  const router = await startTestRouter(urls, options);
  after(() => router.close());
  const isReady = (inner: Router) => inner.pool.facts.endpoints.every(({ isAvailable }) => isAvailable);
  const wanted = options.poolsReady ?? routersOf(router.router).size;
  await waitUntil(() => [...routersOf(router.router).values()].filter(isReady).length >= wanted);
  return router;
}

/** One chat request; resolves to its status, its endpoint and its body. */
export async function ask({ url }: Pick<TestRouter, "url">, model: string, headers: Readonly<Record<string, string>> = {}) {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ model, messages: [{ role: "user", content: "hello" }] }),
  });
  return { status: response.status, body: await response.text() };
}

/** The models that the replica's requests named. */
export function modelsAt({ requests }: ScriptedReplica): readonly string[] {
  return requests.map(({ body }) => (JSON.parse(body.toString("utf8")) as { model: string }).model);
}

/** Nothing of any request is left in any pool. */
export async function assertNothingLeft(router: Router): Promise<void> {
  const all = [router, ...routersOf(router).values()];
  const inFlight = () => all.flatMap(({ pool }) => [...pool.load.inFlight]).reduce((sum, each) => sum + each, 0);
  await waitUntil(() => inFlight() === 0);
  assert.equal(inFlight(), 0);
}
