import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, it } from "node:test";
import { collectedLog } from "../support/collected-log.ts";
import { startTestRouter, waitUntil } from "../support/router.ts";

/** A replica that says what vLLM says of its sleep; its probes always succeed, as those of a sleeping vLLM do. */
async function startReplica() {
  const state = { isAsleep: false, hasMetrics: true, requests: 0 };
  const metrics = () => `vllm:num_requests_running{engine="0"} 0
vllm:num_requests_waiting{engine="0"} 0
vllm:engine_sleep_state{engine="0",sleep_state="awake"} ${state.isAsleep ? 0 : 1}
vllm:engine_sleep_state{engine="0",sleep_state="weights_offloaded"} ${state.isAsleep ? 1 : 0}
vllm:engine_sleep_state{engine="0",sleep_state="discard_all"} 0
`;
  const server = createServer((request, response) => {
    if (request.url === "/metrics") return response.writeHead(state.hasMetrics ? 200 : 500).end(metrics());
    if (request.url === "/health") return response.end();
    if (request.method === "GET") return response.end('{"data":[{"id":"m"}]}');
    state.requests += 1;
    return request.resume().on("end", () => response.setHeader("content-type", "application/json").end("{}"));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  after(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return { state, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
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
  const before = first!.requests;
  for (let i = 0; i < 6; i++) assert.equal((await ask())[0], 200);
  assert.deepEqual([first!.requests, second!.requests >= 6], [before, true]);

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
