import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { ownDependency } from "../../../../apps/cli/new/dependency.ts";
import { ROOT } from "../../../support/suite/runtimes.ts";

const place = mkdtempSync(join(tmpdir(), "signalbox-dependency-"));
after(() => rmSync(place, { recursive: true }));
let folders = 0;

/** A folder with these files, and the package in its node_modules. */
function installed(files: Readonly<Record<string, unknown>>) {
  const project = join(place, String(++folders));
  const root = join(project, "node_modules", "signalbox");
  mkdirSync(root, { recursive: true });
  for (const [name, content] of Object.entries(files))
    writeFileSync(join(project, name), typeof content === "string" ? content : JSON.stringify(content));
  return { project, root };
}

const TAR = "signalbox-1.2.3.tgz";

describe("what a new plugin's package.json says of signalbox", () => {
  const FROM_A_REGISTRY = [
    { name: "npm installed it", files: { "package.json": { dependencies: { signalbox: "^1.2.3" } } } },
    { name: "it has a tag", files: { "package.json": { devDependencies: { signalbox: "latest" } } } },
  ];
  for (const { name, files } of FROM_A_REGISTRY)
    it(`is the version where ${name}`, () => assert.deepEqual(ownDependency("1.2.3", installed(files).root), { spec: "1.2.3" }));

  it("is the version where Deno has it from a registry", () => {
    assert.deepEqual(ownDependency("1.2.3", join(place, "npm", "r.example", "signalbox", "1.2.3")), { spec: "1.2.3" });
  });

  const FROM_A_FILE = [
    { name: "npm", files: { "package.json": { dependencies: { signalbox: `file:${TAR}` } } } },
    { name: "bun", files: { "package.json": { dependencies: { signalbox: `./${TAR}` } } } },
  ];
  for (const { name, files } of FROM_A_FILE)
    it(`is the file where ${name} installed one, or the folder once the file is gone`, () => {
      const there = installed({ ...files, [TAR]: "" });
      assert.equal(ownDependency("1.2.3", there.root).spec, `file:${join(there.project, TAR)}`);
      const gone = installed(files);
      assert.equal(ownDependency("1.2.3", gone.root).spec, `file:${gone.root}`);
    });

  it("is the folder where it is installed for the machine, which no file tells of", () => {
    for (const files of [{}, { "package.json": "null" }]) {
      const { root } = installed(files);
      assert.deepEqual(ownDependency("1.2.3", root), { spec: `file:${root}`, from: "the folder where it is installed" });
    }
  });

  it("is the folder of a checkout, or of what was built there", () => {
    assert.equal(ownDependency("1.2.3").spec, `file:${ROOT.replace(/\/$/, "")}`);
    assert.equal(ownDependency("1.2.3", join(place, "build", "package")).spec, `file:${join(place, "build", "package")}`);
  });
});
