import assert from "node:assert/strict";
import { join } from "node:path";
import { after, it } from "node:test";
import { exchange, readAnswer } from "../support/raw-client.ts";
import { startRouterProcess } from "../support/router-process.ts";
import { answerOk, chatPost } from "../support/scripted-pool.ts";
import { startScriptedReplica } from "../support/scripted-replica.ts";

const PROGRAM = join(import.meta.dirname ?? ".", "..", "support", "early-signals-process.ts");

it("signals that come while the program loads neither end it nor open a debugger", { timeout: 60_000 }, async () => {
  const replica = await startScriptedReplica(answerOk);
  const router = await startRouterProcess([replica.url], { program: PROGRAM });
  after(async () => {
    router.kill("SIGKILL");
    await replica.close();
  });
  assert.equal(readAnswer(await exchange(router.port, chatPost())).status, 200);
  assert.doesNotMatch(router.printed + router.errors, /[Dd]ebugger|[Ii]nspector/);
  router.kill("SIGTERM");
  assert.equal((await router.exited).code, 0);
});
