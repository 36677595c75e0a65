import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, it, test } from "node:test";
import { pathToFileURL } from "node:url";
import { ownTypes } from "../../config/plugins/instances.ts";
import type { Definition, PluginKind } from "../../core/contract/plugin.ts";
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
};

const root = join(import.meta.dirname ?? ".", "..", "..", "plugins");
const files = Object.values(FOLDERS).flatMap((folder) => {
  const sources = readdirSync(join(root, folder)).filter((name) => name.endsWith(".ts"));
  return sources.map((name) => join(root, folder, name));
});

async function definitionIn(file: string): Promise<Definition | undefined> {
  const module = (await import(pathToFileURL(file).href)) as { readonly default?: Definition };
  return module.default;
}

describe("every plugin file", () => {
  for (const file of files) {
    const name = join(basename(dirname(file)), basename(file));
    it(`${name} is registered under its own name, in its kind's folder`, async () => {
      const definition = await definitionIn(file);
      if (definition === undefined) return;
      assert.equal(definition.type, basename(file, ".ts"));
      assert.equal(FOLDERS[definition.kind], basename(dirname(file)));
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

    const doesNeed = NEED_PARAMETERS.includes(definition.type);
    it(`${definition.type} ${doesNeed ? "needs" : "works without"} parameters`, () => {
      assert.equal(issuesOf(definition, {}).length > 0, doesNeed);
    });

    it(`${definition.type} refuses a parameter it does not know`, () => {
      assert.ok(issuesOf(definition, { unheardOf: 1 }).length > 0);
    });
  }
});
