import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { killAll, run, signalbox, until } from "../support/cli.ts";

after(killAll);

const scorer = (score: string) => `import { defineScorer } from "signalbox/plugin";
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

describe("signalbox dev", () => {
  it("shows what a plugin makes of requests, takes what is saved, and keeps the last good one", { timeout: 90_000 }, async () => {
    const folder = mkdtempSync(join(tmpdir(), "signalbox-dev-"));
    after(() => rmSync(folder, { recursive: true }));
    const [config, plugin] = [join(folder, "signalbox.yaml"), join(folder, "plugin.ts")];
    writeFileSync(config, CONFIG);
    writeFileSync(plugin, scorer("0.5"));
    const switches = ["--requests", "20", "--port", "0", "--admin-port", "0"];
    const { child, output, ended } = signalbox("dev", "-f", config, ...switches);
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
    assert.ok(linesWith(/^ {4}mine: no opinion.*, \d+ faults so far$/) > 0);

    process.kill(child.pid!, "SIGTERM");
    assert.equal(await ended, 0);
  });

  it("wants a config", async () => {
    const { code, err } = await run("dev");
    assert.equal(code, 2);
    assert.match(err, /signalbox dev -f signalbox\.yaml/);
  });
});
