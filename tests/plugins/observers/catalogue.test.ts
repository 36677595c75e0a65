import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { catalogueRows, fullPage, readFamilies } from "../../support/metrics-page.ts";

const FILE = join(import.meta.dirname ?? ".", "..", "..", "..", "plugins", "observers", "METRICS.md");

describe("plugins/observers/METRICS.md", () => {
  it("lists every family of the page with its type, labels and meaning, as `npm run metrics-table` prints them", () => {
    const rows = [...readFileSync(FILE, "utf8").matchAll(/^\| `\w+`.*$/gm)].map(([row]) => row.replace(/ +/g, " "));
    assert.deepEqual(rows, catalogueRows());
  });

  it("has no family without a sample in this test", () => {
    const empty = readFamilies(fullPage()).filter(({ samples }) => samples.length === 0);
    assert.deepEqual(
      empty.map(({ name }) => name),
      [],
    );
  });
});
