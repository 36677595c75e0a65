import assert from "node:assert/strict";
import { test } from "node:test";
import { linePrinter } from "../../../core/cli/line-printer.ts";
import { FakeClock } from "../../support/fake-clock.ts";

test("gathers lines and writes them after a while, when there are many, and at the end", async () => {
  const clock = new FakeClock();
  const written: string[] = [];
  const printer = linePrinter(clock, false, (text) => written.push(text));
  printer.print("a");
  printer.print("b");
  assert.deepEqual(written, []);
  await clock.advance(100);
  assert.deepEqual(written, ["a\nb\n"]);
  printer.print("x".repeat(20_000));
  assert.equal(written.length, 2);
  printer.print("c");
  printer.close();
  assert.equal(written.at(-1), "c\n");
});

test("a terminal gets each line at once", () => {
  const written: string[] = [];
  linePrinter(new FakeClock(), true, (text) => written.push(text)).print("a");
  assert.deepEqual(written, ["a\n"]);
});
