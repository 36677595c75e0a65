import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import { commandsOf } from "../../apps/cli/commands.ts";
import { builtIns } from "../../plugins/registry.ts";
import { installed, type Machine, newFolder, programIn, runOn } from "../support/package/packed.ts";
import { ROOT } from "../support/suite/runtimes.ts";

const installedIn = await installed();
const program = `node ${programIn(installedIn)}`;
/** Where the plugins are made: with the package, and what `npm install` in one of their folders would bring. */
const app = newFolder("made");
const kinds = readdirSync(join(ROOT, "examples", "plugins"))
  .filter((folder) => !folder.includes("-"))
  .sort();
const folderOf = (kind: string) => `new-${kind}`;

describe("signalbox new", () => {
  before(async () => {
    mkdirSync(join(app, "node_modules"));
    writeFileSync(join(app, "package.json"), '{ "private": true }');
    symlinkSync(join(installedIn, "node_modules", "signalbox"), join(app, "node_modules", "signalbox"));
    for (const tool of ["tsx", "typescript"]) symlinkSync(join(ROOT, "node_modules", tool), join(app, "node_modules", tool));
    for (const kind of kinds) {
      const { code, out, err } = await runOn("node", app, `${program} new ${kind} ${folderOf(kind)}`);
      assert.equal(code, 0, err);
      assert.match(out, new RegExp(`^new-${kind}/ has a ${kind} that works`));
    }
  });

  it("offers each kind that there is a plugin of", () => {
    const { choices = [] } = commandsOf(builtIns).find(({ name }) => name === "new") ?? {};
    assert.deepEqual([...choices].sort(), kinds);
  });

  it("names the plugin everywhere as it is told", () => {
    const folder = join(app, folderOf("scorer"));
    const files = ["README.md", "package.json", "plugin.test.ts", "plugin.ts", "signalbox.yaml", "tsconfig.json"];
    assert.deepEqual(readdirSync(folder).sort(), files);
    const text = (file: string) => readFileSync(join(folder, file), "utf8");
    assert.match(text("plugin.ts"), /type: "new-scorer"/);
    assert.match(text("signalbox.yaml"), /pluginRef: new-scorer/);
    assert.deepEqual(
      files.filter((file) => text(file).includes("my-scorer")),
      [],
    );
  });

  const lines: Readonly<Record<Machine, string>> = {
    node: "node --import tsx --test",
    deno: "deno test -A --no-check --quiet",
    bun: "bun test",
  };
  for (const [machine, line] of Object.entries(lines) as [Machine, string][]) {
    it(`makes plugins whose tests pass untouched: ${line}`, { timeout: 120_000 }, async () => {
      const files = kinds.map((kind) => `./${folderOf(kind)}/plugin.test.ts`).join(" ");
      const { code, out, err } = await runOn(machine, app, `${line} ${files}`);
      assert.equal(code, 0, out + err);
    });
  }

  it("signalbox test runs them on what is there, and fails with them", { timeout: 120_000 }, async () => {
    const folder = join(app, folderOf("scorer"));
    const passed = await runOn("node", folder, `${program} test`);
    assert.equal(passed.code, 0, passed.out + passed.err);
    assert.deepEqual(passed.out.match(/^== \w+: .*$/gm), [
      "== node: passed",
      "== deno: not on this machine",
      "== bun: not on this machine",
    ]);
    writeFileSync(
      join(folder, "broken.test.mjs"),
      'import { test } from "node:test";\ntest("no", () => { throw new Error("no"); });\n',
    );
    assert.equal((await runOn("node", folder, `${program} test broken.test.mjs`)).code, 1);
    assert.match((await runOn("node", folder, `${program} test none.test.ts`)).err, /There is no file none\.test\.ts/);
  });

  it("makes configs that load their plugins, and fields that compile", { timeout: 120_000 }, async () => {
    for (const kind of kinds) {
      const { code, out } = await runOn("node", join(app, folderOf(kind)), `${program} check --strict -f signalbox.yaml`);
      assert.equal(code, 0, out);
    }
    const tsc = join("node_modules", "typescript", "bin", "tsc");
    for (const kind of ["scorer", "parser", "feature"]) {
      const { code, out } = await runOn("node", app, `node ${tsc} -p ${folderOf(kind)}`);
      assert.equal(code, 0, out);
    }
  });

  it("says which kinds there are, and what is there already", async () => {
    const unknown = await runOn("node", app, `${program} new scorrer mine`);
    assert.equal(unknown.code, 2);
    assert.match(unknown.err, /wants scorer, .*feature, not "scorrer"\. Did you mean "scorer"\?/);
    writeFileSync(join(app, "taken"), "");
    const taken = await runOn("node", app, `${program} new scorer taken`);
    assert.equal(taken.code, 1);
    assert.match(taken.err, /"taken" in this folder already/);
    assert.equal((await runOn("node", app, `${program} new scorer ../up`)).code, 2);
  });
});
