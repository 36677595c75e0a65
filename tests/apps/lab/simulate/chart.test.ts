import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { chart } from "../../../../apps/lab/simulate/chart.ts";
import { Recorder } from "../../../../apps/lab/simulate/metrics.ts";
import type { Run } from "../../../../apps/lab/simulate/run.ts";

/** A run whose requests had their first tokens after so many seconds. */
function run(name: string, seconds: readonly number[]): Run {
  const recorder = new Recorder();
  for (const each of seconds) recorder.firstToken(each * 1_000, 100, 50);
  return { name, ...recorder.metrics(seconds.length, 0, []), ttftCurve: recorder.ttftCurve() };
}
const spread = (scale: number) => Array.from({ length: 100 }, (_, index) => scale * 1.05 ** index);
const numbersOf = (text: string, pattern: RegExp) => Array.from(text.matchAll(pattern), ([, number]) => Number(number));
const curvesOf = (svg: string) =>
  Array.from(svg.matchAll(/<polyline [^>]*points="([^"]*)"/g), ([, points]) =>
    points!.split(" ").map((point) => point.split(",").map(Number) as [x: number, y: number]),
  );

describe("the chart", () => {
  it("has a curve for each run, from nobody up to all; longer times are further right", () => {
    const svg = chart([run("fast", spread(0.1)), run("slow", spread(1))]);
    const [fast, slow] = curvesOf(svg);
    for (const curve of [fast!, slow!]) {
      assert.equal(curve.length, 201);
      assert.ok(curve.every(([x, y], at) => at === 0 || (x >= curve[at - 1]![0] && y < curve[at - 1]![1])));
      assert.deepEqual([curve[0]![1], curve.at(-1)![1]], [372, 52]);
    }
    assert.ok(fast!.every(([x], at) => x < slow![at]![0]));
  });

  it("is on a logarithmic axis: ten times as long is as far to the right everywhere", () => {
    const [curve] = curvesOf(chart([run("a", [0.1, 1, 10])]));
    const [first, middle, last] = [curve![0]![0], curve![100]![0], curve!.at(-1)![0]];
    assert.ok(Math.abs(last - middle - (middle - first)) < 0.3, `${first} ${middle} ${last}`);
  });

  it("names the axes, the runs and their figures, and needs nothing from elsewhere", () => {
    const svg = chart([run("plain", spread(1)), run("gate", spread(0.1))]);
    assert.match(svg, /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" [^>]*>\n<title>Time to first token by config<\/title>/);
    assert.match(svg, />seconds to the first token, on a logarithmic scale<\/text>/);
    assert.match(svg, />share of requests that have it<\/text>/);
    assert.match(svg, />plain<\/text><text [^>]*>p50 10\.92 s, p99 119\.28 s, hits 50\.0%<\/text>/);
    assert.ok(svg.indexOf(">plain</text>") < svg.indexOf(">gate</text>"));
    assert.doesNotMatch(svg, /url\(|@import|@font-face|href|<script/);
    assert.match(chart([{ ...run("a", [1]), sessionsPerHour: 2 }]), />share of turns that have it</);
  });

  it("has colours for a light and a dark page, and tells many runs apart", () => {
    const svg = chart(Array.from({ length: 20 }, (_, index) => run(`run ${index}`, spread(index + 1))));
    assert.match(svg, /@media \(prefers-color-scheme:dark\)\{\.paper\{/);
    const looks = Array.from(svg.matchAll(/<polyline (class="run\d"(?: stroke-dasharray="[^"]*")?)/g), ([, look]) => look);
    assert.equal(new Set(looks).size, 20);
  });

  it("is the same for the same runs", () => {
    const draw = () => chart([run("a", spread(0.3)), run("b", spread(2))]);
    assert.equal(draw(), draw());
  });

  it("keeps all curves between the axes for any times", () => {
    for (const seconds of [[0], [1e-9], [0.0004, 0.02], [1], [55, 12_345], [1e9], [0, 1e9]]) {
      const svg = chart([run("a", seconds), run("none", [])]);
      const [curve, ...others] = curvesOf(svg);
      assert.equal(others.length, 0);
      const marks = curve!.map(([x]) => x).concat(numbersOf(svg, /x[12]="([^"]*)"/g));
      assert.ok(
        marks.every((x) => x >= 68 && x <= 796),
        `${seconds}: ${marks}`,
      );
      assert.doesNotMatch(svg, /NaN|undefined|Infinity/);
      assert.match(svg, />none<\/text><text [^>]*>no first token</);
    }
    assert.doesNotMatch(chart([run("none", [])]), /NaN|undefined|Infinity/);
  });

  it("escapes names and shows the end of a long one", () => {
    const svg = chart([run(`${"long/".repeat(20)}<b>&"\u001bx"`, [1])]);
    assert.doesNotMatch(svg, /<b>|&"|\u001b/);
    assert.match(svg, /…[^<]*long\/&#60;b&#62;&#38;&#34;\?x&#34;</);
  });
});
