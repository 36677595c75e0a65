import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { type MockReplica, startMockReplica } from "../../apps/lab/mock/replica.ts";
import { startTestRouter, type TestRouter, waitUntil } from "../support/router.ts";

const AT_ONCE = 16;

/** Sets faults of a mock replica, over its own control path. */
async function setFaults(replica: MockReplica, faults: object): Promise<void> {
  const response = await fetch(`${replica.url}/mock/faults`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(faults),
  });
  assert.equal(response.status, 200);
}

/** One streamed chat; true when it came whole. */
async function chat(router: TestRouter, index: number): Promise<boolean> {
  const content = `conversation ${index % 20}, `.repeat(30) + index;
  const body = JSON.stringify({ model: "m", stream: true, max_tokens: 4, messages: [{ role: "user", content }] });
  const headers = { "content-type": "application/json" };
  try {
    const response = await fetch(`${router.url}/v1/chat/completions`, { method: "POST", headers, body });
    const text = await response.text();
    return response.status === 200 && text.endsWith("data: [DONE]\n\n");
  } catch {
    return false;
  }
}

async function countFailed(router: TestRouter, requests: number): Promise<number> {
  let next = 0;
  let failed = 0;
  const client = async () => {
    while (next < requests) {
      next += 1;
      if (!(await chat(router, next))) failed += 1;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, client));
  return failed;
}

async function setUp(spec = "", count = 4): Promise<{ router: TestRouter; replicas: MockReplica[] }> {
  const replicas = await Promise.all(Array.from({ length: count }, () => startMockReplica({ model: "m", timeScale: 0.3 })));
  const router = await startTestRouter(
    replicas.map(({ url }) => url),
    { spec },
  );
  after(async () => {
    await router.close();
    await Promise.all(replicas.map((replica) => replica.close()));
  });
  return { router, replicas };
}

const first = ({ router }: TestRouter) => router.pool.facts.endpoints[0]!;

it("an ejected replica is tried with single requests, and returns when one succeeds", async () => {
  const { router, replicas } = await setUp("  ejection: { baseSeconds: 0.5, warmUpTokens: 500 }\n");
  await setFaults(replicas[0]!, { reset: true });
  await countFailed(router, 60);
  await waitUntil(() => first(router).isOnTrial);
  const ejections = router.router.control.judge.countOf(first(router));
  assert.equal(await countFailed(router, 40), 1);
  assert.equal(router.router.control.judge.countOf(first(router)), ejections + 1);

  // What it refuses without working on it goes to a spare.
  await setFaults(replicas[0]!, { reset: false, status: 503 });
  await waitUntil(() => first(router).isOnTrial);
  assert.equal(await countFailed(router, 40), 0);
  assert.equal(router.router.control.judge.countOf(first(router)), ejections + 2);
  assert.ok(router.log.some(({ attempts }) => attempts.length === 2 && attempts[0]?.result === 503));

  await setFaults(replicas[0]!, { status: false });
  await waitUntil(() => first(router).isOnTrial);
  const isBack = () => first(router).phase === "ready" && first(router).share === 1;
  // Its share grows with what it serves, and how much of so few requests it gets is a matter of luck.
  for (let round = 0; round < 20 && !isBack(); round++) assert.equal(await countFailed(router, 100), 0);
  await waitUntil(isBack);
});

describe("what ejects nobody", () => {
  it("a request that fails wherever it goes", async () => {
    const { router, replicas } = await setUp("  profiles: [ { plugins: [ { pluginRef: round-robin } ] } ]\n", 3);
    for (const replica of replicas) await setFaults(replica, { status: 500 });
    for (let i = 0; i < 12; i++) assert.equal(await chat(router, 7), false);
    assert.deepEqual(
      router.router.pool.facts.endpoints.map(({ phase }) => phase),
      ["ready", "ready", "ready"],
    );
  });

  it("what is the client's own fault", async () => {
    const { router, replicas } = await setUp("", 2);
    await setFaults(replicas[0]!, { status: 400 });
    await setFaults(replicas[1]!, { status: 429 });
    await countFailed(router, 40);
    assert.deepEqual(
      router.router.pool.facts.endpoints.map(({ phase }) => phase),
      ["ready", "ready"],
    );
  });

  it("ejection: false", async () => {
    const { router, replicas } = await setUp("  ejection: false\n", 2);
    await setFaults(replicas[0]!, { reset: true });
    await countFailed(router, 40);
    assert.equal(first(router).phase, "ready");
  });
});

it("all replicas say 503: few requests are delivered more than once", async () => {
  const { router, replicas } = await setUp("", 3);
  for (const replica of replicas) await setFaults(replica, { status: 503 });
  await countFailed(router, 200);
  const deliveries = router.log.reduce((sum, { attempts }) => sum + attempts.length, 0);
  assert.ok(deliveries <= 1.2 * 200 + 3, `${deliveries} deliveries of 200 requests`);
});

it("a wedged replica's requests go elsewhere where the config says so", async () => {
  const { router, replicas } = await setUp("  retries: { wedged: true }\n");
  await setFaults(replicas[0]!, { hang: true });
  assert.equal(await countFailed(router, 100), 0);
  assert.ok(router.log.some(({ attempts }) => attempts.length === 2 && attempts[0]?.result === "wedged"));
});
