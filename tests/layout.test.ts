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

/** What each room may import of the others, apart from itself. Files at the top of core are rooms of their own. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  plugins: ["core/contract"],
  config: ["core/contract", "core/control", "core/runtime", "core/state", "core/settings.ts", "plugins"],
  // Contracts, and what stands on them alone.
  "core/contract": [],
  "core/settings.ts": ["core/contract"],
  "core/runtime": ["core/wire"],
  "core/body": ["core/contract", "core/runtime"],
  "core/stream": ["core/contract", "core/runtime"],
  "core/state": ["core/contract", "core/runtime"],
  "core/active-config.ts": ["core/contract", "core/settings.ts"],
  // The data plane: it knows nothing of who builds config and facts.
  "core/wire": ["core/contract", "core/errors", "core/intake", "core/runtime", "core/settings.ts"],
  "core/errors": ["core/contract", "core/intake", "core/stream", "core/wire"],
  "core/data-plane.ts": ["core/active-config.ts", "core/body", "core/contract", "core/stages", "core/state", "core/wire"],
  "core/stages": [
    ...["core/active-config.ts", "core/body", "core/contract", "core/data-plane.ts", "core/errors", "core/intake"],
    ...["core/settings.ts", "core/state", "core/stream", "core/wire"],
  ],
  "core/pipeline.ts": [
    ...["core/active-config.ts", "core/contract", "core/data-plane.ts", "core/intake", "core/stages", "core/state"],
  ],
  "core/intake": [
    ...["core/active-config.ts", "core/body", "core/contract", "core/data-plane.ts", "core/errors", "core/pipeline.ts"],
    ...["core/stages", "core/state", "core/wire"],
  ],
  "core/fetch": ["core/contract", "core/errors", "core/intake", "core/settings.ts", "core/wire"],
  // The control plane, and what puts the two together.
  "core/control": ["config", "core/active-config.ts", "core/contract", "core/settings.ts", "core/state", "core/wire"],
  "core/lasting-state.ts": [
    ...["core/active-config.ts", "core/body", "core/contract", "core/control", "core/runtime", "core/settings.ts"],
    ...["core/stages", "core/state", "core/wire"],
  ],
  "core/router.ts": [
    ...["config", "core/active-config.ts", "core/body", "core/contract", "core/control", "core/intake", "core/stages"],
    ...["core/state", "core/wire"],
  ],
  "core/live-plane.ts": [
    ...["core/active-config.ts", "core/body", "core/contract", "core/control", "core/data-plane.ts", "core/intake"],
    ...["core/lasting-state.ts", "core/runtime", "core/stages", "core/state"],
  ],
  "core/run-router.ts": [
    ...["config", "core/active-config.ts", "core/admin", "core/contract", "core/control", "core/intake", "core/lasting-state.ts"],
    ...["core/live-plane.ts", "core/router.ts", "core/state", "core/wire"],
  ],
  "core/admin": [
    ...["config", "core/active-config.ts", "core/contract", "core/control", "core/errors", "core/intake", "core/router.ts"],
    ...["core/runtime", "core/settings.ts", "core/state", "core/wire"],
  ],
  // Programs and tools.
  "core/mock": ["core/contract"],
  "core/simulate": [
    ...["config", "core/active-config.ts", "core/body", "core/contract", "core/control", "core/data-plane.ts"],
    ...["core/pipeline.ts", "core/settings.ts", "core/stages", "core/state", "core/wire"],
  ],
  "core/fetch.ts": [
    ...[
      "config",
      "core/admin",
      "core/contract",
      "core/control",
      "core/fetch",
      "core/run-router.ts",
      "core/settings.ts",
      "core/wire",
    ],
    "plugins",
  ],
  "core/cli": [
    ...["config", "core/admin", "core/contract", "core/control", "core/errors", "core/intake", "core/mock", "core/router.ts"],
    ...["core/run-router.ts", "core/runtime", "core/settings.ts", "core/simulate", "core/state", "core/wire", "plugins"],
  ],
};

/** Who may import what; each rule names the files it lets through. */
const RULES: readonly {
  readonly name: string;
  readonly isBound: (each: Import) => boolean;
  readonly isAllowed: (each: Import) => boolean;
}[] = [
  {
    name: "each room imports only the rooms it may",
    isBound: ({ file, target }) => isOurs(target) && roomOf(file) !== roomOf(target),
    isAllowed: ({ file, target }) => MAY_IMPORT[roomOf(file)]?.includes(roomOf(target)) ?? false,
  },
  {
    name: "only entry points import plugins, and they import the registry",
    isBound: ({ file, target }) => !file.startsWith("plugins/") && target.startsWith("plugins/"),
    isAllowed: ({ file, target }) => ENTRY_POINTS.has(file) && target === "plugins/registry.ts",
  },
  {
    name: "node: modules are used by the wire, the runtimes, the command line, the mock replica, the config loader, discovery and the trace exporter only",
    isBound: ({ target }) => target.startsWith("node:"),
    isAllowed: ({ file }) => /^(core\/(wire|runtime|cli|mock)|config|plugins\/discovery)\//.test(file) || file === TRACE_EXPORTER,
  },
  {
    name: "each package has one door",
    isBound: ({ target }) => !target.startsWith("node:") && !isOurs(target),
    isAllowed: ({ file, target }) => DOORS[target]?.includes(file) ?? false,
  },
];

const ENTRY_POINTS = new Set(["core/cli/main.ts", "core/fetch.ts", "config/write-schema.ts"]);
const TRACE_EXPORTER = "plugins/observers/otlp-exporter.ts";
const DOORS: Readonly<Record<string, readonly string[]>> = {
  "itty-router": ["core/admin/api/api.ts"],
  zod: ["core/contract/options.ts"],
  yaml: ["config/documents.ts", "config/rewrite-text.ts", "config/format.ts"],
  "tsx/esm/api": ["config/import-module.ts"],
  "@opentelemetry/exporter-trace-otlp-http": [TRACE_EXPORTER],
};

describe("the source tree", () => {
  it("has a rule for every room", () => {
    assert.deepEqual(Object.keys(MAY_IMPORT).sort(), [...new Set(files.map(roomOf))].sort());
  });

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

  for (const document of [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "core/DECISIONS.md",
    "config/LIMITS.md",
    "plugins/observers/METRICS.md",
    "docs/failures.md",
    "docs/observe.md",
    "docs/rollouts.md",
  ]) {
    it(`${document} names only files that exist`, () => {
      const named = [...read(document).matchAll(/`((?:core|plugins|config|tests|examples|docs|\.ci)\/[\w./-]*)`/g)].map(
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

function isOurs(target: string): boolean {
  return /^(core|plugins|config)\//.test(target);
}

/** "core/wire" for what is in that folder, the file itself at the top of core, else the top folder. */
function roomOf(file: string): string {
  const [top = "", second = ""] = file.split("/");
  return top === "core" ? `${top}/${second}` : top;
}

function lineCount(file: string): number {
  return read(file).split("\n").length - 1;
}

function read(file: string): string {
  return readFileSync(join(root, file), "utf8");
}
