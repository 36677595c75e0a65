import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { type MockReplica, startMockReplica } from "../../core/mock/replica.ts";
import { startTestRouter, type TestRouter, waitUntil } from "../support/router.ts";

const REQUESTS = 300;
const AT_ONCE = 16;
/** Three failures in a row eject; what was under way at that moment may fail too. */
const MOST_FAILED = 9;

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

async function countFailed(router: TestRouter, requests = REQUESTS): Promise<number> {
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

const first = ({ router }: TestRouter) => router.facts.endpoints[0]!;

describe("one of four replicas", () => {
  const cases: readonly (readonly [name: string, faults: object, reason: RegExp])[] = [
    ["answers everything with 500", { status: 500 }, /3 failures in a row, the last: status 500/],
    ["resets every connection", { reset: true }, /3 failures in a row, the last: reset/],
    ["says 404 for the model that it lists", { status: 404 }, /3 times 404 for "m"/],
    ["says 503, which other replicas make good", { status: 503 }, /3 failures in a row, the last: status 503/],
    ["breaks its streams off", { resetAfterEvents: 2 }, /3 failures in a row, the last: reset/],
    ["answers with what is not HTTP", { malformedHead: true }, /3 failures in a row, the last: invalid/],
    ["takes requests and sends nothing", { hang: true }, /no byte came for \d+ s/],
  ];
  for (const [name, faults, reason] of cases) {
    it(`${name}: it is ejected, and few requests notice`, async () => {
      const { router, replicas } = await setUp();
      await setFaults(replicas[0]!, faults);
      const failed = await countFailed(router);
      assert.ok(failed <= MOST_FAILED, `${failed} of ${REQUESTS} failed`);
      // A 503 also pauses its replica, so three in a row take longer than these requests may.
      for (let turn = 0; turn < 50 && first(router).ejection === undefined; turn++) await countFailed(router, 40);
      assert.equal(first(router).phase, "ejected");
      assert.match(first(router).ejection?.reason ?? "", reason);
      assert.equal(router.router.facts.endpoints.filter(({ isAvailable }) => isAvailable).length, 3);
    });
  }
});

it("an ejected replica is tried with single requests, and returns when one succeeds", async () => {
  const { router, replicas } = await setUp("  ejection: { baseSeconds: 0.5, warmUpTokens: 500 }\n");
  await setFaults(replicas[0]!, { reset: true });
  await countFailed(router, 60);
  await waitUntil(() => first(router).isOnTrial);
  const ejections = router.router.ejectionsOf(first(router));
  assert.equal(await countFailed(router, 40), 1);
  assert.equal(router.router.ejectionsOf(first(router)), ejections + 1);

  await setFaults(replicas[0]!, { reset: false });
  await waitUntil(() => first(router).isOnTrial);
  assert.equal(await countFailed(router, 200), 0);
  await waitUntil(() => first(router).phase === "ready" && first(router).share === 1);
});

describe("what ejects nobody", () => {
  it("a request that fails wherever it goes", async () => {
    const { router, replicas } = await setUp("  profiles: [ { plugins: [ { pluginRef: round-robin } ] } ]\n", 3);
    for (const replica of replicas) await setFaults(replica, { status: 500 });
    for (let i = 0; i < 12; i++) assert.equal(await chat(router, 7), false);
    assert.deepEqual(
      router.router.facts.endpoints.map(({ phase }) => phase),
      ["ready", "ready", "ready"],
    );
  });

  it("what is the client's own fault", async () => {
    const { router, replicas } = await setUp("", 2);
    await setFaults(replicas[0]!, { status: 400 });
    await setFaults(replicas[1]!, { status: 429 });
    await countFailed(router, 40);
    assert.deepEqual(
      router.router.facts.endpoints.map(({ phase }) => phase),
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
