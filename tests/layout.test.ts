import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { DOCUMENTS } from "./support/document-blocks.ts";
import { withPictures } from "./support/documents/architecture-page.ts";
import { limitsTable } from "./support/documents/limits-table.ts";
import { FLOORS } from "./support/layers.ts";
import {
  closureOf,
  filesBelow,
  type Import,
  importsOf,
  isOurs,
  lineCount,
  linesOf,
  read,
  roomOf,
  root,
  SOURCE_FOLDERS,
  sourcesBelow,
} from "./support/source-graph.ts";

const MOST_LINES = 300;
const MOST_TEST_LINES = 400;
/** Nobody reads it: a tool makes it. */
const GENERATED = "apps/epp/ext-proc.ts";

const files = SOURCE_FOLDERS.flatMap((folder) => sourcesBelow(folder));
const imports = files.flatMap(importsOf);

const LAYERS = FLOORS.flatMap(({ layers }) => layers);
const layerOf = (room: string) => LAYERS.findIndex((layer) => layer.includes(room));

/** Who may import what; each rule names the files it lets through. */
const RULES: readonly {
  readonly name: string;
  readonly isBound: (each: Import) => boolean;
  readonly isAllowed: (each: Import) => boolean;
}[] = [
  {
    name: "each room imports only rooms of the layers below it",
    isBound: ({ file, target }) => isOurs(target) && roomOf(file) !== roomOf(target),
    isAllowed: ({ file, target }) => layerOf(roomOf(target)) < layerOf(roomOf(file)),
  },
  {
    name: "the core imports nothing but the core",
    isBound: ({ file, target }) => file.startsWith("core/") && isOurs(target),
    isAllowed: ({ target }) => target.startsWith("core/"),
  },
  {
    name: "the config imports the core, and no app",
    isBound: ({ file, target }) => file.startsWith("config/") && isOurs(target),
    isAllowed: ({ target }) => /^(config|core)\//.test(target),
  },
  {
    name: "plugins import contracts, what puts facts into words, and what reads files; features more of the core, and how the config reads a section",
    isBound: ({ file, target }) => file.startsWith("plugins/") && isOurs(target),
    isAllowed: ({ file, target }) =>
      /^(core\/(contract|report)|plugins)\//.test(target) ||
      target === "core/runtime/read-file.ts" ||
      (file.startsWith("plugins/features/") && /^(core|config)\//.test(target)) ||
      (/^plugins\/features\/(kubernetes|shared)\//.test(file) && target.startsWith("apps/kubernetes/")),
  },
  {
    name: "a feature imports no other feature",
    isBound: ({ file, target }) => file.startsWith("plugins/features/") && target.startsWith("plugins/"),
    isAllowed: ({ file, target }) => target.startsWith(`plugins/features/${file.split("/")[2]}/`),
  },
  {
    name: "apps import no other app; the command line starts them all, and the fetch face mounts the admin API",
    isBound: ({ file, target }) => file.startsWith("apps/") && target.startsWith("apps/"),
    isAllowed: ({ file, target }) =>
      roomOf(file) === roomOf(target) ||
      file.startsWith("apps/cli/") ||
      (file === "apps/fetch.ts" && roomOf(target) === "apps/admin"),
  },
  {
    name: "the registry is the one door to plugins; entry points import it, and hand it on",
    isBound: ({ file, target }) => !file.startsWith("plugins/") && target.startsWith("plugins/"),
    isAllowed: ({ file, target }) => target === "plugins/registry.ts" && ENTRY_POINTS.has(file),
  },
  {
    name: "node: modules are used by the wire, the servers, the Kubernetes client, the runtimes, the command line, the mock replica, the config loader, discovery, authenticators, commands of features, the inflater of bodies and the trace exporter only",
    isBound: ({ target }) => target.startsWith("node:"),
    isAllowed: ({ file }) =>
      /^(core\/(wire|server|runtime)|apps\/(kubernetes|epp\/grpc|cli|import|lab\/mock)|config|plugins\/(discovery|authenticators))\//.test(
        file,
      ) ||
      /^plugins\/features\/[\w-]+\/[\w-]+-command\.ts$/.test(file) ||
      file === INFLATER ||
      file === TRACE_EXPORTER,
  },
  {
    name: "each package has one door",
    isBound: ({ target }) => !target.startsWith("node:") && !isOurs(target),
    isAllowed: ({ file, target }) => DOORS[target]?.includes(file) ?? false,
  },
];

const ENTRY_POINTS = new Set(["apps/cli/main.ts", "apps/fetch.ts"]);
const INFLATER = "plugins/features/compressed-bodies/inflater.ts";
const TRACE_EXPORTER = "plugins/observers/otlp-exporter.ts";
const DOORS: Readonly<Record<string, readonly string[]>> = {
  "eventsource-parser": ["apps/cli/admin/follow-events.ts"],
  "fast-string-truncated-width": ["core/report/text-width.ts"],
  "itty-router": ["apps/admin/api/api.ts"],
  jose: ["plugins/authenticators/verify-token.ts"],
  murmurhash3js: ["core/contract/ring-place.ts"],
  pbf: ["apps/epp/messages.ts", "apps/epp/ext-proc.ts"],
  zod: ["core/contract/options.ts"],
  yaml: [
    "config/read/documents.ts",
    "config/read/document-marks.ts",
    "config/rewrites/write-file.ts",
    "config/show/format.ts",
    "plugins/features/auth/edit-keys.ts",
  ],
  "web-streams-polyfill": ["core/fetch/web-streams.ts"],
  "tsx/esm/api": ["config/plugins/import-module.ts"],
  "@opentelemetry/exporter-trace-otlp-http": [TRACE_EXPORTER],
  ioredis: ["plugins/features/shared/redis-link.ts"],
  "@nats-io/transport-node": ["plugins/features/shared/nats-link.ts"],
};

describe("the source tree", () => {
  it("has a rule for every room", () => {
    assert.deepEqual(LAYERS.flat().sort(), [...new Set(files.map(roomOf))].sort());
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

  it("has no circle of files, of rooms, nor of what is side by side in a folder", () => {
    assert.deepEqual(circleIn(graphBy((file) => file)), []);
    assert.deepEqual(circleIn(graphBy(roomOf)), []);
    assert.deepEqual(circleIn(graphOfNeighbours()), []);
  });

  it("has no file that is too long for one sitting", () => {
    const long = files.filter((file) => file !== GENERATED && lineCount(file) > MOST_LINES);
    assert.deepEqual(
      long.map((file) => `${file}: ${lineCount(file)} lines`),
      [],
    );
  });

  it("has a core of the size that ARCHITECTURE.md says", () => {
    const lines = linesOf(closureOf("core/create-core.ts", false));
    const [, written] = /^\| all +\| (\d+)/m.exec(read("ARCHITECTURE.md")) ?? [];
    assert.ok(Math.abs(Number(written) - lines) < lines / 20, `ARCHITECTURE.md says ${written}: run npm run architecture`);
  });

  it("has a lock file without download addresses", () => {
    assert.doesNotMatch(read("package-lock.json"), /"resolved"|\.tgz/);
  });

  it("has no test file that is too long for one sitting", () => {
    const long = filesBelow("tests", ".ts").filter((file) => lineCount(file) > MOST_TEST_LINES);
    assert.deepEqual(long, []);
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

  it("ARCHITECTURE.md has the pictures that `npm run architecture` writes", () => {
    const text = read("ARCHITECTURE.md");
    assert.equal(text, withPictures(text));
  });

  const decisions = [...SOURCE_FOLDERS, "tests"].flatMap((folder) => filesBelow(folder, "/DECISIONS.md"));

  it("tests/support/README.md lists each file of the folder once", () => {
    const page = read("tests/support/README.md");
    const isListed = (name: string) => page.split(`\`${name}\``).length === 2;
    const names = readdirSync(join(root, "tests/support"), { withFileTypes: true })
      .filter(({ name }) => name !== "README.md" && !name.endsWith(".test.ts"))
      .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name));
    assert.deepEqual(
      names.filter((name) => !isListed(name)),
      [],
    );
  });

  it("docs/decisions.md lists every DECISIONS.md", () => {
    const listed = [...read("docs/decisions.md").matchAll(/^\| `([^`]+)`/gm)].map(([, path]) => path ?? "");
    assert.deepEqual(listed.sort(), [...decisions].sort());
  });

  for (const document of new Set([...DOCUMENTS, ...decisions, "ARCHITECTURE.md", "plugins/observers/METRICS.md"])) {
    it(`${document} names only files that exist`, () => {
      const named = [...read(document).matchAll(/`((?:core|plugins|config|apps|tests|examples|docs|\.ci)\/[\w./-]*)`/g)].map(
        ([, path]) => path ?? "",
      );
      assert.deepEqual(
        named.filter((path) => !existsSync(join(root, path))),
        [],
      );
    });
  }
});

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

/** Files and folders of the same folder, below those at the top: an import counts for the two under which its ends part. */
function graphOfNeighbours(): ReadonlyMap<string, ReadonlySet<string>> {
  const graph = new Map<string, Set<string>>();
  for (const { file, target } of imports) {
    const [from, to] = [file.split("/"), target.split("/")];
    const parting = from.findIndex((name, at) => name !== to[at]);
    if (parting < 1) continue;
    const [neighbour, other] = [from, to].map((path) => path.slice(0, parting + 1).join("/")) as [string, string];
    graph.set(neighbour, (graph.get(neighbour) ?? new Set()).add(other));
  }
  return graph;
}
