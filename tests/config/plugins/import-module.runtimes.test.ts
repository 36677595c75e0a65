import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { importModule } from "../../../config/plugins/import-module.ts";
import { moduleFiles } from "../../../config/plugins/module-files.ts";
import { RouterError } from "../../../core/contract/errors.ts";

const errors = pathToFileURL(join(import.meta.dirname ?? ".", "..", "..", "..", "core", "contract", "errors.ts")).href;

interface Kind {
  readonly name: string;
  readonly file: string;
  /** Besides the module's own. */
  readonly files: Readonly<Record<string, string>>;
  readonly own: (version: number) => string;
  /** What is no text of its language. */
  readonly broken: string;
  readonly helper: string;
  readonly helperText: (version: number) => string;
}

const ts = {
  file: "plugin.ts",
  own: (version: number) => `
import { RouterError } from ${JSON.stringify(errors)};
import { helper } from "./lib/helper.ts";
export default { own: ${version} as number, helper, error: new RouterError("saturated", "Wait.") };`,
  broken: "export default {{",
  helper: "lib/deep.ts",
  helperText: (version: number) => `export const deep: number = ${version};`,
};
const tsFiles = { "lib/helper.ts": 'import { deep } from "./deep.ts"; export const helper: number = deep;' };

const KINDS: readonly Kind[] = [
  { name: "TypeScript in a package of modules", ...ts, files: { ...tsFiles, "package.json": '{ "type": "module" }' } },
  { name: "TypeScript without a package", ...ts, files: tsFiles },
  {
    name: "JavaScript",
    file: "plugin.mjs",
    files: {},
    own: (version) => `import { deep } from "./deep.mjs"; export default { own: ${version}, helper: deep };`,
    broken: "export default {{",
    helper: "deep.mjs",
    helperText: (version) => `export const deep = ${version};`,
  },
  {
    name: "CommonJS",
    file: "plugin.cjs",
    files: {},
    own: (version) => `module.exports = { own: ${version}, helper: require("./deep.cjs").deep };`,
    broken: "module.exports = {{",
    helper: "deep.cjs",
    helperText: (version) => `exports.deep = ${version};`,
  },
];

function setUp({ file, files, own, helper, helperText }: Kind) {
  const root = mkdtempSync(join(tmpdir(), "signalbox-import-"));
  after(() => rmSync(root, { recursive: true }));
  const write = (name: string, text: string) => {
    mkdirSync(join(root, name, ".."), { recursive: true });
    writeFileSync(join(root, name), text);
  };
  for (const [name, text] of Object.entries(files)) write(name, text);
  const writeOwn = (version: number) => write(file, own(version));
  const writeHelper = (version: number) => write(helper, helperText(version));
  writeOwn(1);
  writeHelper(1);
  const load = async () => {
    let exported = (await importModule(pathToFileURL(join(root, file)).href)) as { default?: unknown };
    while (typeof exported.default === "object" && exported.default !== null) exported = exported.default;
    return exported as { readonly own: number; readonly helper: number; readonly error?: unknown };
  };
  const versions = async () => {
    const { own: mine, helper: theirs } = await load();
    return [mine, theirs];
  };
  return { write, writeOwn, writeHelper, load, versions, root };
}

for (const kind of KINDS) {
  describe(`a module of the user's own: ${kind.name}`, () => {
    test("is loaded anew when its text has changed, or that of a file it imports, however often", async () => {
      const { writeOwn, writeHelper, versions } = setUp(kind);
      assert.deepEqual(await versions(), [1, 1]);
      writeOwn(2);
      assert.deepEqual(await versions(), [2, 1]);
      writeHelper(2);
      assert.deepEqual(await versions(), [2, 2]);
      writeOwn(3);
      writeHelper(3);
      assert.deepEqual(await versions(), [3, 3]);
      writeOwn(1);
      assert.deepEqual(await versions(), [1, 3]);
    });

    test("stays the same while nothing has changed", async () => {
      const { load, writeHelper, writeOwn } = setUp(kind);
      const first = await load();
      writeOwn(1);
      assert.equal(await load(), first);
      writeHelper(2);
      const second = await load();
      assert.notEqual(second, first);
      assert.equal(await load(), second);
    });

    test("that could not be loaded is loaded once it is corrected", async () => {
      const { write, writeOwn, versions } = setUp(kind);
      await versions();
      write(kind.file, kind.broken);
      await assert.rejects(versions());
      await assert.rejects(versions());
      writeOwn(4);
      assert.deepEqual(await versions(), [4, 1]);
    });
  });
}

test("a module that is loaded anew shares the router's own modules", async () => {
  const { load, writeOwn } = setUp(KINDS[0]!);
  assert.ok((await load()).error instanceof RouterError);
  writeOwn(2);
  assert.ok((await load()).error instanceof RouterError);
});

test("the files of a module are its own and those it imports, but none of packages or of the router", async () => {
  const { root, write } = setUp(KINDS[0]!);
  write("node_modules/dep/index.js", "export const dep = 1;");
  write(
    "plugin.ts",
    `import "./lib/helper.ts"; import "./node_modules/dep/index.js"; import ${JSON.stringify(errors)}; import "./missing.ts";`,
  );
  const { paths } = await moduleFiles(join(root, "plugin.ts"));
  assert.deepEqual(
    paths.map((path) => path.replace(`${root}/`, "")),
    ["plugin.ts", "lib/helper.ts", "lib/deep.ts"],
  );
});

test("what a module's text names may be anything: a folder, a large file", async () => {
  const { root, write } = setUp(KINDS[0]!);
  write("large.json", JSON.stringify("./lib/helper.ts".padEnd(2 ** 20)));
  write("plugin.ts", 'import large from "./large.json" with { type: "json" }; const folder = "./lib";');
  const before = await moduleFiles(join(root, "plugin.ts"));
  assert.deepEqual(
    before.paths.map((path) => path.replace(`${root}/`, "")),
    ["plugin.ts", "large.json", "lib"],
  );
  write("large.json", JSON.stringify("./lib/helper.ts".padEnd(2 ** 20 + 1)));
  assert.notEqual((await moduleFiles(join(root, "plugin.ts"))).hash, before.hash);
});

test("a module whose file is missing has that file, so that its coming is noticed", async () => {
  const { paths } = await moduleFiles("/nowhere/plugin.ts");
  assert.deepEqual(paths, ["/nowhere/plugin.ts"]);
});
