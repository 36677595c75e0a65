import assert from "node:assert/strict";
import { after, it } from "node:test";
import { collectedLog } from "../support/collected-log.ts";
import { startMetricsReplica } from "../support/metrics-replica.ts";
import { startTestRouter, waitUntil } from "../support/router.ts";

/** Says what vLLM says of its sleep. */
async function startReplica() {
  const state = { isAsleep: false, hasMetrics: true };
  const sleep = () => `vllm:engine_sleep_state{engine="0",sleep_state="awake"} ${state.isAsleep ? 0 : 1}
vllm:engine_sleep_state{engine="0",sleep_state="weights_offloaded"} ${state.isAsleep ? 1 : 0}
vllm:engine_sleep_state{engine="0",sleep_state="discard_all"} 0
`;
  const { counted, url } = await startMetricsReplica(() => (state.hasMetrics ? sleep() : null));
  return { state, counted, url };
}

it("an engine that sleeps gets nothing until it wakes, although its probes succeed", async () => {
  const replicas = await Promise.all([startReplica(), startReplica()]);
  const operatorLog = collectedLog();
  const router = await startTestRouter(
    replicas.map(({ url }) => url),
    { operatorLog, spec: "  plugins: [ { type: metrics, parameters: { periodMs: 50, idlePeriodMs: 50 } } ]\n" },
  );
  after(() => router.close());
  const [first, second] = replicas.map(({ state }) => state);
  const phases = () => router.router.pool.facts.endpoints.map(({ phase }) => phase).join(" ");
  const ask = async () => {
    const answer = await fetch(`${router.url}/v1/completions`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: '{"model":"m","prompt":"x"}',
    });
    return [answer.status, await answer.text()] as const;
  };
  await waitUntil(() => phases() === "ready ready");
  first!.isAsleep = true;
  await waitUntil(() => phases() === "asleep ready");
  const [before, others] = replicas.map(({ counted }) => counted.requests);
  for (let i = 0; i < 6; i++) assert.equal((await ask())[0], 200);
  assert.deepEqual(
    replicas.map(({ counted }) => counted.requests),
    [before, others! + 6],
  );

  first!.hasMetrics = false;
  await new Promise((resolve) => setTimeout(resolve, 400));
  assert.equal(phases(), "asleep ready", "metrics that can't be read do not wake it");
  first!.hasMetrics = true;

  second!.isAsleep = true;
  await waitUntil(() => phases() === "asleep asleep");
  const [status, text] = await ask();
  assert.equal(status, 503);
  assert.match(text, /2 asleep/);

  first!.isAsleep = false;
  await waitUntil(() => phases() === "ready asleep");
  assert.equal((await ask())[0], 200);
  for (const line of ["A replica is asleep", "its engine was woken"])
    assert.ok(
      operatorLog.lines.some((one) => one.includes(line)),
      line,
    );
});
