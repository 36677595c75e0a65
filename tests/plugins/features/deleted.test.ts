import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { ROOT } from "../../support/suite/runtimes.ts";

const SOURCES = ["core", "config", "plugins", "apps"];
const FEATURES = readdirSync(join(ROOT, "plugins/features"), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);
const CONFIG = "apiVersion: signalbox/v1\nkind: Router\nspec:\n  pool: { name: llama, endpoints: [{ url: http://gpu1:8000 }] }\n";
const REGISTRY = "plugins/registry.ts";

const copy = mkdtempSync(join(tmpdir(), "signalbox-deleted-"));
const run = promisify(execFile);

/** Compiles the copy. A second time only what has changed is looked at anew. */
async function compile(): Promise<string> {
  const { stdout } = await run("node", [join(ROOT, "node_modules/typescript/bin/tsc"), "-p", "."], { cwd: copy }).catch(
    (failed: { readonly stdout: string }) => failed,
  );
  return stdout;
}

/** The registry without a feature's import and its entry. */
function withoutFeature(text: string, feature: string): string {
  const [line, name] = new RegExp(`^import (\\w+) from "./features/${feature}/feature.ts";\n`, "m").exec(text)!;
  const rest = text.replace(line, "");
  const entry = new RegExp(`(?<=^  \\.\\.\\.\\[.*)\\b${name}\\b(, )?`, "m");
  assert.match(rest, entry);
  return rest.replace(entry, "").replaceAll(", ]", "]");
}

describe("a feature whose folder and lines of the registry are deleted", { timeout: 600_000 }, () => {
  const registry = readFileSync(join(ROOT, REGISTRY), "utf8");

  before(() => {
    for (const folder of SOURCES) cpSync(join(ROOT, folder), join(copy, folder), { recursive: true });
    writeFileSync(join(copy, "router.yaml"), CONFIG);
    for (const file of ["package.json", "LICENSE"]) cpSync(join(ROOT, file), join(copy, file));
    symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
    const config = JSON.parse(readFileSync(join(ROOT, "tsconfig.json"), "utf8"));
    const compilerOptions = { ...config.compilerOptions, incremental: true, tsBuildInfoFile: "./built.json" };
    writeFileSync(join(copy, "tsconfig.json"), JSON.stringify({ ...config, compilerOptions, include: SOURCES }));
  });
  after(() => rmSync(copy, { recursive: true, force: true }));

  it("is missed where another file imports it", async () => {
    writeFileSync(join(copy, "apps/stray.ts"), 'import "../plugins/features/models/feature.ts";\n');
    renameSync(join(copy, "plugins/features/models"), join(copy, "away"));
    writeFileSync(join(copy, REGISTRY), withoutFeature(registry, "models"));
    const found = await compile();
    renameSync(join(copy, "away"), join(copy, "plugins/features/models"));
    rmSync(join(copy, "apps/stray.ts"));
    assert.match(found, /^apps\/stray\.ts\(1,8\): error TS\d+[^\n]*\n$/);
  });

  for (const feature of FEATURES)
    it(`${feature}: the rest compiles, and reads a config`, async () => {
      const folder = join(copy, "plugins/features", feature);
      writeFileSync(join(copy, REGISTRY), withoutFeature(registry, feature));
      renameSync(folder, join(copy, "away"));
      try {
        assert.equal(await compile(), "");
        const { stdout } = await run("node", ["apps/cli/signalbox.mjs", "check", "-f", "router.yaml"], { cwd: copy });
        assert.match(stdout, /gpu1/);
      } finally {
        renameSync(join(copy, "away"), folder);
      }
    });
});
