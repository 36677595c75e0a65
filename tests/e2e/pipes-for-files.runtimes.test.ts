import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { after, before, it } from "node:test";
import { makeAuthority } from "../support/certificates.ts";
import { exchange, postBytes, readAnswer } from "../support/raw-client.ts";
import { startReloadingRouter } from "../support/reloading.ts";
import { answerOk } from "../support/scripted-pool.ts";
import { type ScriptedReplica, startScriptedReplica } from "../support/scripted-replica.ts";

let replica: ScriptedReplica;
before(async () => {
  replica = await startScriptedReplica(answerOk);
});
after(() => replica.close());

const KEY = "k".repeat(20);
const ASK = postBytes(
  "/v1/chat/completions",
  '{"model":"m","messages":[{"role":"user","content":"hi"}]}',
  `Authorization: Bearer ${KEY}\r\n`,
);

it("a named pipe in the place of any file is told at once; requests go on, and SIGTERM ends the program as ever", {
  timeout: 120_000,
}, async () => {
  const files: Readonly<Record<string, string>> = {
    "signalbox.yaml": `apiVersion: signalbox/v1
kind: Router
spec:
  pool:
    endpoints: [ { name: one, url: "${replica.url}" } ]
    auth: { bearer: "file:token" }
    tls: { caFile: ca.crt }
  auth: { keysFile: keys.yaml }
  plugins: [ { from: ./plugin.ts } ]
`,
    "keys.yaml": `- { name: a, sha256: ${createHash("sha256").update(KEY).digest("hex")} }\n`,
    token: "secret",
    "ca.crt": makeAuthority("pipes").cert,
    "plugin.ts": `import { defineScorer } from "signalbox/plugin";
import { weight } from "./weight.ts";
export default defineScorer({ type: "own", create: () => ({ score: () => weight }) });
`,
    "weight.ts": "export const weight = 1;\n",
    "package.json": '{ "type": "module" }\n',
  };
  const router = await startReloadingRouter(files);
  const serves = async () => assert.equal(readAnswer(await exchange(router.process.port, ASK)).status, 200);
  await serves();
  for (const [name, text] of Object.entries(files)) {
    const { lastReload } = (await router.status()).config;
    // In one step: a look at the files between two would find none.
    execFileSync("/bin/sh", ["-c", 'mkfifo "$0.pipe" && mv -f "$0.pipe" "$0"', router.at(name)]);
    router.process.kill("SIGHUP");
    const told = await router.untilReload((config) => config.lastReload !== null && config.lastReload.at !== lastReload?.at);
    assert.match(JSON.stringify(told), /it is a named pipe|is no regular file/, name);
    await serves();
    // The last one stays.
    if (name !== "package.json") {
      router.write(name, text);
      router.process.kill("SIGHUP");
      await router.untilReload((config) => config.lastReload?.at !== told.config.lastReload?.at);
    }
  }
  router.process.kill("SIGTERM");
  assert.equal((await router.process.exited).code, 0);
});
