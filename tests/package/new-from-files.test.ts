import assert from "node:assert/strict";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { newFolder, packed, runOn } from "../support/package/packed.ts";
import { ROOT } from "../support/suite/runtimes.ts";

const TOOLS = ["tsx", "typescript"];

/** Makes a plugin with the program, installs its dependency as npm does, and returns its folder. */
async function madeWith(program: string, name: string, wanted: RegExp): Promise<string> {
  const place = newFolder(name);
  const made = await runOn("node", place, `${program} new scorer mine`);
  assert.equal(made.code, 0, made.err);
  assert.match(made.out, wanted);
  const folder = join(place, "mine");
  const early = await runOn("node", folder, `${program} test`);
  assert.deepEqual([early.code, early.out], [1, ""]);
  assert.match(early.err, /signalbox, which package\.json lists, is not installed for this folder: npm install/);
  // The registry of the tests has no compiler: it is put beside what npm installs.
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  for (const tool of TOOLS) delete manifest.devDependencies[tool];
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
  const installed = await runOn("node", folder, "npm install --no-audit --no-fund");
  assert.equal(installed.code, 0, installed.err);
  for (const tool of TOOLS) symlinkSync(join(ROOT, "node_modules", tool), join(folder, "node_modules", tool));
  return folder;
}

async function works(folder: string): Promise<void> {
  const tested = await runOn("node", folder, "npx signalbox test");
  assert.equal(tested.code, 0, tested.out + tested.err);
  assert.match(tested.out, /^== node: passed$/m);
  const compiled = await runOn("node", folder, "node node_modules/typescript/bin/tsc");
  assert.equal(compiled.code, 0, compiled.out);
}

describe("signalbox new, where no registry has the program,", () => {
  it("from a tarball that was installed for the machine", { timeout: 180_000 }, async () => {
    const prefix = newFolder("prefix");
    const tarball = join(dirname(prefix), packed.filename);
    const installed = await runOn("node", prefix, `npm install -g --prefix ${prefix} --no-audit --no-fund ${tarball}`);
    assert.equal(installed.code, 0, installed.err);
    const program = `node ${join(prefix, "lib", "node_modules", "signalbox", "apps", "cli", "bin.mjs")}`;
    await works(await madeWith(program, "by-tarball", /takes signalbox from the folder where it is installed \(file:/));
  });

  it("from a checkout", { timeout: 180_000 }, async () => {
    const program = `node ${join(ROOT, "apps", "cli", "signalbox.mjs")}`;
    await works(await madeWith(program, "by-checkout", /takes signalbox from the folder where this program is \(file:/));
  });
});
