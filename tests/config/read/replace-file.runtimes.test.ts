import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, it } from "node:test";
import { restoreFile } from "../../../config/read/replace-file.ts";

const folder = mkdtempSync(join(tmpdir(), "signalbox-replace-"));
after(() => rmSync(folder, { recursive: true }));

it("a file that is restored twice at the same moment has the text, and nothing is left beside it", async () => {
  const file = join(folder, "signalbox.yaml");
  writeFileSync(file, "new");
  await Promise.all([restoreFile(file, "new", "old"), restoreFile(file, "new", "old")]);
  assert.equal(readFileSync(file, "utf8"), "old");
  assert.deepEqual(readdirSync(folder), ["signalbox.yaml"]);
});
