import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, it } from "node:test";
import { exchange, openClient, postBytes, readAnswer } from "../support/raw-client.ts";
import { waitUntil } from "../support/router.ts";
import { startRouterProcess } from "../support/router-process.ts";
import { answerOk, chatPost } from "../support/scripted-pool.ts";
import { type ScriptedReplica, startScriptedReplica } from "../support/scripted-replica.ts";

const TIMEOUT = { timeout: 90_000 };
const ASK = postBytes("/v1/completions", '{"model":"m","prompt":"stuck"}');

/** One for each way to get stuck, with what names it. */
const PLUGINS = {
  "in a scorer": {
    named: /"plugin":"own \(/,
    code: `import { defineScorer } from "signalbox/plugin";
class Own { #stuck = "/v1/completions"; score(request) { while (request.path === this.#stuck); return null; } }
export default defineScorer({ type: "own", create: () => new Own() });`,
  },
  "in an observer": {
    named: /"plugin":"own \(/,
    code: `import { defineObserver } from "signalbox/plugin";
export default defineObserver({ type: "own", create: () => ({ finished(outcome) { while (outcome.request?.path === "/v1/completions"); } }) });`,
  },
  "in a timer of a plugin": {
    named: /in no call of a plugin.*"lastPlugin":"own \(/,
    code: `import { defineScorer } from "signalbox/plugin";
const score = (request) => { if (request.path === "/v1/completions") setTimeout(() => { for (;;); }, 10); return null; };
export default defineScorer({ type: "own", create: () => ({ score }) });`,
  },
} as const;

let replica: ScriptedReplica;
let folder = "";
before(async () => {
  replica = await startScriptedReplica(answerOk);
  folder = mkdtempSync(join(tmpdir(), "signalbox-watchdog-"));
});
after(async () => {
  rmSync(folder, { recursive: true });
  await replica.close();
});

async function startWith(code: string, stuckMs: number) {
  const config = join(folder, `${Math.random()}.yaml`);
  writeFileSync(`${config}.mjs`, code);
  const spec = `{ admin: false, limits: { stuckMs: ${stuckMs} }, plugins: [ { name: own, from: "${config}.mjs" } ] }`;
  writeFileSync(config, `apiVersion: signalbox/v1\nkind: Router\nspec: ${spec}\n`);
  const router = await startRouterProcess([replica.url], { config });
  after(() => router.kill("SIGKILL"));
  return router;
}

for (const [where, { named, code }] of Object.entries(PLUGINS))
  it(`a program that is stuck ${where} says so and ends itself`, TIMEOUT, async () => {
    const router = await startWith(code, 2_500);
    assert.equal(readAnswer(await exchange(router.port, chatPost())).status, 200);
    const client = await openClient(router.port);
    client.send(ASK);
    assert.equal((await router.exited).code, "SIGALRM");
    client.destroy();
    assert.match(router.errors, named);
    assert.match(router.errors, /ends itself with SIGALRM, see spec\.limits\.stuckMs/);
  });

it("one that takes long and returns is told of, and nothing ends", TIMEOUT, async () => {
  const code = `import { defineScorer } from "signalbox/plugin";
const cpuMs = () => process.cpuUsage().user / 1000;
const score = (request) => {
  const end = cpuMs() + (request.path === "/v1/completions" ? 2_500 : 0);
  while (cpuMs() < end);
  return null;
};
export default defineScorer({ type: "own", create: () => ({ score }) });`;
  const router = await startWith(code, 0);
  assert.equal(readAnswer(await exchange(router.port, ASK)).status, 200);
  await waitUntil(() => router.errors.includes("The program runs again"));
  assert.match(router.errors, /A plugin does not return: nothing else runs","plugin":"own \(/);
  router.kill("SIGTERM");
  assert.equal((await router.exited).code, 0);
});
