/** What stands in front of every profile, whatever filters it lists. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { type MockReplica, startMockReplica } from "../../apps/lab/mock/replica.ts";
import { startTestRouter } from "../support/router.ts";
import { CHAT } from "../support/scripted-pool.ts";

describe("a profile that lists a filter of its own", () => {
  let loading: MockReplica;
  let up: MockReplica;
  before(async () => {
    const options = { model: "m", timeScale: 0, replyTokens: 1 };
    [loading, up] = await Promise.all([startMockReplica({ ...options, loadingMs: 600_000 }), startMockReplica({ ...options })]);
  });
  after(() => Promise.all([loading.close(), up.close()]));

  const spec = (
    profile: string,
  ) => `  pool: { endpoints: [{ url: "${loading.url}", labels: { gpu: h100 } }, { url: "${up.url}", labels: { gpu: h100 } }] }
  plugins: [{ type: label-selector, name: h100, parameters: { matchLabels: { gpu: h100 } } }]
  profiles: [{ ${profile}plugins: [{ pluginRef: h100 }, { pluginRef: round-robin }] }]`;
  const answered = (replica: MockReplica) => replica.seen.requests.filter(({ path }) => path === CHAT).length;

  const run = async (profile: string) => {
    const router = await startTestRouter([], { spec: spec(profile), ready: 1 });
    const statuses: number[] = [];
    const counts = [answered(loading), answered(up)];
    for (const model of ["m", "m", "m", "m", "unknown", "unknown"]) {
      const body = JSON.stringify({ model, messages: [{ role: "user", content: "hello" }] });
      const answer = await fetch(`${router.url}${CHAT}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body,
      });
      statuses.push(answer.status);
      await answer.text();
    }
    await router.close();
    return { statuses, toLoading: answered(loading) - counts[0]!, toUp: answered(up) - counts[1]! };
  };

  it("sends nothing to a replica that loads, and answers itself for a model that nobody has", async () => {
    assert.deepEqual(await run(""), { statuses: [200, 200, 200, 200, 404, 404], toLoading: 0, toUp: 4 });
  });

  it("sends both where it says that it is unguarded", async () => {
    const { toLoading, toUp } = await run("unguarded: true, ");
    assert.ok(toLoading > 0);
    assert.ok(toUp > 0);
  });
});
