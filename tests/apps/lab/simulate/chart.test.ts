import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { chart } from "../../../../apps/lab/simulate/chart.ts";
import { Recorder } from "../../../../apps/lab/simulate/metrics.ts";
import type { Run } from "../../../../apps/lab/simulate/run.ts";

const run = (name: string, seconds: number): Run => ({
  name,
  ...new Recorder().metrics(0, 0, []),
  ttftSeconds: { mean: seconds, p50: 0.8 * seconds, p90: 2 * seconds, p99: 7 * seconds },
});
const numbersOf = (svg: string, pattern: RegExp) => Array.from(svg.matchAll(pattern), ([, number]) => Number(number));

describe("the chart", () => {
  it("has a row for each run with a mark for each number; longer times are further right", () => {
    const svg = chart([run("a", 1), run("b", 3)]);
    for (const name of ["a", "b"]) assert.ok(svg.includes(`text-anchor="end">${name}</text>`));
    const marks = numbersOf(svg, /<circle cx="([\d.]+)" cy="[\d.]+" r="5" fill="#\w+"><title>/g);
    assert.equal(marks.length, 8);
    const [p50, mean, p90, p99] = marks;
    assert.ok(p50! < mean! && mean! < p90! && p90! < p99!);
    assert.ok(marks[4]! > p50!);
  });

  it("keeps all marks between names and notes for any times", () => {
    for (const seconds of [0, 1e-9, 0.0004, 0.02, 1, 55, 12_345, 1e9]) {
      const svg = chart([run("a", seconds)]);
      const marks = numbersOf(svg, /cx="([^"]*)"/g).concat(numbersOf(svg, /x[12]="([^"]*)"/g));
      assert.ok(
        marks.every((x) => x >= 200 && x <= 680),
        `${seconds}: ${marks}`,
      );
      assert.doesNotMatch(svg, /NaN|undefined|Infinity/);
    }
  });

  it("escapes names and shows the end of a long one", () => {
    const svg = chart([run(`${"long/".repeat(20)}<b>&"x"`, 1)]);
    assert.doesNotMatch(svg, /<b>|&"/);
    assert.match(svg, /…[^<]*long\/&#60;b&#62;&#38;&#34;x&#34;</);
  });
});
