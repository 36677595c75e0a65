import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, it } from "node:test";
import { DEFAULT_LIMITS } from "../core/settings.ts";

const root = join(import.meta.dirname ?? ".", "..");
const SOURCE_FOLDERS = ["core", "plugins", "config"];
const MOST_LINES = 300;

interface Import {
  readonly file: string;
  /** As written: a package, a node: module, or a path relative to the root for a file of ours. */
  readonly target: string;
}

const files = SOURCE_FOLDERS.flatMap((folder) => sourcesBelow(folder));
const imports = files.flatMap(importsOf);

/** Who may import what; each rule names the files it lets through. */
const RULES: readonly {
  readonly name: string;
  readonly isBound: (each: Import) => boolean;
  readonly isAllowed: (each: Import) => boolean;
}[] = [
  {
    name: "plugins import the contracts and each other's helpers, nothing else of core",
    isBound: ({ file, target }) => file.startsWith("plugins/") && !target.startsWith("plugins/"),
    isAllowed: ({ target }) => target.startsWith("core/contract/"),
  },
  {
    name: "core imports no plugin; the two entry points pass the registry in",
    isBound: ({ file, target }) => file.startsWith("core/") && target.startsWith("plugins/"),
    isAllowed: ({ file, target }) => ENTRY_POINTS.has(file) && target === "plugins/registry.ts",
  },
  {
    name: "node: modules are used by the wire, the command line, the mock replica and the config loader only",
    isBound: ({ target }) => target.startsWith("node:"),
    isAllowed: ({ file }) => /^(core\/(wire|runtime|cli|mock)|config)\//.test(file),
  },
  {
    name: "each package has one door",
    isBound: ({ target }) => !target.startsWith("node:") && !/^(core|plugins|config)\//.test(target),
    isAllowed: ({ file, target }) => DOORS[target]?.includes(file) ?? false,
  },
  {
    name: "the data plane does not know who builds its snapshots",
    isBound: ({ file, target }) => /^core\/(stages|wire|body|state)\//.test(file) && /^core\/(control|cli|admin)\//.test(target),
    isAllowed: () => false,
  },
];

const ENTRY_POINTS = new Set(["core/cli/main.ts", "core/fetch.ts"]);
const DOORS: Readonly<Record<string, readonly string[]>> = {
  zod: ["core/contract/options.ts"],
  yaml: ["config/documents.ts"],
  "tsx/esm/api": ["config/load-plugin.ts"],
};

describe("the source tree", () => {
  for (const { name, isBound, isAllowed } of RULES) {
    it(name, () => {
      const offenders = imports.filter((each) => isBound(each) && !isAllowed(each));
      assert.deepEqual(
        offenders.map(({ file, target }) => `${file} imports ${target}`),
        [],
      );
    });
  }

  it("has no file that is too long for one sitting", () => {
    const long = files.filter((file) => lineCount(file) > MOST_LINES);
    assert.deepEqual(
      long.map((file) => `${file}: ${lineCount(file)} lines`),
      [],
    );
  });

  it("has a lock file without download addresses", () => {
    assert.doesNotMatch(read("package-lock.json"), /"resolved"|\.tgz/);
  });

  it("uses no test.only", () => {
    const marked = sourcesBelow("tests").filter((file) => /\b(test|it|describe)\.only\(/.test(read(file)));
    assert.deepEqual(marked, []);
  });
});

describe("the documents", () => {
  it("config/LIMITS.md lists every limit with its default", () => {
    const rows = [...read("config/LIMITS.md").matchAll(/^\| `(\w+)`\s+\| (\d+)\s+\|/gm)].map(([, key, value]) => [
      key,
      Number(value),
    ]);
    assert.deepEqual(Object.fromEntries(rows), DEFAULT_LIMITS);
  });

  for (const document of ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "core/DECISIONS.md", "config/LIMITS.md"]) {
    it(`${document} names only files that exist`, () => {
      const named = [...read(document).matchAll(/`((?:core|plugins|config|tests|examples|\.ci)\/[\w./-]*)`/g)].map(
        ([, path]) => path ?? "",
      );
      assert.ok(named.length > 0);
      assert.deepEqual(
        named.filter((path) => !existsSync(join(root, path))),
        [],
      );
    });
  }
});

function sourcesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => `${folder}/${name.replaceAll("\\", "/")}`)
    .filter((file) => statSync(join(root, file)).isFile());
}

function importsOf(file: string): Import[] {
  const statements = /^(?:import|export)\b[^;"]*?\bfrom "([^"]+)"|^import "([^"]+)"|\bimport\("([^"]+)"\)/gm;
  return [...read(file).matchAll(statements)].map(([, from, bare, dynamic]) => {
    const specifier = from ?? bare ?? dynamic ?? "";
    const isOurs = specifier.startsWith(".");
    return { file, target: isOurs ? relative(root, join(root, dirname(file), specifier)).replaceAll("\\", "/") : specifier };
  });
}

function lineCount(file: string): number {
  return read(file).split("\n").length - 1;
}

function read(file: string): string {
  return readFileSync(join(root, file), "utf8");
}
