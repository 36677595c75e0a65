import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, it } from "node:test";
import { DOCUMENTS } from "./support/document-blocks.ts";
import { limitsTable } from "./support/limits-table.ts";

const root = join(import.meta.dirname ?? ".", "..");
const SOURCE_FOLDERS = ["core", "plugins", "config"];
const MOST_LINES = 300;
/** Nobody reads it: a tool makes it. */
const GENERATED = "core/epp/ext-proc.ts";

interface Import {
  readonly file: string;
  /** As written: a package, a node: module, or a path relative to the root for a file of ours. */
  readonly target: string;
}

const files = SOURCE_FOLDERS.flatMap((folder) => sourcesBelow(folder));
const imports = files.flatMap(importsOf);

/** What each room may import of the others, apart from itself; each comes behind those that it stands on. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  "core/contract": [],
  "core/report": ["core/contract"],
  "config/read": ["core/contract", "core/report"],
  "core/plugin.ts": ["core/contract"],
  "core/settings": [],
  "core/settings.ts": ["core/contract", "core/settings"],
  "core/active-config.ts": ["core/contract", "core/settings.ts"],
  "config/config.ts": ["config/read", "core/contract", "core/settings.ts"],
  "core/runtime": [],
  "config/schema": ["core/contract", "core/settings"],
  "config/plugins": [
    "config/config.ts",
    "config/read",
    "config/schema",
    "core/contract",
    "core/plugin.ts",
    "core/report",
    "core/runtime",
  ],
  "config/rewrites": ["config/config.ts", "config/read", "config/schema", "core/contract"],
  "config/objectives": ["config/config.ts", "config/read", "config/rewrites", "config/schema", "core/contract"],
  "core/features/section.ts": [
    "config/config.ts",
    "config/plugins",
    "config/read",
    "config/rewrites",
    "config/schema",
    "core/contract",
    "core/settings.ts",
  ],
  "core/state": ["core/contract", "core/report", "core/runtime"],
  "core/services.ts": ["core/contract"],
  "core/features/judge.ts": ["core/active-config.ts", "core/contract", "core/services.ts", "core/state"],
  "core/body": ["core/contract", "core/runtime"],
  "core/wire": ["core/contract", "core/runtime", "core/settings.ts"],
  "core/kubernetes": ["config/read", "core/contract"],
  "core/plugin-watch": ["core/active-config.ts", "core/contract", "core/report"],
  "core/pool": ["core/contract", "core/settings.ts", "core/state", "core/wire"],
  "core/host": ["core/contract", "core/pool", "core/wire"],
  "core/request": [
    "core/active-config.ts",
    "core/body",
    "core/contract",
    "core/plugin-watch",
    "core/settings.ts",
    "core/state",
    "core/wire",
  ],
  "core/stream": ["core/contract"],
  "core/features/feature.ts": [
    "config/read",
    "config/rewrites",
    "core/active-config.ts",
    "core/body",
    "core/contract",
    "core/features/judge.ts",
    "core/features/section.ts",
    "core/host",
    "core/plugin-watch",
    "core/pool",
    "core/report",
    "core/request",
    "core/services.ts",
    "core/state",
    "core/stream",
    "core/wire",
  ],
  "core/features/auth": [
    "config/plugins",
    "config/read",
    "config/schema",
    "core/active-config.ts",
    "core/contract",
    "core/features/feature.ts",
    "core/features/section.ts",
    "core/plugin-watch",
    "core/request",
    "core/runtime",
    "core/settings",
    "core/settings.ts",
    "core/state",
    "core/wire",
  ],
  "core/features/admission": [
    "config/schema",
    "core/active-config.ts",
    "core/contract",
    "core/features/feature.ts",
    "core/features/section.ts",
    "core/plugin-watch",
    "core/report",
    "core/request",
    "core/settings",
    "core/settings.ts",
    "core/state",
  ],
  "core/features/ejection": [
    "config/schema",
    "core/active-config.ts",
    "core/contract",
    "core/features/feature.ts",
    "core/features/judge.ts",
    "core/features/section.ts",
    "core/settings",
    "core/settings.ts",
    "core/state",
  ],
  "core/features/keep-alive": [
    "config/plugins",
    "config/read",
    "config/schema",
    "core/active-config.ts",
    "core/contract",
    "core/features/feature.ts",
    "core/features/section.ts",
    "core/host",
    "core/settings",
    "core/settings.ts",
    "core/stream",
    "core/wire",
  ],
  "core/features/kubernetes": [
    "config/read",
    "config/schema",
    "core/contract",
    "core/features/feature.ts",
    "core/features/section.ts",
    "core/kubernetes",
    "core/settings",
    "core/settings.ts",
  ],
  "core/features/mirror": [
    "config/config.ts",
    "config/read",
    "config/schema",
    "core/body",
    "core/contract",
    "core/features/feature.ts",
    "core/features/section.ts",
    "core/pool",
    "core/report",
    "core/request",
    "core/settings",
    "core/settings.ts",
    "core/state",
    "core/stream",
    "core/wire",
  ],
  "core/features/rollouts": [
    "config/read",
    "config/rewrites",
    "config/schema",
    "core/active-config.ts",
    "core/contract",
    "core/features/feature.ts",
    "core/features/section.ts",
    "core/report",
    "core/settings",
    "core/settings.ts",
    "core/state",
  ],
  "core/features/shadow": [
    "config/config.ts",
    "config/plugins",
    "config/schema",
    "core/active-config.ts",
    "core/contract",
    "core/features/feature.ts",
    "core/features/section.ts",
    "core/plugin-watch",
    "core/report",
    "core/request",
    "core/settings",
    "core/settings.ts",
  ],
  "core/features/list.ts": [
    "core/features/auth",
    "core/features/admission",
    "core/features/ejection",
    "core/features/feature.ts",
    "core/features/keep-alive",
    "core/features/kubernetes",
    "core/features/mirror",
    "core/features/rollouts",
    "core/features/shadow",
  ],
  "config/router": [
    "config/config.ts",
    "config/plugins",
    "config/read",
    "config/schema",
    "core/contract",
    "core/features/list.ts",
    "core/features/section.ts",
    "core/runtime",
    "core/settings",
    "core/settings.ts",
    "core/state",
  ],
  "config/endpoint-picker": ["config/plugins", "config/read", "config/router", "config/schema", "core/contract"],
  "config/load.ts": [
    "config/config.ts",
    "config/endpoint-picker",
    "config/objectives",
    "config/plugins",
    "config/read",
    "config/rewrites",
    "config/router",
    "core/contract",
  ],
  plugins: ["core/contract", "core/report"],
  "core/errors": ["core/contract", "core/host", "core/wire"],
  "config/show": [
    "config/config.ts",
    "config/endpoint-picker",
    "config/load.ts",
    "config/objectives",
    "config/plugins",
    "config/read",
    "config/rewrites",
    "config/router",
    "config/schema",
    "core/contract",
    "core/features/list.ts",
    "core/settings",
    "core/settings.ts",
    "plugins",
  ],
  "core/control": [
    "config/config.ts",
    "config/load.ts",
    "config/plugins",
    "config/read",
    "config/rewrites",
    "config/show",
    "core/active-config.ts",
    "core/contract",
    "core/features/judge.ts",
    "core/report",
    "core/runtime",
    "core/settings.ts",
    "core/state",
    "core/wire",
  ],
  "core/features/live-features.ts": [
    "config/read",
    "core/active-config.ts",
    "core/contract",
    "core/features/feature.ts",
    "core/features/judge.ts",
    "core/features/list.ts",
    "core/request",
  ],
  "core/decide": ["core/active-config.ts", "core/contract", "core/plugin-watch", "core/state"],
  "core/test-kit": ["core/active-config.ts", "core/body", "core/contract", "core/decide", "core/report", "core/state"],
  "core/test-kit.ts": ["core/contract", "core/test-kit"],
  "core/router-parts.ts": [
    "core/active-config.ts",
    "core/body",
    "core/features/live-features.ts",
    "core/plugin-watch",
    "core/pool",
    "core/services.ts",
    "core/wire",
  ],
  "core/run.ts": ["core/active-config.ts", "core/body", "core/contract", "core/host", "core/request", "core/router-parts.ts"],
  "core/forward": [
    "core/active-config.ts",
    "core/contract",
    "core/errors",
    "core/features/feature.ts",
    "core/pool",
    "core/request",
    "core/router-parts.ts",
    "core/run.ts",
    "core/state",
    "core/stream",
    "core/wire",
  ],
  "core/pipeline.ts": [
    "core/contract",
    "core/decide",
    "core/features/feature.ts",
    "core/forward",
    "core/request",
    "core/run.ts",
    "core/state",
  ],
  "core/intake": [
    "core/active-config.ts",
    "core/body",
    "core/contract",
    "core/decide",
    "core/errors",
    "core/features/feature.ts",
    "core/forward",
    "core/host",
    "core/pipeline.ts",
    "core/plugin-watch",
    "core/report",
    "core/request",
    "core/router-parts.ts",
    "core/run.ts",
    "core/state",
    "core/wire",
  ],
  "core/router.ts": [
    "config/load.ts",
    "core/active-config.ts",
    "core/control",
    "core/features/live-features.ts",
    "core/host",
    "core/intake",
    "core/pool",
    "core/router-parts.ts",
    "core/state",
  ],
  "core/server": ["core/contract", "core/errors", "core/host", "core/runtime", "core/settings.ts", "core/wire"],
  "core/admin": [
    "config/config.ts",
    "config/load.ts",
    "config/read",
    "config/rewrites",
    "config/schema",
    "config/show",
    "core/active-config.ts",
    "core/body",
    "core/contract",
    "core/control",
    "core/errors",
    "core/features/judge.ts",
    "core/features/list.ts",
    "core/features/live-features.ts",
    "core/host",
    "core/plugin-watch",
    "core/pool",
    "core/report",
    "core/router-parts.ts",
    "core/router.ts",
    "core/runtime",
    "core/server",
    "core/settings.ts",
    "core/state",
    "core/wire",
  ],
  "core/grpc": ["core/body", "core/contract", "core/errors", "core/runtime", "core/settings.ts", "core/wire"],
  "core/epp": [
    "core/body",
    "core/contract",
    "core/errors",
    "core/grpc",
    "core/host",
    "core/pool",
    "core/settings.ts",
    "core/state",
    "core/wire",
  ],
  "core/fetch": ["core/contract", "core/errors", "core/host", "core/settings.ts", "core/wire"],
  "core/live-parts.ts": [
    "core/body",
    "core/control",
    "core/features/live-features.ts",
    "core/intake",
    "core/plugin-watch",
    "core/pool",
    "core/router-parts.ts",
    "core/runtime",
    "core/services.ts",
    "core/settings.ts",
    "core/wire",
  ],
  "core/run-router.ts": [
    "config/load.ts",
    "core/admin",
    "core/contract",
    "core/control",
    "core/features/live-features.ts",
    "core/intake",
    "core/live-parts.ts",
    "core/router.ts",
    "core/state",
    "core/wire",
  ],
  "core/fetch.ts": [
    "config/load.ts",
    "config/read",
    "config/rewrites",
    "core/admin",
    "core/contract",
    "core/control",
    "core/fetch",
    "core/run-router.ts",
    "core/settings.ts",
    "core/wire",
    "plugins",
  ],
  "core/engine": [],
  "core/mock": ["core/contract", "core/engine"],
  "core/simulate": [
    "config/load.ts",
    "core/active-config.ts",
    "core/body",
    "core/contract",
    "core/control",
    "core/decide",
    "core/engine",
    "core/features/admission",
    "core/features/judge.ts",
    "core/features/live-features.ts",
    "core/forward",
    "core/pool",
    "core/request",
    "core/services.ts",
    "core/settings.ts",
    "core/state",
    "core/wire",
  ],
  "core/cli": [
    "config/config.ts",
    "config/load.ts",
    "config/read",
    "config/rewrites",
    "config/router",
    "config/schema",
    "config/show",
    "core/active-config.ts",
    "core/admin",
    "core/contract",
    "core/control",
    "core/engine",
    "core/epp",
    "core/errors",
    "core/features/auth",
    "core/features/kubernetes",
    "core/features/list.ts",
    "core/features/rollouts",
    "core/intake",
    "core/kubernetes",
    "core/mock",
    "core/report",
    "core/router.ts",
    "core/run-router.ts",
    "core/runtime",
    "core/server",
    "core/settings",
    "core/settings.ts",
    "core/simulate",
    "core/state",
    "core/wire",
    "plugins",
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
    name: "node: modules are used by the wire, the servers, the Kubernetes client, the runtimes, the command line, the mock replica, the config loader, discovery, authenticators and the trace exporter only",
    isBound: ({ target }) => target.startsWith("node:"),
    isAllowed: ({ file }) =>
      /^(core\/(kubernetes|wire|server|grpc|runtime|cli|mock)|config|plugins\/(discovery|authenticators))\//.test(file) ||
      file === TRACE_EXPORTER,
  },
  {
    name: "each package has one door",
    isBound: ({ target }) => !target.startsWith("node:") && !isOurs(target),
    isAllowed: ({ file, target }) => DOORS[target]?.includes(file) ?? false,
  },
];

const ENTRY_POINTS = new Set(["core/cli/main.ts", "core/fetch.ts", "config/show/write-schema.ts"]);
const TRACE_EXPORTER = "plugins/observers/otlp-exporter.ts";
const DOORS: Readonly<Record<string, readonly string[]>> = {
  "eventsource-parser": ["core/cli/admin/follow-events.ts"],
  "fast-string-truncated-width": ["core/cli/show/text-width.ts"],
  "itty-router": ["core/admin/api/api.ts"],
  jose: ["plugins/authenticators/verify-token.ts"],
  murmurhash3js: ["core/contract/ring-place.ts"],
  pbf: ["core/epp/messages.ts", "core/epp/ext-proc.ts"],
  zod: ["core/contract/options.ts"],
  yaml: ["config/read/documents.ts", "config/rewrites/write-file.ts", "config/show/format.ts", "core/features/auth/edit-keys.ts"],
  "web-streams-polyfill": ["core/fetch/web-streams.ts"],
  "tsx/esm/api": ["config/plugins/import-module.ts"],
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

  it("has no circle of files, nor of rooms", () => {
    assert.deepEqual(circleIn(graphBy((file) => file)), []);
    assert.deepEqual(circleIn(graphBy(roomOf)), []);
  });

  it("has no file that is too long for one sitting", () => {
    const long = files.filter((file) => file !== GENERATED && lineCount(file) > MOST_LINES);
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
  it("config/LIMITS.md has the table that `npm run limits-table` writes", () => {
    const text = read("config/LIMITS.md");
    const table = limitsTable(text);
    assert.ok(text.includes(table));
    assert.deepEqual(
      table.split("\n").filter((line) => /\| *\|$/.test(line)),
      [],
      "limits without a reason",
    );
  });

  for (const document of [...DOCUMENTS, "ARCHITECTURE.md", "core/DECISIONS.md", "plugins/observers/METRICS.md"]) {
    it(`${document} names only files that exist`, () => {
      const named = [...read(document).matchAll(/`((?:core|plugins|config|tests|examples|docs|\.ci)\/[\w./-]*)`/g)].map(
        ([, path]) => path ?? "",
      );
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

/** "core/wire" for what is in that folder, the file itself at the top of core or config, a feature's own folder; plugins are one room. */
function roomOf(file: string): string {
  const [top = "", second = "", third = ""] = file.split("/");
  if (top === "plugins") return top;
  return second === "features" ? `${top}/${second}/${third}` : `${top}/${second}`;
}

/** A way from a node back to itself, as the nodes on it; none if there is no circle. */
function circleIn(graph: ReadonlyMap<string, ReadonlySet<string>>): readonly string[] {
  const done = new Set<string>();
  const walk = (node: string, path: readonly string[]): readonly string[] => {
    if (path.includes(node)) return [...path.slice(path.indexOf(node)), node];
    if (done.has(node)) return [];
    for (const next of graph.get(node) ?? []) {
      const circle = walk(next, [...path, node]);
      if (circle.length > 0) return circle;
    }
    done.add(node);
    return [];
  };
  for (const node of graph.keys()) {
    const circle = walk(node, []);
    if (circle.length > 0) return circle;
  }
  return [];
}

/** What imports what, by a name for each file. */
function graphBy(nameOf: (file: string) => string): ReadonlyMap<string, ReadonlySet<string>> {
  const graph = new Map<string, Set<string>>();
  for (const { file, target } of imports) {
    if (!isOurs(target) || nameOf(file) === nameOf(target)) continue;
    const targets = graph.get(nameOf(file)) ?? new Set();
    graph.set(nameOf(file), targets.add(nameOf(target)));
  }
  return graph;
}

function lineCount(file: string): number {
  return read(file).split("\n").length - 1;
}

function read(file: string): string {
  return readFileSync(join(root, file), "utf8");
}
