import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, it, test } from "node:test";
import { pathToFileURL } from "node:url";
import { ownTypes } from "../../config/plugins/instances.ts";
import type { Definition, PluginKind } from "../../core/contract/plugin.ts";
import { isSectionModule } from "../../core/control/section-instances.ts";
import { REFERENCE_NAMES } from "../../plugins/reference-names.ts";
import { builtIns } from "../../plugins/registry.ts";
import { issuesOf } from "../support/plugins.ts";

const FOLDERS: Readonly<Record<PluginKind, string>> = {
  authenticator: "authenticators",
  parser: "parsers",
  rewriter: "rewriters",
  filter: "filters",
  scorer: "scorers",
  picker: "pickers",
  admission: "admissions",
  discovery: "discovery",
  source: "sources",
  detector: "detectors",
  observer: "observers",
  feature: "features",
};

const root = join(import.meta.dirname ?? ".", "..", "..", "plugins");
const files = Object.values(FOLDERS).flatMap((folder) => {
  const entries = readdirSync(join(root, folder), { withFileTypes: true });
  const sources = entries.filter(({ name }) => name.endsWith(".ts")).map(({ name }) => join(root, folder, name));
  // A plugin of many files has a folder, named after its type.
  return [
    ...sources,
    ...entries.filter((each) => each.isDirectory()).map(({ name }) => join(root, folder, name, `${folder.slice(0, -1)}.ts`)),
  ];
});

/** Its file's name, or that of its folder. */
const nameOf = (file: string) => (basename(file) === "feature.ts" ? basename(dirname(file)) : basename(file, ".ts"));
const folderOf = (file: string) => basename(basename(file) === "feature.ts" ? dirname(dirname(file)) : dirname(file));

async function definitionIn(file: string): Promise<Definition | undefined> {
  const module = (await import(pathToFileURL(file).href)) as { readonly default?: Definition };
  return module.default;
}

describe("every plugin file", () => {
  for (const file of files) {
    const name = join(folderOf(file), nameOf(file));
    it(`${name} is registered under its own name, in its kind's folder`, async () => {
      const definition = await definitionIn(file);
      if (definition === undefined) return;
      assert.equal(definition.type, nameOf(file));
      assert.equal(FOLDERS[definition.kind], folderOf(file));
      assert.equal(builtIns.get(definition.type), definition);
    });
  }
});

test("only these and the reference's names are registered", async () => {
  const definitions = await Promise.all(files.map(definitionIn));
  assert.equal(ownTypes(builtIns).length, definitions.filter((definition) => definition !== undefined).length);
  assert.equal(builtIns.size, ownTypes(builtIns).length + Object.keys(REFERENCE_NAMES).length);
});

const NEED_PARAMETERS = [
  ...["by-label", "dns", "file", "jwt", "keys", "model-rewrite", "passthrough", "static"],
  ...["attribute-filter", "attribute-scorer", "topology-filter", "topology-scorer"],
];

describe("every built-in", () => {
  for (const definition of ownTypes(builtIns)) {
    it(`${definition.type} has a one-sentence summary`, () => assert.match(definition.summary, /^[A-Z][^\n]{10,120}\.$/));

    // Its options are a section of the config, which has tests of its own.
    if (isSectionModule(definition)) continue;
    const doesNeed = NEED_PARAMETERS.includes(definition.type);
    it(`${definition.type} ${doesNeed ? "needs" : "works without"} parameters`, () => {
      assert.equal(issuesOf(definition, {}).length > 0, doesNeed);
    });

    it(`${definition.type} refuses a parameter it does not know`, () => {
      assert.ok(issuesOf(definition, { unheardOf: 1 }).length > 0);
    });
  }
});
