import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { killAll, run, signalboxWith } from "../support/cli.ts";
import { waitUntil } from "../support/router.ts";

after(killAll);

const scorer = (score: string, more = "") => `import { defineScorer } from "signalbox/plugin";
${more}
export default defineScorer({
  type: "mine",
  summary: "",
  create: () => ({ score: (_request, candidates) => candidates.map((_, at): number => ${score}) }),
});
`;
const CONFIG = `apiVersion: signalbox/v1
kind: Router
spec:
  plugins: [ { from: ./plugin.ts, name: mine } ]
  profiles: [ { plugins: [ { pluginRef: mine }, { pluginRef: outstanding-work } ] } ]
`;

/** A process is begun, and begun again, meanwhile. */
const until = (isTrue: () => boolean) => waitUntil(isTrue, 120_000);
const HALF = "export const half = () => 0.5;\n";

/** A folder with a config and its plugin, and what runs it. */
function prepare(text: string) {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-dev-"));
  after(() => rmSync(folder, { recursive: true }));
  const [config, plugin] = [join(folder, "signalbox.yaml"), join(folder, "plugin.ts")];
  writeFileSync(config, CONFIG);
  writeFileSync(plugin, text);
  // What is killed leaves its temporary folder behind, which goes with this one.
  const dev = () =>
    signalboxWith({ TMPDIR: folder }, "dev", "-f", config, "--requests", "20", "--port", "0", "--admin-port", "0");
  return { folder, plugin, dev };
}

describe("signalbox dev", () => {
  it("shows what a plugin makes of requests, takes what is saved, and keeps the last good one", {
    timeout: 300_000,
  }, async () => {
    const { plugin, dev } = prepare(scorer("0.5"));
    const { child, output, ended } = dev();
    const linesWith = (pattern: RegExp) => output.err.split("\n").filter((line) => pattern.test(line)).length;

    // The config names no replica, so there are three mock ones.
    await until(() => linesWith(/^ {4}mine: (?:\S+ 0\.50 *){3}, \d+\.\d{3} ms per request$/) > 0);

    writeFileSync(plugin, scorer("0.25"));
    await until(() => linesWith(/^ {4}mine: .* 0\.25/) > 0);

    writeFileSync(plugin, scorer("0.75").replace("});", "})) // broken"));
    await until(() => /plugin\.ts/.test(output.err));
    const before = linesWith(/^ {4}mine: .* 0\.25/);
    await until(() => linesWith(/^ {4}mine: .* 0\.25/) > before + 5);
    assert.equal(linesWith(/^ {4}mine: .* 0\.75/), 0);

    writeFileSync(plugin, scorer("at + 2"));
    await until(() => linesWith(/^ {4}! mine: Score 2 is not in \[0, 1\]/) > 0);
    // A request that began with the version before counts no fault of this one.
    await until(() => linesWith(/^ {4}mine: no opinion.*, \d+ faults so far$/) > 0);

    // Faults of the version before are none of this one's, and the router's own looks at itself are not shown.
    writeFileSync(plugin, scorer("0.125"));
    await until(() => linesWith(/^ {4}mine: .* 0\.13 .* per request$/) > 0);
    assert.equal(linesWith(/^ {4}mine: .* 0\.13 .*faults/), 0);
    assert.doesNotMatch(output.err, /\/v1\/models/);

    process.kill(child.pid!, "SIGTERM");
    assert.equal(await ended, 0);
  });

  describe("with a plugin that never returns", () => {
    const FOREVER = "{ for (;;); }";

    it("names it, and runs the last good one until another is saved", { timeout: 500_000 }, async () => {
      const { folder, plugin, dev } = prepare(scorer("half()", 'import { half } from "./half.ts";'));
      const helper = join(folder, "half.ts");
      writeFileSync(helper, HALF);
      const { output, child, ended } = dev();
      const after = (mark: number, pattern: RegExp) => until(() => pattern.test(output.err.slice(mark)));
      await after(0, /mine: .* 0\.50/);

      // In a file that it imports, in the plugin, and while it loads.
      for (const [file, text] of [
        [helper, HALF.replace("0.5", "0.25").replace("=>", "=> { for (;;); };\nexport const other = () =>")],
        [plugin, scorer(FOREVER)],
        [plugin, `${scorer("0.75")}\nfor (;;);`],
      ] as const) {
        const mark = output.err.length;
        writeFileSync(file, text);
        await after(mark, /A plugin does not return: nothing else runs.*plugin\.ts/);
        await after(mark, /starts again with the last versions that served a request.*plugin\.ts/);
        await after(output.err.length, /mine: .* 0\.50/);
        assert.doesNotMatch(output.err.slice(mark), /mine: .* 0\.(25|75)( {2}|, )/);
      }

      writeFileSync(plugin, scorer("0.125"));
      await after(0, /mine: .* 0\.13/);
      process.kill(child.pid!, "SIGTERM");
      assert.equal(await ended, 0);
    });

    it("waits for another where none was good before", { timeout: 300_000 }, async () => {
      const { plugin, dev } = prepare(scorer(FOREVER));
      const { output, child, ended } = dev();
      await until(() => /starts again when a file is saved: no version .* has served/.test(output.err));
      writeFileSync(plugin, scorer("0.5"));
      await until(() => /mine: .* 0\.50/.test(output.err));
      process.kill(child.pid!, "SIGINT");
      assert.equal(await ended, 0);
    });
  });

  it("leaves no router behind when it is killed", { timeout: 300_000 }, async () => {
    const { output, child } = prepare(scorer("0.5")).dev();
    await until(() => /mine: .* 0\.50/.test(output.err));
    const url = /listening on (http:\S+)/.exec(output.err)?.[1] ?? "";
    assert.equal((await fetch(`${url}/health`)).status, 200);
    process.kill(child.pid!, "SIGKILL");
    let isGone = false;
    for (let looks = 0; !isGone && looks < 100; looks++) {
      isGone = await fetch(`${url}/health`).then(
        () => false,
        () => true,
      );
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    assert.ok(isGone);
  });

  it("passes on why the router could not start", { timeout: 300_000 }, async () => {
    const { output, ended } = prepare("export default {{").dev();
    assert.equal(await ended, 1);
    assert.match(output.err, /plugin\.ts[\s\S]*Nothing was started/);
  });

  it("wants a config", async () => {
    const { code, err } = await run("dev");
    assert.equal(code, 2);
    assert.match(err, /signalbox dev -f signalbox\.yaml/);
  });
});
