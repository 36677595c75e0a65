/** A retry goes to any replica that could serve the request: what a filter only wishes gives way, what it needs does not. */
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { FakeClock } from "../support/fake-clock.ts";
import { exchange, postBytes, readAnswer } from "../support/raw-client.ts";
import { readyCount, startTestRouter, waitUntil } from "../support/router.ts";
import { answerOk, assertIdle, CHAT, chatBody } from "../support/scripted-pool.ts";
import { jsonAnswer, type Script, type ScriptedReplica, startScriptedReplica } from "../support/scripted-replica.ts";
import { toldDiscovery } from "../support/told-discovery.ts";

const spec = (filter: string, more = "") =>
  `  plugins: [ { type: told }, { name: own, ${filter} } ]
  profiles: [ { plugins: [ { pluginRef: ready }, { pluginRef: serves-model }, { pluginRef: own }, { pluginRef: round-robin } ] } ]
  retries: { backoffMs: 0 }
${more}`;

/** Three replicas, labelled with their zones; only the first two have the label `fits`. */
async function setUp(config: string, scripts: readonly Script[] = [answerOk, answerOk, answerOk]) {
  const replicas: readonly ScriptedReplica[] = await Promise.all(scripts.map((script) => startScriptedReplica(script)));
  const discovery = toldDiscovery();
  // Its clock stands still once all are ready, so that no probe notices what happens to them.
  const clock = new FakeClock();
  const router = await startTestRouter([], { spec: config, plugins: [discovery.definition], clock });
  after(async () => {
    await router.close();
    await Promise.all(replicas.map((replica) => replica.close()));
  });
  discovery.tellSpecs(
    replicas.map(({ url }, index) => ({
      name: `r${index}`,
      url,
      labels: { "topology.kubernetes.io/zone": `z${index}`, fits: index < 2 ? "yes" : "no" },
    })),
  );
  for (let second = 0; second < 10 && readyCount(router.router) < replicas.length; second++) {
    await clock.advance(1_000);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  await waitUntil(() => readyCount(router.router) === replicas.length);
  const ask = async (lines = "", content = "hello") => {
    const body = chatBody().replace("hello", content);
    const { status, head, json } = readAnswer(await exchange(router.port, postBytes(CHAT, body, lines)));
    return {
      status,
      by: /^x-signalbox-endpoint: (.*?)\r?$/im.exec(head)?.[1],
      message: (json["error"] as { message?: string })?.message,
    };
  };
  return { router, replicas, ask };
}

const session = (name: string) => `X-Session-Token: ${Buffer.from(name).toString("base64")}\r\n`;
const SESSION = "type: session-affinity-filter";
const TOPOLOGY = "type: topology-filter, parameters: { minAffinity: zone, near: { zone: z0 } }";
const PREFIX = "type: prefix-cache-affinity";
const LONG = "once upon a time ".repeat(400);
const refuses: Script = (_request, socket) => void socket.write(jsonAnswer("{}", "503 Service Unavailable"));

describe("a request goes on to a replica that only a wish kept it from", () => {
  it("where the process that its session is pinned to has ended, and moves there", async () => {
    const { router, replicas, ask } = await setUp(spec(SESSION));
    assert.equal((await ask(session("r0"))).by, "r0");
    await replicas[0]!.close();
    const { status, by } = await ask(session("r0"));
    assert.equal(status, 200);
    assert.match(by ?? "", /^r[12]$/);
    await waitUntil(() => router.log.length === 2);
    const results = router.log[1]!.attempts.map(({ endpoint, result }) => `${endpoint} ${result}`);
    assert.deepEqual([results[0]?.slice(0, 2), results.at(-1)], ["r0", `${by} 200`]);
    await assertIdle(router);
  });

  it("where the one that its session is pinned to has too much to do", async () => {
    const { ask } = await setUp(spec(SESSION), [refuses, answerOk, answerOk]);
    const { status, by } = await ask(session("r0"));
    assert.equal(status, 200);
    assert.match(by ?? "", /^r[12]$/);
  });

  it("where the only one in its zone has ended", async () => {
    const { replicas, ask } = await setUp(spec(TOPOLOGY));
    assert.equal((await ask()).by, "r0");
    await replicas[0]!.close();
    assert.equal((await ask()).status, 200);
  });

  it("where the one that holds its prompt has ended", async () => {
    const { replicas, ask } = await setUp(spec(PREFIX));
    const { by: holder } = await ask("", LONG);
    for (let n = 0; n < 3; n++) assert.equal((await ask("", LONG)).by, holder);
    await replicas[Number(holder!.slice(1))]!.close();
    assert.equal((await ask("", LONG)).status, 200);
  });

  it("where a limit behind the wish leaves none: it never sees the pinned one", async () => {
    const config = spec(SESSION).replace("{ pluginRef: own },", "{ pluginRef: own }, { pluginRef: fit },");
    const { ask } = await setUp(
      config.replace(
        "{ type: told },",
        "{ type: told }, { name: fit, type: by-label, parameters: { label: fits, validValues: [yes] } },",
      ),
    );
    const { status, by } = await ask(session("r2"));
    assert.equal(status, 200);
    assert.match(by ?? "", /^r[01]$/);
  });
});

describe("a request goes to no replica that a need keeps it from", () => {
  it("where those with the label have ended, and is told so", async () => {
    const config = spec("type: by-label, parameters: { label: fits, validValues: [yes] }", "  limits: { retries: 5 }\n");
    const { replicas, ask } = await setUp(config);
    for (const replica of replicas.slice(0, 2)) await replica.close();
    const { status, message } = await ask();
    assert.equal(status, 502);
    assert.equal(
      message,
      "No replica that may serve this request could be reached (2 tried); check that the replicas are running.",
    );
    assert.equal(replicas[2]!.requests.length, 0);
  });

  it("and is told where there were others, which it was not allowed to try", async () => {
    const { replicas, ask } = await setUp(spec(SESSION, "  limits: { retries: 0 }\n"));
    await replicas[0]!.close();
    const { status, message } = await ask(session("r0"));
    assert.equal(status, 502);
    assert.match(message ?? "", /^The replicas that were tried \(1\) could not be reached; .*limits\.retries\.$/);
  });
});
