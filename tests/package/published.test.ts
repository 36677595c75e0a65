import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import { changedFigures } from "../support/changed-figures.ts";
import { built, installed, MACHINES, type Machine, packed, runOn } from "../support/package/packed.ts";
import type { Names } from "../support/package/public-names.ts";
import { PUBLISHED_FILE, publishedOf, readPublished } from "../support/package/published.ts";
import { ROOT } from "../support/suite/runtimes.ts";

const IF_MEANT = "If it is meant: npm run published";
const published = readPublished();
const RUN: Readonly<Record<Machine, string>> = { node: "node", deno: "deno run -A", bun: "bun" };

describe("the package has what published.json says:", () => {
  const now = publishedOf(built, packed);

  it("the modules that it exports, and their names", () => {
    assert.deepEqual(now.entries, published.entries, IF_MEANT);
    assert.deepEqual(now.names, published.names, IF_MEANT);
  });

  it("its sizes, within the slack", () => {
    assert.deepEqual(changedFigures(published.sizes, now.sizes, PUBLISHED_FILE), [], IF_MEANT);
  });
});

describe("a program with the installed package gets what published.json says:", () => {
  const modules = Object.entries(published.names);
  let app: string;
  before(async () => {
    app = await installed();
    const imports = modules.map(([module]) => `Object.keys(await import("${module}")).sort()`);
    writeFileSync(join(app, "names.mjs"), `console.log(JSON.stringify([${imports.join(", ")}]));`);
    for (const [at, [module, names]] of modules.entries())
      writeFileSync(join(app, `names-${at}.ts`), `export { ${listOf(names)} } from "${module}";\n`);
    writeFileSync(join(app, "missing.ts"), 'export { type Missing } from "signalbox/plugin";\n');
  });
  const files = modules.map((_, at) => `names-${at}.ts`).join(" ");

  for (const machine of MACHINES)
    it(`on ${machine} the values`, { timeout: 120_000 }, async () => {
      const { out, err } = await runOn(machine, app, `${RUN[machine]} names.mjs`);
      assert.equal(err, "");
      const values = modules.map(([, names]) => Object.keys(names).filter((name) => names[name] === "value"));
      assert.deepEqual(JSON.parse(out), values);
    });

  for (const settings of ["--module nodenext", "--module esnext --moduleResolution bundler"])
    it(`the types, by the compiler with ${settings}`, { timeout: 120_000 }, async () => {
      const tsc = `node ${join(ROOT, "node_modules/typescript/bin/tsc")} --noEmit --strict --isolatedModules --target es2022 ${settings}`;
      const { code, out } = await runOn("node", app, `${tsc} ${files}`);
      assert.equal(out, "");
      assert.equal(code, 0);
      assert.match((await runOn("node", app, `${tsc} missing.ts`)).out, /^missing\.ts.*'Missing'/);
    });

  it("the types, by Deno's compiler", { timeout: 120_000 }, async () => {
    const { code, err } = await runOn("deno", app, `deno check ${files}`);
    assert.equal(code, 0, err);
    assert.match((await runOn("deno", app, "deno check missing.ts")).err, /'Missing'/);
  });
});

function listOf(names: Names): string {
  return Object.entries(names)
    .map(([name, kind]) => (kind === "type" ? `type ${name}` : name))
    .join(", ");
}
