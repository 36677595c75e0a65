import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { loadConfig } from "../../../config/load.ts";
import { readFiles } from "../../../config/read/files.ts";
import { formatProblem, type Problem } from "../../../config/read/problems.ts";
import { POOL, registry, router } from "../support.ts";

let root = "";
const at = (name: string) => join(root, name);

before(() => {
  root = mkdtempSync(join(tmpdir(), "signalbox-config-"));
  mkdirSync(at("folder/nested.yaml"), { recursive: true });
  mkdirSync(at("empty"));
  for (const name of ["b.yaml", "a.json", "c.yml", "notes.md", ".hidden.yaml", "a.yaml.swp"])
    writeFileSync(at(join("folder", name)), name);
  rmSync(at("folder/nested.yaml"), { recursive: true });
  symlinkSync(at("folder/b.yaml"), at("link.yaml"));
  writeFileSync(at("latin1.yaml"), Buffer.from([0x61, 0x3a, 0x20, 0xe9, 0x0a]));
  // As /proc/self/environ is.
  writeFileSync(at("environment"), "TOKEN=hunter2\0HOME=/root\0");
  writeFileSync(at("full.yaml"), "#".repeat(1024 * 1024));
  writeFileSync(at("large.yaml"), "#".repeat(1024 * 1024 + 1));
});
after(() => rmSync(root, { recursive: true }));

async function read(...paths: readonly string[]) {
  const problems: Problem[] = [];
  const texts = await readFiles(paths, problems);
  return {
    names: texts.map(({ file }) => file.replace(`${root}/`, "")),
    texts,
    lines: problems.map((one) => formatProblem(one).replace(`${root}/`, "")),
  };
}

describe("readFiles", () => {
  const good: readonly (readonly [name: string, paths: readonly string[], names: readonly string[]])[] = [
    ["reads files in the given order", ["folder/c.yml", "folder/b.yaml"], ["folder/c.yml", "folder/b.yaml"]],
    ["reads config files of a folder by name", ["folder"], ["folder/a.json", "folder/b.yaml", "folder/c.yml"]],
    [
      "reads a file once",
      ["folder/b.yaml", "folder", "folder/../folder/a.json"],
      ["folder/b.yaml", "folder/a.json", "folder/c.yml"],
    ],
    ["reads a named file with any extension", ["folder/notes.md"], ["folder/notes.md"]],
    ["follows links", ["link.yaml"], ["link.yaml"]],
    ["accepts exactly one MiB", ["full.yaml"], ["full.yaml"]],
  ];
  for (const [name, paths, names] of good) {
    test(name, async () => {
      const result = await read(...paths.map(at));
      assert.deepEqual(result.lines, []);
      assert.deepEqual(result.names, names);
    });
  }

  const bad: readonly (readonly [name: string, path: string, line: string])[] = [
    [
      "a file that is no text",
      "environment",
      "environment  found a zero byte, which no text has; wanted a config in YAML or JSON.",
    ],
    ["a missing file", "nope.yaml", "nope.yaml  found no such file or folder. Check the path given with -f."],
    [
      "a folder without config files",
      "empty",
      "empty  found a folder without config files; wanted a .yaml, .yml or .json file in it.",
    ],
    [
      "more than a MiB",
      "large.yaml",
      "large.yaml  found more than 1 MiB of text; wanted a smaller file. Split it: -f takes a folder too.",
    ],
    ["another encoding", "latin1.yaml", "latin1.yaml  found bytes that are not UTF-8 text; wanted a file saved as UTF-8."],
  ];
  for (const [name, path, line] of bad) {
    test(`refuses ${name}`, async () => {
      const { names, lines } = await read(at(path));
      assert.deepEqual(lines, [line]);
      assert.deepEqual(names, []);
    });
  }

  test("continues after an unreadable file", async () => {
    assert.deepEqual((await read(at("nope.yaml"), at("folder/b.yaml"))).names, ["folder/b.yaml"]);
  });
});

test("loadConfig combines the documents of all files", async () => {
  mkdirSync(at("config"));
  writeFileSync(at("config/router.yaml"), router(POOL));
  writeFileSync(
    at("config/rewrite.json"),
    JSON.stringify({
      apiVersion: "llm-d.ai/v1alpha2",
      kind: "InferenceModelRewrite",
      metadata: { name: "x" },
      spec: { poolRef: { name: "llama" }, rules: [{ targets: [{ modelRewrite: "m" }] }] },
    }),
  );
  const { config, problems } = await loadConfig([at("config")], registry);
  assert.equal(problems, undefined);
  assert.deepEqual(
    config?.rewrites.map(({ name }) => name),
    ["x/0"],
  );
});
