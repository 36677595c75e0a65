import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import fc from "fast-check";
import { readSamples } from "../../../plugins/sources/prometheus-text.ts";

type Sample = readonly [name: string, labels: Readonly<Record<string, string>>, value: number];

function samplesOf(text: string): readonly Sample[] {
  const samples: Sample[] = [];
  readSamples(
    text,
    (name) => name.startsWith("w"),
    (name, labels, value) => samples.push([name, Object.fromEntries(labels), value]),
  );
  return samples;
}

describe("a wanted line", () => {
  const cases: readonly [line: string, sample: Sample][] = [
    ["w 1", ["w", {}, 1]],
    ["w:a_b 1.5e+03", ["w:a_b", {}, 1500]],
    ["  w\t2  1700000000000", ["w", {}, 2]],
    ["w 1\r", ["w", {}, 1]],
    ["w{} 1", ["w", {}, 1]],
    ['w{a="b"} 1', ["w", { a: "b" }, 1]],
    ['w { a = "b" , c="d", } 1', ["w", { a: "b", c: "d" }, 1]],
    ['w{a="x,y=\\"z\\"}{",b="back\\\\slash\\n"} 0.25', ["w", { a: 'x,y="z"}{', b: "back\\slash\n" }, 0.25]],
    ['w{a=""} NaN', ["w", { a: "" }, Number.NaN]],
    ["w +Inf", ["w", {}, Number.POSITIVE_INFINITY]],
    ["w -Inf", ["w", {}, Number.NEGATIVE_INFINITY]],
    ["w -0.5", ["w", {}, -0.5]],
  ];
  for (const [line, sample] of cases) it(JSON.stringify(line), () => assert.deepEqual(samplesOf(line), [sample]));
});

describe("a line that can't be read", () => {
  const broken = ["w", "w ", "w x", 'w{a="b"', 'w{a="b} 1', "w{a=b} 1", 'w{a="b"} ', 'w{a="b" "c"} 1', "w{a 1"];
  for (const line of broken) it(JSON.stringify(line), () => assert.throws(() => samplesOf(line), /broken line for "w"/));

  it("does no harm if its name is not wanted", () => assert.deepEqual(samplesOf('x{a="b\n<html>\n=\ny'), []));
});

test("other lines are skipped", () => {
  const text = '# HELP w counts\n# TYPE w gauge\n\nx{a="w 9"} 1\nw 1\n\nxw 3\nw{e="1"} 2\n';
  assert.deepEqual(samplesOf(text), [
    ["w", {}, 1],
    ["w", { e: "1" }, 2],
  ]);
});

test("any label value is read as it was written", () => {
  const escaped = (value: string) => value.replace(/[\\"]/g, "\\$&").replace(/\n/g, "\\n");
  const roundTrip = fc.property(
    fc.string({ unit: "grapheme" }),
    fc.double({ noNaN: true }).map((number) => number + 0),
    (value, number) => {
      const word = Number.isFinite(number) ? String(number) : number > 0 ? "+Inf" : "-Inf";
      assert.deepEqual(samplesOf(`x 1\nw{l="${escaped(value)}"} ${word}\nx 2`), [["w", { l: value }, number]]);
    },
  );
  fc.assert(roundTrip, { seed: 4711, numRuns: 500 });
});

test("a long label value takes linear time", () => {
  const long = '\\"'.repeat(200_000);
  assert.equal(samplesOf(`w{l="${long}"} 1`)[0]?.[1]["l"]?.length, 200_000);
});
