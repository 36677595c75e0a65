/** Adapters that no request uses at the moment stay where they are: vLLM's metrics do not name them. */
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { type MockReplica, startMockReplica } from "../../apps/lab/mock/replica.ts";
import { seededRandom } from "../../core/contract/test-kit.ts";
import { startTestRouter, type TestRouter } from "../support/router.ts";

const LORA_AFFINITY = `---
apiVersion: llm-d.ai/v1alpha1
kind: EndpointPickerConfig
plugins: [ { type: lora-affinity-scorer } ]
schedulingProfiles: [ { name: default, plugins: [ { pluginRef: lora-affinity-scorer } ] } ]
`;

interface Pool {
  readonly adapters: number;
  readonly replicas: number;
  readonly maxLoras: number;
  readonly coldMs?: number;
  readonly documents?: string;
  readonly spec?: string;
}

/** Long against what a busy machine adds to a response: loads that cost nothing would rightly be spent to spare such a replica. */
const USUAL_COLD_MS = 60;

const nameOf = (adapter: number) => `adapter-${adapter}`;

async function setUp({ adapters, replicas, maxLoras, coldMs = USUAL_COLD_MS, documents = "", spec = "" }: Pool) {
  const names = Array.from({ length: adapters }, (_, adapter) => nameOf(adapter));
  const mocks = await Promise.all(
    Array.from({ length: replicas }, () =>
      startMockReplica({
        ...{ model: "base", adapters: names, maxLoras, adapterColdMs: coldMs },
        ...{ decodeStepMs: 1, decodePerRequestMs: 0 },
      }),
    ),
  );
  const router = await startTestRouter(
    mocks.map(({ url }) => url),
    { documents, spec },
  );
  after(async () => {
    await router.close();
    await Promise.all(mocks.map((mock) => mock.close()));
  });
  return { router, mocks };
}

let asked = 0;
async function ask(router: TestRouter, model: string, isStream = true): Promise<string> {
  asked += 1;
  const answer = await fetch(`${router.url}/v1/completions`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ model, prompt: `question ${asked}`, max_tokens: 2, stream: isStream }),
  });
  await answer.text();
  assert.equal(answer.status, 200);
  return answer.headers.get("x-signalbox-endpoint") ?? "";
}

const loadsOf = (mocks: readonly MockReplica[]) => mocks.reduce((sum, { adapterLoads: { cold } }) => sum + cold, 0);

/** Popular adapters more often: the second half as often as the first, and so on. */
function zipf(adapters: number, count: number): readonly number[] {
  const random = seededRandom(7);
  const weights = Array.from({ length: adapters }, (_, adapter) => 1 / (adapter + 1));
  const sum = weights.reduce((all, weight) => all + weight);
  return Array.from({ length: count }, () => {
    let left = random() * sum;
    return weights.findIndex((weight) => {
      left -= weight;
      return left < 0;
    });
  });
}

const inTurn = (adapters: number, count: number) => Array.from({ length: count }, (_, n) => n % adapters);

describe("where all adapters have room, each is loaded once:", () => {
  const rows: readonly (readonly [name: string, pool: Pool, order: readonly number[], isStream: boolean])[] = [
    ["six in turn on three replicas of two", { adapters: 6, replicas: 3, maxLoras: 2 }, inTurn(6, 48), false],
    ["the same in streams", { adapters: 6, replicas: 3, maxLoras: 2 }, inTurn(6, 48), true],
    ["nine on four of three, some more often", { adapters: 9, replicas: 4, maxLoras: 3 }, zipf(9, 90), true],
    [
      "eight on two of four, where a load takes long",
      { adapters: 8, replicas: 2, maxLoras: 4, coldMs: 120 },
      inTurn(8, 32),
      true,
    ],
    ["six by lora-affinity alone", { adapters: 6, replicas: 3, maxLoras: 2, documents: LORA_AFFINITY }, inTurn(6, 48), true],
    ["nine by lora-affinity alone", { adapters: 9, replicas: 4, maxLoras: 3, documents: LORA_AFFINITY }, zipf(9, 90), false],
  ];
  for (const [name, pool, order, isStream] of rows)
    it(name, async () => {
      const { router, mocks } = await setUp(pool);
      for (const adapter of order) await ask(router, nameOf(adapter), isStream);
      assert.equal(loadsOf(mocks), new Set(order).size);
    });
});

it("where there is room for six of eight, four of them stay", async () => {
  const { router, mocks } = await setUp({
    adapters: 8,
    replicas: 3,
    maxLoras: 2,
    spec: "  plugins: [ { type: resident-adapters, parameters: { maxLora: 2 } } ]\n",
  });
  for (const adapter of inTurn(8, 80)) await ask(router, nameOf(adapter));
  const loads = loadsOf(mocks);
  assert.ok(loads <= 8 + 9 * 4 + 8, `${loads} loads`);
});

it("a popular adapter is loaded by more replicas while its requests wait", async () => {
  const { router, mocks } = await setUp({ adapters: 3, replicas: 3, maxLoras: 2, coldMs: 20 });
  for (let round = 0; round < 6; round++) await Promise.all(Array.from({ length: 24 }, () => ask(router, nameOf(0))));
  assert.ok(loadsOf(mocks) >= 2, `${loadsOf(mocks)} loads`);
});
