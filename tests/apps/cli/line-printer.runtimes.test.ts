import assert from "node:assert/strict";
import { test } from "node:test";
import { linePrinter } from "../../../apps/cli/line-printer.ts";
import { FakeClock } from "../../support/fake-clock.ts";

function setUp(isTerminal = false) {
  const clock = new FakeClock();
  const written: string[] = [];
  const printer = linePrinter(clock, isTerminal, (lines) => {
    written.push(typeof lines === "string" ? lines : new TextDecoder().decode(lines));
  });
  return { clock, written, printer };
}

test("gathers lines and writes them after a while, when there are many, and at the end", async () => {
  const { clock, written, printer } = setUp();
  printer.print("a");
  await clock.advance(99);
  printer.print("b");
  assert.deepEqual(written, []);
  await clock.advance(1);
  assert.deepEqual(written, ["a\nb\n"]);
  for (let i = 0; i < 14; i++) printer.print("x".repeat(10_000));
  assert.equal(written.length, 2);
  printer.print("c");
  printer.close();
  assert.equal(written.slice(1).join(""), `${"x".repeat(10_000)}\n`.repeat(14).concat("c\n"));
});

test("while nothing is printed no timer runs", async () => {
  const { clock, written, printer } = setUp();
  assert.equal(clock.pending, 0);
  printer.print("a");
  await clock.advance(1_000);
  assert.deepEqual([written, clock.pending], [["a\n"], 0]);
  printer.print("b");
  printer.close();
  assert.deepEqual([written, clock.pending], [["a\n", "b\n"], 0]);
  printer.print("late");
  await clock.advance(100);
  assert.deepEqual(written, ["a\n", "b\n", "late\n"]);
});

test("lines of any length and in any script are written whole and in order", () => {
  const { written, printer } = setUp();
  const lines = ["größe モデル 🚂", "x".repeat(200_000), "", "模".repeat(43_690), "模".repeat(43_691), "after"];
  for (const line of lines) printer.print(line);
  printer.close();
  assert.equal(written.join(""), lines.map((line) => `${line}\n`).join(""));
});

test("what was written does not change when more is printed", () => {
  const written: Uint8Array[] = [];
  const clock = new FakeClock();
  const printer = linePrinter(clock, false, (lines) => written.push(lines as Uint8Array));
  for (let i = 0; i < 30; i++) printer.print(String(i % 10).repeat(9_999));
  printer.close();
  const text = written.map((bytes) => new TextDecoder().decode(bytes)).join("");
  for (let i = 0; i < 30; i++) assert.equal(text[i * 10_000], String(i % 10));
});

test("a terminal gets each line at once", () => {
  const { written, printer } = setUp(true);
  printer.print("a");
  assert.deepEqual(written, ["a\n"]);
});
