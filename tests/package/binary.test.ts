import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { type MockReplica, startMockReplica } from "../../apps/lab/mock/replica.ts";
import { MACHINES, type Machine, newFolder, runOn, startOn } from "../support/package/packed.ts";
import { ROOT } from "../support/suite/runtimes.ts";

const why = process.env["SIGNALBOX_BINARIES"] ? false : "SIGNALBOX_BINARIES=1 builds single binaries, which takes a while";

const plugin = (name: string, type = "") => `import { defineScorer } from "signalbox/plugin";
const header${type} = "x-${name}";
export default defineScorer({ type: "${name}", summary: "", create: () => ({ score: () => null, responseHeader: () => [header, "yes"] }) });
`;
const spec = (url: string) => ({
  pool: { endpoints: [{ url }] },
  plugins: [{ from: "./js.mjs" }, { from: "./ts.ts" }],
});

/** Says why it can't be built here, or "". */
function build(machine: Machine, file: string): Promise<string> {
  const words = ["--import", "tsx", "tests/support/package/binary.ts", machine, file];
  return new Promise((settle) => {
    execFile(process.execPath, words, { cwd: ROOT }, (error, _, said) => settle(error === null ? "" : said || String(error)));
  });
}

describe("the program as one file", { skip: why }, () => {
  let replica: MockReplica;
  before(async () => {
    replica = await startMockReplica({ model: "demo" });
  });
  after(() => replica.close());

  for (const machine of MACHINES) {
    it(`for ${machine} routes requests, with plugins from paths`, { timeout: 300_000 }, async (t) => {
      const folder = newFolder(`binary-${machine}`);
      const program = join(folder, "signalbox");
      const trouble = await build(machine, program);
      if (machine === "deno" && /error sending request|dns error|denort/i.test(trouble)) {
        console.error("WARNING: Deno's runtime for binaries can't be fetched here, so none is built for Deno.");
        return t.skip("Deno fetches its runtime for binaries, which fails here");
      }
      assert.equal(trouble.replaceAll(/^warning: .*\n|^Wrote single .*\n/gm, ""), "");
      writeFileSync(join(folder, "js.mjs"), plugin("js"));
      writeFileSync(join(folder, "ts.ts"), plugin("ts", ": string"));
      const document = { apiVersion: "signalbox/v1", kind: "Router", spec: spec(replica.url) };
      writeFileSync(join(folder, "signalbox.json"), JSON.stringify(document));
      mkdirSync(join(folder, "node_modules"));
      symlinkSync(join(ROOT, "node_modules", "tsx"), join(folder, "node_modules", "tsx"));

      const { out, err } = await runOn(machine, folder, `${program} version`);
      assert.match(out, new RegExp(`^signalbox \\d+\\.\\d+\\.\\d+ on ${machine} `));
      assert.equal(err, "");
      const router = await startOn(machine, folder, `${program} start -f signalbox.json`);
      const body = JSON.stringify({ model: "demo", messages: [{ role: "user", content: "Hi" }], max_tokens: 2 });
      const headers = { "content-type": "application/json" };
      const response = await fetch(`${router.url}/v1/chat/completions`, { method: "POST", headers, body });
      await response.text();
      assert.deepEqual([response.status, response.headers.get("x-js"), response.headers.get("x-ts")], [200, "yes", "yes"]);
      await router.stop();
      const demo = await startOn(machine, newFolder(`demo-${machine}`), `${program} start`);
      assert.equal((await fetch(`${demo.url}/v1/models`)).status, 200);
      await demo.stop();
      const made = await runOn(machine, folder, `${program} new scorer mine`);
      assert.equal(made.code, 0, made.err);
    });
  }
});
