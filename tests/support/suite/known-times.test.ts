import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { KnownTimes } from "./known-times.ts";

const folder = mkdtempSync(join(tmpdir(), "signalbox-times-"));
after(() => rmSync(folder, { recursive: true }));

describe("how long tests take here", () => {
  const file = join(folder, "cache", "times.json");

  it("is not known at first, and then as long as the last time", () => {
    assert.match(new KnownTimes(file).text("all"), /not known yet/);
    new KnownTimes(file).remember("all", 1000);
    new KnownTimes(file).remember("node tests/core", 45.4);
    assert.equal(new KnownTimes(file).text("all"), "This took 17 minutes here the last time.");
    assert.equal(new KnownTimes(file).text("node tests/core"), "This took 45 s here the last time.");
    new KnownTimes(file).remember("all", 90);
    assert.equal(new KnownTimes(file).text("all"), "This took 90 s here the last time.");
  });

  it("is forgotten for the oldest of many selections", () => {
    for (let at = 0; at < 60; at++) new KnownTimes(file).remember(`tests/${at}`, at);
    assert.match(new KnownTimes(file).text("all"), /not known yet/);
    assert.match(new KnownTimes(file).text("tests/59"), /59 s/);
  });

  for (const text of ["", "{", "null", '{"all":1}', '[["all"]]', '[["all","soon"]]'])
    it(`is not known where the file says ${JSON.stringify(text)}`, () => {
      writeFileSync(file, text);
      assert.match(new KnownTimes(file).text("all"), /not known yet/);
      new KnownTimes(file).remember("all", 5);
      assert.match(new KnownTimes(file).text("all"), /5 s/);
    });
});
