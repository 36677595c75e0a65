import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { exchange, postBytes, readAnswer } from "../support/raw-client.ts";
import { waitUntil } from "../support/router.ts";
import { type RouterProcess, startRouterProcess } from "../support/router-process.ts";
import { CHAT, chatPost, OK } from "../support/scripted-pool.ts";
import { type ScriptedReplica, startScriptedReplica } from "../support/scripted-replica.ts";

const PLUGIN = join(import.meta.dirname ?? ".", "..", "support", "stray-scorer.ts");
const FAULTS: readonly (readonly [model: string, logged: RegExp])[] = [
  ["rejects", /A rejected promise that no code handled.*stray: rejected/],
  ["timer", /An error that no code caught.*stray: in a timer/],
  ["microtask", /An error that no code caught.*stray: in a microtask/],
  ["unprintable", /A rejected promise that no code handled.*a value that can't be shown/],
  ["nothing", /A rejected promise that no code handled.*undefined/],
];
const MODELS = FAULTS.map(([model]) => model);

describe("a plugin's fault that no code can catch", () => {
  let replica: ScriptedReplica;
  before(async () => {
    replica = await startScriptedReplica((_request, socket) => void socket.write(OK), ["m", ...MODELS]);
  });
  const spec = `  plugins: [ { from: "${PLUGIN}", name: stray } ]\n  profiles: [ { name: default, plugins: [ { pluginRef: stray } ] } ]`;
  const routers: RouterProcess[] = [];
  const start = async () => {
    const router = await startRouterProcess([replica.url], { spec });
    routers.push(router);
    return router;
  };
  after(async () => {
    for (const router of routers) router.kill("SIGKILL");
    await replica.close();
  });
  const statusOf = async (router: RouterProcess, model: string) =>
    readAnswer(await exchange(router.port, postBytes(CHAT, `{"model":"${model}","messages":[]}`))).status;

  it("is logged, costs nobody a request, and SIGTERM ends the process as ever", { timeout: 60_000 }, async () => {
    const router = await start();
    for (const [model, logged] of FAULTS) {
      assert.equal(await statusOf(router, model), 200, model);
      await waitUntil(() => logged.test(router.errors));
      assert.equal(await statusOf(router, "m"), 200, `after ${model}`);
    }
    router.kill("SIGTERM");
    assert.equal((await router.exited).code, 0);
  });

  it("does no more harm when nobody reads the log", { timeout: 60_000 }, async () => {
    const router = await start();
    router.closeOutput("stderr");
    for (let i = 0; i < 20; i++) {
      for (const model of [...MODELS, "m"]) assert.equal(await statusOf(router, model), 200, model);
    }
    router.kill("SIGTERM");
    assert.equal((await router.exited).code, 0);
  });
});

it("an access log that nobody reads is reported once and costs nobody a request", { timeout: 60_000 }, async () => {
  const replica = await startScriptedReplica((_request, socket) => void socket.write(OK));
  const router = await startRouterProcess([replica.url]);
  after(async () => {
    router.kill("SIGKILL");
    await replica.close();
  });
  router.closeOutput("stdout");
  const post = () => exchange(router.port, chatPost());
  while (!router.errors.includes("access log lines are lost")) assert.equal(readAnswer(await post()).status, 200);
  for (let i = 0; i < 50; i++) await post();
  router.kill("SIGTERM");
  assert.equal((await router.exited).code, 0);
  assert.equal(router.errors.split("\n").filter((line) => line.includes("access log lines are lost")).length, 1);
});
