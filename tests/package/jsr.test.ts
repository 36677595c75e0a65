import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { runOn } from "../support/package/packed.ts";
import { ROOT } from "../support/suite/runtimes.ts";

const read = (file: string) => JSON.parse(readFileSync(join(ROOT, file), "utf8"));

describe("jsr.json", () => {
  const { version, license, exports, imports } = read("jsr.json");
  const source = read("package.json");

  it("says what package.json says", () => {
    assert.deepEqual([version, license], [source.version, source.license]);
    // JSR takes no patterns.
    const modules = Object.entries(source.exports).filter(([path, file]) => String(file).endsWith(".ts") && !path.includes("*"));
    assert.deepEqual(exports, Object.fromEntries(modules));
    const dependencies = Object.entries(source.dependencies).map(([name, wanted]) => [name, `npm:${name}@${wanted}`]);
    assert.deepEqual(imports, Object.fromEntries(dependencies));
  });

  it("is what deno publish takes", { timeout: 120_000 }, async () => {
    const line = "deno publish --config jsr.json --dry-run --allow-dirty --allow-slow-types --no-check --no-lock";
    const { code, err } = await runOn("deno", ROOT, line);
    assert.equal(code, 0, err);
    assert.match(err, /Dry run complete/);
    assert.doesNotMatch(err, /apps\/cli\//);
  });
});
