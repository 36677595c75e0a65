import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { loadTexts } from "../../../config/load.ts";
import { loadPluginModule } from "../../../config/plugins/load-plugin.ts";
import { formatProblem } from "../../../config/read/problems.ts";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import { RouterError } from "../../../core/contract/errors.ts";
import type { Filter } from "../../../core/contract/filter.ts";
import type { Definition, PluginHost } from "../../../core/contract/plugin.ts";
import type { InferenceRequest } from "../../../core/contract/request.ts";
import { POOL, registry, router } from "../support.ts";

const project = join(import.meta.dirname ?? ".", "..", "..", "..");
const core = (name: string) => JSON.stringify(pathToFileURL(join(project, "core", name)).href);

/** A plugin's source; if `isPlain` is false, with syntax beyond type annotations. */
const filterSource = (isPlain: boolean) => `
import { RouterError } from ${core("contract/errors.ts")};
import { z } from ${core("contract/options.ts")};
import { defineFilter } from ${core("contract/plugin.ts")};
import { kept } from "./helper.ts";
${isPlain ? "const Most = { kept } as const;" : "enum Most { kept = 1 }"}
export default defineFilter({
  type: "first-only",
  summary: "Keeps the first candidates.",
  options: z.strictObject({ count: z.int().min(1).default(Most.kept) }),
  create: ({ count }) => ({
    filter: (_request, candidates) => candidates.slice(0, count),
    refuse: () => new RouterError("saturated", "Wait."),
  }),
});
`;

const scorer = 'kind: "scorer", type: "mine", summary: "", create: () => ({ score: () => null })';
const standard = '"~standard": { version: 1, vendor: "mine", validate: (value) => ({ value }) }';

/** A plugin as its author writes it, in whatever folder; `Text` is the type of a text, or nothing in JavaScript. */
const outside = (Text = "") => `import { defineScorer, RouterError, z } from "signalbox/plugin";
import { kept } from "./helper.${Text ? "ts" : "js"}";
export const error = new RouterError("saturated", "Wait.");
const type${Text} = "mine";
export default defineScorer({ type, summary: kept, options: z.strictObject({}), create: () => ({ score: () => null }) });
`;

const FILES: Readonly<Record<string, string>> = {
  "outside/plugin.js": outside(),
  "outside/helper.js": 'export const kept = "";',
  "outside/plugin.ts": outside(": string"),
  "outside/helper.ts": 'export const kept: string = "";',
  "outside/common/package.json": '{ "type": "commonjs" }',
  "outside/common/plugin.js": outside(),
  "outside/common/helper.js": 'export const kept = "";',
  "outside/common/plugin.ts": outside(": string"),
  "outside/common/helper.ts": 'export const kept: string = "";',
  "outside/modules/package.json": '{ "type": "module" }',
  "outside/modules/plugin.js": outside(),
  "outside/modules/helper.js": 'export const kept = "";',
  "outside/node_modules/ours/package.json": '{ "name": "ours", "type": "module", "exports": "./plugin.js" }',
  "outside/node_modules/ours/plugin.js": outside(),
  "outside/node_modules/ours/helper.js": 'export const kept = "";',
  "bare/helper.ts": "export const kept: number = 1;",
  "bare/plugin.ts": filterSource(true),
  "bare/enum.ts": filterSource(false),
  "module/package.json": '{ "type": "module" }',
  "module/helper.ts": "export const kept: number = 1;",
  "module/plugin.ts": filterSource(true),
  "module/enum.ts": filterSource(false),
  "js/plugin.mjs": `export default { ${scorer}, options: { ${standard} } };`,
  "js/promises.mjs": `export default { ${scorer}, options: { "~standard": { version: 1, vendor: "mine", validate: async () => ({ value: 1 }) } } };`,
  "js/issues.mjs": `export default { ${scorer}, options: { "~standard": { version: 1, vendor: "mine", validate: () => ({ issues: [{ message: "speak up", path: [{ key: "a" }, 1] }] }) } } };`,
  "js/node_modules/dual/package.json": '{ "name": "dual", "main": "index.cjs" }',
  "js/node_modules/dual/index.cjs": `module.exports = { ${scorer}, options: { ${standard} } };`,
  "esm/node_modules/modern/package.json":
    '{ "name": "modern", "type": "module", "exports": { ".": { "import": "./main.js" }, "./more/*": [{ "types": "./x.d.ts", "default": "./more/*.js" }], "./none": null } }',
  "esm/node_modules/modern/main.js": `export default { ${scorer}, options: { ${standard} } };`,
  "esm/node_modules/modern/more/second.js": `export default { ${scorer.replace("mine", "second")}, options: { ${standard} } };`,
  "esm/node_modules/@team/scoped/package.json": '{ "name": "@team/scoped", "type": "module", "exports": "./index.js" }',
  "esm/node_modules/@team/scoped/index.js": `export default { ${scorer}, options: { ${standard} } };`,
  "esm/deeper/config/note.txt": "",
  "bad/throws.mjs": 'const a = 1;\nthrow new Error("No luck.\\nmore");',
  "bad/throws.ts":
    "interface Shape {\n  a: number;\n}\nconst shape: Shape = { a: 1 };\nthrow new Error('No luck ' + shape.a);\nexport default shape;\n",
  "bad/syntax.mjs": "const a = 1;\nexport default {",
  "bad/syntax.ts": "const a: number = 1;\nconst b: number = ;\nexport default a;\n",
  "bad/common.mjs": 'const { defineScorer } = require("signalbox/plugin");\nmodule.exports = defineScorer({});\n',
  "bad/missing.ts": '// A line.\n\nimport { nope } from "./nope.ts";\nexport default nope;\n',
  "bad/lacking.ts": '// A line.\nimport { nope } from "./other.ts";\nexport default nope;\n',
  "bad/other.ts": "export const other: number = 1;\n",
  "bad/empty.mjs": "\nexport const plugin = 1;",
  "bad/function.mjs": "export default () => 1;",
  "bad/kind.mjs": `export default { ...{ ${scorer}, options: { ${standard} } }, kind: "scorrer" };`,
  "bad/type.mjs": `export default { ...{ ${scorer}, options: { ${standard} } }, type: "" };`,
  "bad/create.mjs": `export default { ...{ ${scorer}, options: { ${standard} } }, create: 1 };`,
  "bad/options.mjs": `export default { ${scorer}, options: { default: 1 } };`,
};

let root = "";
before(() => {
  root = mkdtempSync(join(tmpdir(), "signalbox-plugins-"));
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(join(root, name, ".."), { recursive: true });
    writeFileSync(join(root, name), text);
  }
});
after(() => rmSync(root, { recursive: true }));

/** What the definition creates, to check that the module works. */
function makeFilter(definition: Definition): Filter {
  const result = definition.options["~standard"].validate({});
  assert.ok(!(result instanceof Promise) && result.issues === undefined);
  return definition.create(result.value, {} as PluginHost) as Filter;
}

describe("loadPluginModule loads", () => {
  for (const name of ["module/plugin.ts", "bare/plugin.ts", "module/enum.ts", "bare/enum.ts"]) {
    test(`TypeScript: ${name}`, async (t) => {
      if (name.endsWith("enum.ts") && isStrippingOnly()) return t.skip("this runtime takes annotations only");
      const { definition, file } = await loadPluginModule(`./${name}`, root);
      assert.equal(file, join(realpathSync(root), name));
      assert.equal(definition.type, "first-only");
      const filter = makeFilter(definition);
      assert.deepEqual(filter.filter({} as InferenceRequest, [1, 2] as unknown as Endpoint[], {} as never, Math.random), [1]);
      assert.ok(filter.refuse?.({} as InferenceRequest, []) instanceof RouterError, "its errors are not ours");
    });
  }

  const cases: readonly (readonly [name: string, from: () => string, baseDir: string])[] = [
    ["a file beside the config", () => "./plugin.mjs", "js"],
    ["a file in another folder", () => "../js/plugin.mjs", "bad"],
    ["an absolute path", () => join(root, "js/plugin.mjs"), "."],
    ["a file URL", () => pathToFileURL(join(root, "js/plugin.mjs")).href, "."],
    ["a package installed beside the config", () => "dual", "js"],
    ["a package that is an ES module alone", () => "modern", "esm"],
    ["one that is installed further up", () => "modern", "esm/deeper/config"],
    ["one of a scope", () => "@team/scoped", "esm"],
  ];
  for (const [name, from, baseDir] of cases) {
    test(name, async () => {
      assert.equal((await loadPluginModule(from(), join(root, baseDir))).definition.type, "mine");
    });
  }
});

describe("a plugin in any folder imports signalbox/plugin:", () => {
  const places = ["plugin.js", "plugin.ts", "common/plugin.js", "common/plugin.ts", "modules/plugin.js"];
  for (const from of [...places.map((place) => `./${place}`), "ours"]) {
    test(from, async () => {
      const { definition, file } = await loadPluginModule(from, join(root, "outside"));
      assert.equal(definition.type, "mine");
      const { error } = await import(pathToFileURL(file).href).catch(() => ({ error: undefined }));
      // Node 20 gives what tsx has compiled only to whoever asks tsx.
      if (error !== undefined) assert.ok(error instanceof RouterError, "its errors are not ours");
    });
  }
});

test("loadPluginModule loads a path that a package exports by a pattern", async () => {
  assert.equal((await loadPluginModule("modern/more/second", join(root, "esm"))).definition.type, "second");
});

test("loadPluginModule follows a link, so that places in a stack are found in the file", async () => {
  symlinkSync(join(root, "js"), join(root, "linked"));
  assert.equal((await loadPluginModule("./linked/plugin.mjs", root)).file, join(realpathSync(root), "js", "plugin.mjs"));
});

describe("loadPluginModule reports", () => {
  const cases: readonly (readonly [name: string, from: string, message: RegExp])[] = [
    ["a missing file", "./nope.ts", /^There is no file .*nope\.ts: a path is relative to the config file\.$/],
    [
      "a missing package",
      "signalbox-no-such-plugin",
      /"signalbox-no-such-plugin" in a node_modules folder beside the config or above it: install the package there, or write \.\/file\.ts for a file\.$/,
    ],
    ["an address", "https://127.0.0.1/x.ts", /^A plugin is a file or an installed package/],
    [
      "a package's path that it does not export",
      "modern/none",
      /^The package in \S+modern has nothing to import as "modern\/none"/,
    ],
    ["a module that throws", "./throws.mjs", /^It fails while loading, at \S+bad\/throws\.mjs:2:\d+: No luck\.$/],
    ["TypeScript that throws", "./throws.ts", /^It fails while loading, at \S+bad\/throws\.ts:5:\d+: No luck 1\.$/],
    ["a module that does not parse", "./syntax.mjs", /^It fails while loading, at \S+bad\/syntax\.mjs:2/],
    ["TypeScript that does not parse", "./syntax.ts", /^It fails while loading, at \S+bad\/syntax\.ts:2/],
    [
      "a CommonJS module where there is no require",
      "./common.mjs",
      /require is not defined.* Write it as an ES module: import \{ … \} from "signalbox\/plugin" in place of require/,
    ],
    ["an import that is missing", "./missing.ts", /^It fails while loading, at \S+bad\/missing\.ts:3.*nope\.ts/],
    ["an import that lacks the name", "./lacking.ts", /^It fails while loading, at \S+bad\/lacking\.ts:2.*nope/],
    [
      "a module without a default export",
      "./empty.mjs",
      /^\S+bad\/empty\.mjs:2 has no plugin as its default export, but exports plugin: write export default defineScorer/,
    ],
    ["a function", "./function.mjs", /^\S+function\.mjs:1 has no plugin as its default export/],
    ["an unknown kind", "./kind.mjs", /^The default export of \S+kind\.mjs has no known kind/],
    ["no type", "./type.mjs", /^The default export of \S+type\.mjs has no type/],
    ["no create", "./create.mjs", /^The default export of \S+create\.mjs has no create function/],
    ["options that are no schema", "./options.mjs", /^The options of \S+options\.mjs are no Standard Schema/],
  ];
  for (const [name, from, message] of cases) {
    test(name, async (t) => {
      if (from === "./common.mjs" && process.versions["bun"] !== undefined) return t.skip("Bun has require in every module");
      if (from === "./lacking.ts" && hasTypeStripping() && !isStrippingOnly())
        return t.skip("this Node reads TypeScript itself, but here tsx does, which takes the file for CommonJS");
      await assert.rejects(loadPluginModule(from, join(root, from.startsWith("modern") ? "esm" : "bad")), (error: Error) => {
        assert.match(error.message, message);
        assert.ok(!error.message.includes("\n"));
        return true;
      });
    });
  }
});

describe("a config with a plugin of its own", () => {
  const load = (entry: string) =>
    loadTexts([{ file: join(root, "a.yaml"), text: router(`${POOL}  plugins: [${entry}]\n`) }], registry);

  test("has the instance under the plugin's type, with its parameters' defaults", async () => {
    const { config, definitions, problems } = (await load("{ from: ./module/plugin.ts }")) as Extract<
      Awaited<ReturnType<typeof load>>,
      { config: object }
    >;
    assert.equal(problems, undefined);
    const entry = config.plugins.find(({ type }) => type === "first-only");
    assert.deepEqual([entry?.name, entry?.from, entry?.parameters], ["first-only", "./module/plugin.ts", { count: 1 }]);
    assert.equal(definitions.get("first-only")?.kind, "filter");
    assert.deepEqual(config.profile.plugins[2], { pluginRef: "first-only" });
  });

  const cases: readonly (readonly [name: string, entry: string, line: string])[] = [
    [
      "wrong parameters",
      "{ from: ./module/plugin.ts, parameters: { count: 0 } }",
      "5:62  spec.plugins[0].parameters.count  found 0; wanted at least 1.",
    ],
    [
      "an unknown parameter",
      "{ from: ./module/plugin.ts, parameters: { cuont: 1 } }",
      '5:55  spec.plugins[0].parameters.cuont  found the unknown key "cuont"; wanted one of: count. Did you mean "count"?',
    ],
    [
      "issues of another schema library",
      "{ from: ./js/issues.mjs, parameters: { a: [0, 9] } }",
      "5:59  spec.plugins[0].parameters.a[1]  found 9; wanted speak up.",
    ],
    [
      "a schema that answers later",
      "{ from: ./js/promises.mjs }",
      '5:13  spec.plugins[0]  found options of "mine" that can\'t be validated: its schema is asynchronous.',
    ],
    [
      "a module that can't be used",
      "{ from: ./bad/type.mjs }",
      '5:21  spec.plugins[0].from  found the module "./bad/type.mjs", which can\'t be used. The default export of ROOT/bad/type.mjs has no type: give it a name such as type: "my-scorer".',
    ],
  ];
  for (const [name, entry, line] of cases) {
    test(`reports ${name} with its place`, async () => {
      const { problems } = await load(entry);
      assert.deepEqual(
        problems?.map((one) =>
          formatProblem(one)
            .replace(`${join(root, "a.yaml")}:`, "")
            .replace(root, "ROOT"),
        ),
        [line],
      );
    });
  }
});

test("a Node that runs TypeScript itself uses tsx for what it can't run", (t) => {
  if (!hasTypeStripping()) return t.skip("this runtime does not strip types by itself, or runs all of TypeScript");
  const loader = JSON.stringify(pathToFileURL(join(project, "config/plugins/load-plugin.ts")).href);
  const script = `const { loadPluginModule } = await import(${loader}); console.log((await loadPluginModule("./enum.ts", process.argv[1])).definition.type);`;
  for (const folder of ["bare", "module"]) {
    const output = execFileSync(process.execPath, ["--no-warnings", "--input-type=module", "-e", script, join(root, folder)], {
      cwd: project,
    });
    assert.equal(output.toString(), "first-only\n");
  }
});

function hasTypeStripping(): boolean {
  const { typescript } = process.features as { readonly typescript?: unknown };
  return typescript === "strip" && !("Deno" in globalThis) && !("Bun" in globalThis);
}

/** True on a Node that only strips type annotations and runs without tsx. */
function isStrippingOnly(): boolean {
  return hasTypeStripping() && !process.execArgv.some((word) => word.includes("tsx"));
}
