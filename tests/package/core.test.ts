import assert from "node:assert/strict";
import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { type MockReplica, startMockReplica } from "../../apps/lab/mock/replica.ts";
import { installed, MACHINES, type Machine, runOn } from "../support/package/packed.ts";
import { ROOT } from "../support/suite/runtimes.ts";

const RUN: Readonly<Record<Machine, string>> = { node: "node app.mjs", deno: "deno run -A app.mjs", bun: "bun app.mjs" };

/** The example's modules, in JavaScript. */
const APP = `import { createCore } from "signalbox/core";
import chat from "signalbox/plugins/parsers/chat-completions.ts";
import maxScore from "signalbox/plugins/pickers/max-score.ts";
const core = await createCore({ endpoints: [REPLICA], modules: [chat, maxScore] });
await core.whenReady(5_000);
const body = JSON.stringify({ model: "m", messages: [{ role: "user", content: "Hi" }], max_tokens: 2 });
const response = await core.fetch(new Request("http://core/v1/chat/completions", { method: "POST", headers: { "content-type": "application/json" }, body }));
console.log(response.status, (await response.json()).object);
await core.close();
`;

describe("a program with the installed package's core and built-in modules", () => {
  let replica: MockReplica;
  let folder: string;
  before(async () => {
    replica = await startMockReplica({ model: "m", timeScale: 0 });
    folder = await installed();
    writeFileSync(join(folder, "app.mjs"), APP.replace("REPLICA", JSON.stringify(replica.url)));
  });
  after(() => replica.close());

  for (const machine of MACHINES)
    it(`routes a request on ${machine}`, { timeout: 120_000 }, async () => {
      const { code, out, err } = await runOn(machine, folder, RUN[machine]);
      assert.equal(code, 0, err);
      assert.equal(out.trim(), "200 chat.completion");
    });

  it("has the types of the example", { timeout: 120_000 }, async () => {
    cpSync(join(ROOT, "examples/embed-core.ts"), join(folder, "embed-core.ts"));
    const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
    const line = `node ${tsc} --noEmit --strict --target es2022 --module nodenext embed-core.ts`;
    const { code, out, err } = await runOn("node", folder, line);
    assert.equal(code, 0, out + err);
  });
});
