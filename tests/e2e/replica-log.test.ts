import assert from "node:assert/strict";
import { after, it } from "node:test";
import { startTestAdmin } from "../support/admin.ts";
import { collectedLog } from "../support/collected-log.ts";
import { exchange, postBytes, readAnswer } from "../support/raw-client.ts";
import { startTestRouter, waitUntil } from "../support/router.ts";
import { chatPost, OK } from "../support/scripted-pool.ts";
import { type Script, startScriptedReplica } from "../support/scripted-replica.ts";

/** Failing replicas are ejected for so short that they are on trial soon. */
const SPEC = "  ejection: { baseSeconds: 0.2 }";
const TIMEOUT = { timeout: 60_000 };

it("a replica that fails, recovers, is drained, and is ejected has one line for each of it", TIMEOUT, async () => {
  let isBroken = false;
  const script: Script = (_request, socket) => void (isBroken ? socket.destroy() : socket.write(OK));
  const replicas = await Promise.all([startScriptedReplica(script), startScriptedReplica((_, socket) => void socket.write(OK))]);
  const log = collectedLog();
  const router = await startTestRouter(
    replicas.map(({ url }) => url),
    { operatorLog: log, spec: SPEC },
  );
  const admin = await startTestAdmin(router.router, { log });
  after(async () => {
    await admin.close();
    await router.close();
    await Promise.all(replicas.map((replica) => replica.close()));
  });
  const [replica] = replicas;
  const { name } = router.router.pool.facts.endpoints[0]!;
  const phase = () => router.router.pool.facts.endpoints[0]!.phase;
  const requests = (count: number) => Promise.all(Array.from({ length: count }, () => exchange(router.port, chatPost())));
  const requestsUntil = async (isSo: () => boolean) => {
    // Where all requests go to the other replica, only a probe finds out.
    const endMs = performance.now() + 20_000;
    while (!isSo() && performance.now() < endMs) await requests(4);
    assert.ok(isSo());
  };
  const tell = async (action: string, wish = "{}") => {
    const answer = readAnswer(await exchange(admin.port, postBytes(`/api/v1/endpoints/${name}/${action}`, wish)));
    assert.equal(answer.status, 200);
  };
  /** The lines since the last call, in short. Every line is one of this replica. */
  let seen = 0;
  const told = () => {
    const lines = log.lines.slice(seen).map((line) => {
      const at = line.indexOf("{");
      const { endpoint, from, to, why, lastedS } = JSON.parse(line.slice(at)) as Record<string, unknown>;
      assert.equal(endpoint, name);
      assert.ok(typeof lastedS === "number" && lastedS >= 0, line);
      return `${line.slice(0, at)}${from} -> ${to}: ${why}`;
    });
    seen = log.lines.length;
    return lines;
  };
  assert.deepEqual(told(), [], "replicas that are ready at once are in the first line");

  await replica!.refuse();
  for (const socket of replica!.sockets) socket.destroy();
  await requestsUntil(() => phase() === "not-ready");
  await requests(8);
  assert.deepEqual(told(), ["warning: A replica is not ready any more ready -> not-ready: refused"]);

  await replica!.listenAgain();
  await waitUntil(() => phase() === "ready");
  await requests(8);
  assert.deepEqual(told(), ["info: A replica is ready not-ready -> ready: its probes succeed"]);

  await tell("drain", '{"reason":"new driver"}');
  await requests(8);
  assert.deepEqual(told(), ["info: A replica is drained ready -> draining: new driver"]);
  await tell("cordon");
  assert.deepEqual(told(), ["info: A replica is cordoned draining -> cordoned: an operator asked for it"]);
  await tell("undrain");
  await requests(8);
  assert.match(told().join(), /^info: A replica serves again cordoned -> ready: \S+ asked for it$/);
  await tell("drain", '{"forSeconds":0.05}');
  await waitUntil(() => phase() === "ready");
  assert.deepEqual(told(), [
    "info: A replica is drained ready -> draining: an operator asked for it",
    "info: A replica serves again draining -> ready: its time is over",
  ]);

  isBroken = true;
  await requestsUntil(() => log.lines.slice(seen).some((line) => line.includes("stays ejected")));
  isBroken = false;
  await requestsUntil(() => phase() === "ready");
  await requests(8);
  const lines = told();
  assert.match(lines[0]!, /^warning: A replica is ejected ready -> ejected: 3 failures in a row/);
  assert.equal(
    lines.at(-1)!.replace(/for .*/, "for …"),
    "info: A replica returns from its ejection ejected -> ready: was ejected for …",
  );
  for (const line of lines.slice(1, -1))
    assert.match(line, /^warning: A replica stays ejected ejected -> ejected: failed on trial: /);
});

it("a log that throws keeps nothing from taking effect", TIMEOUT, async () => {
  const replicas = await Promise.all([0, 1].map(() => startScriptedReplica((_, socket) => void socket.write(OK))));
  const fail = () => {
    throw new Error("no disk");
  };
  const router = await startTestRouter(
    replicas.map(({ url }) => url),
    { operatorLog: { info: fail, warn: fail, error: fail } },
  );
  after(async () => {
    await router.close();
    await Promise.all(replicas.map((replica) => replica.close()));
  });
  const [{ name } = { name: "" }, other] = router.router.pool.facts.endpoints;
  router.router.control.intents.set(name, { intent: "drain", reason: "", by: "", forMs: undefined, graceMs: 0 });
  for (let i = 0; i < 4; i++) assert.equal(readAnswer(await exchange(router.port, chatPost())).status, 200);
  await waitUntil(() => router.log.length === 4);
  assert.deepEqual(new Set(router.log.map(({ endpoint }) => endpoint)), new Set([other!.name]));
});
