import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { FileWatch, LOOK_MS } from "../../../apps/cli/file-watch.ts";
import { FakeClock } from "../../support/fake-clock.ts";

/** A folder with `a.yaml`, `folder/b.yaml`, `plugin.ts`, and `mounted/c.yaml` as a ConfigMap mounts it; a watch over all. */
async function setUp() {
  const root = mkdtempSync(join(tmpdir(), "signalbox-watch-"));
  after(() => rmSync(root, { recursive: true }));
  const at = (name: string) => join(root, name);
  for (const folder of ["folder", "mounted", "mounted/..1", "mounted/..2"]) mkdirSync(at(folder));
  for (const file of ["a.yaml", "folder/b.yaml", "plugin.ts", "mounted/..1/c.yaml", "mounted/..2/c.yaml"])
    writeFileSync(at(file), "one\n");
  symlinkSync("..1", at("mounted/..data"));
  symlinkSync("..data/c.yaml", at("mounted/c.yaml"));
  const clock = new FakeClock();
  let changes = 0;
  const paths = ["a.yaml", "folder", "mounted"].map(at);
  const changed = () => {
    changes += 1;
  };
  const watch = new FileWatch({ clock, lookMs: LOOK_MS, paths, changed });
  await watch.reading();
  await watch.follow([at("plugin.ts")]);
  const look = async () => {
    await clock.advance(400);
    await watch.look();
    return changes;
  };
  return { at, watch, look, clock };
}

describe("a change that is noticed, once, when the files are at rest", () => {
  const replace = (target: string) => {
    writeFileSync(`${target}.new`, "two\n");
    renameSync(`${target}.new`, target);
  };
  const cases: readonly (readonly [name: string, change: (at: (name: string) => string) => void])[] = [
    ["a file that is written", (at) => appendFileSync(at("a.yaml"), "more\n")],
    ["a file of the same size renamed over it, as editors do", (at) => replace(at("a.yaml"))],
    ["a file that is gone", (at) => rmSync(at("a.yaml"))],
    ["a folder that gains a file", (at) => writeFileSync(at("folder/c.yaml"), "")],
    ["a folder that loses a file", (at) => rmSync(at("folder/b.yaml"))],
    ["a file of a folder that is written", (at) => appendFileSync(at("folder/b.yaml"), "more\n")],
    ["a folder that is gone", (at) => rmSync(at("folder"), { recursive: true })],
    ["a file that the config depends on", (at) => replace(at("plugin.ts"))],
    [
      "a symbolic link that leads elsewhere, as that of a ConfigMap",
      (at) => {
        symlinkSync("..2", at("mounted/..new"));
        renameSync(at("mounted/..new"), at("mounted/..data"));
      },
    ],
  ];
  for (const [name, change] of cases) {
    test(name, async () => {
      const { at, look } = await setUp();
      assert.equal(await look(), 0);
      change(at);
      assert.deepEqual([await look(), await look(), await look()], [0, 1, 1]);
    });
  }
});

test("what is no config file in a folder is no change", async () => {
  const { at, look } = await setUp();
  for (const name of ["folder/.b.yaml.swp", "folder/notes.md", "folder/b.yaml~"]) writeFileSync(at(name), "");
  assert.deepEqual([await look(), await look()], [0, 0]);
});

test("a file that is being written is waited for, but not for ever", async () => {
  const { at, look } = await setUp();
  const counts: number[] = [];
  for (let n = 0; n < 5; n++) {
    appendFileSync(at("a.yaml"), "more\n");
    counts.push(await look());
  }
  assert.deepEqual(counts, [0, 0, 0, 1, 1], "at 400 ms it begins; a second later it counts");
});

test("what was there when the config was read is no change", async () => {
  const { at, watch, look } = await setUp();
  appendFileSync(at("a.yaml"), "more\n");
  await watch.reading();
  assert.deepEqual([await look(), await look()], [0, 0]);
});

test("a file that comes to be depended on is no change by itself", async () => {
  const { at, watch, look } = await setUp();
  writeFileSync(at("other.ts"), "one");
  await watch.follow([at("plugin.ts"), at("other.ts")]);
  assert.deepEqual([await look(), await look()], [0, 0]);
  writeFileSync(at("other.ts"), "two!");
  assert.deepEqual([await look(), await look()], [0, 1]);
});

test("a watch that is stopped leaves no timer", async () => {
  const { watch, clock } = await setUp();
  watch.start();
  assert.equal(clock.pending, 1);
  watch.stop();
  assert.equal(clock.pending, 0);
});
