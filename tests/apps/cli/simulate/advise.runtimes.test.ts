import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { bestOf } from "../../../../apps/cli/simulate/advise.ts";
import { Recorder } from "../../../../apps/lab/simulate/metrics.ts";
import { run } from "../../../support/cli.ts";
import { makeTrace } from "../../lab/simulate/traces.ts";

const folder = mkdtempSync(join(tmpdir(), "signalbox-advise-"));
after(() => rmSync(folder, { recursive: true }));
const inFolder = (name: string, content: string) => {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
};

/** Long prompts and answers of some length: each holds up the tokens of the others where one replica does both. */
const lines = Array.from({ length: 60 }, (_, index) => {
  const blocks = Array.from({ length: 8 }, (__, block) => 1 + 8 * index + block);
  return `${JSON.stringify({ timestamp: 300 * index, input_length: 4_096, output_length: 100, hash_ids: blocks })}\n`;
});
const trace = inFolder("long.jsonl", lines.join(""));
const plain = inFolder("plain.yaml", "apiVersion: signalbox/v1\nkind: Router\nspec: {}\n");
const paired = inFolder("paired.yaml", "apiVersion: signalbox/v1\nkind: Router\nspec: { disaggregation: { decider: always } }\n");

const sglang = inFolder(
  "sglang.yaml",
  "apiVersion: signalbox/v1\nkind: Router\nspec: { disaggregation: { transfer: sglang } }\n",
);

const simulate = (...argv: string[]) => run("simulate", trace, ...argv);

interface Told {
  readonly runs: readonly { readonly name: string; readonly goodputPerS: number; readonly pairs: { readonly made: number } }[];
  readonly advice: readonly { readonly trace: string; readonly prefill: number }[];
}

describe("signalbox simulate --advise", () => {
  const limits = ["--ttft", "1500", "--tpot", "12"];

  it("tries every split and names the one with most requests within the limits", { timeout: 60_000 }, async () => {
    const words = ["--replicas", "3", "--advise", ...limits];
    const [table, json] = await Promise.all([simulate(...words), simulate(...words, "--json")]);
    assert.deepEqual([table.code, table.err, json.code], [0, "", 0]);
    assert.match(table.out, /\nno pairs +\d.*\n1 of 3 +\d.*\n2 of 3 +\d.*\n\nlong\.jsonl: /);
    const { runs, advice } = JSON.parse(json.out) as Told;
    assert.deepEqual(
      runs.map(({ name }) => name),
      ["no pairs", "1 of 3", "2 of 3"],
    );
    assert.equal(runs[0]!.pairs.made, 0);
    const most = Math.max(...runs.map(({ goodputPerS }) => goodputPerS));
    assert.deepEqual([advice.length, runs[advice[0]!.prefill]!.goodputPerS], [1, most]);
    // Of one replica's tokens here, every second prompt holds up some for half a second.
    assert.ok(advice[0]!.prefill > 0, JSON.stringify(runs));
    assert.match(
      table.out,
      new RegExp(`\\n\\nlong\\.jsonl: ${advice[0]!.prefill} of 3 replicas should compute prompts: ${most.toFixed(3)} `),
    );
  });

  const refused: readonly [words: readonly string[], message: RegExp][] = [
    [["--advise"], /--advise counts requests within limits; add --ttft 2000 --tpot 50 or others\./],
    [["--advise", ...limits, "--prefill", "2"], /--advise tries every number for --prefill; leave out one of them\./],
    [["--advise", ...limits, "--replicas", "1"], /--advise divides replicas; add --replicas 2 or more\./],
    [["--advise", ...limits, "-f", plain], /--advise is for pairs of replicas; add "disaggregation: \{\}" to the spec of plain/],
    [["--advise", ...limits, "-f", plain, "-f", paired], /--advise takes one config; leave out the other -f\./],
    [["--advise", ...limits, "--exact"], /--advise compares splits of one config; leave out --exact\./],
    [["--prefill", "2", "-f", plain], /--prefill is for pairs of replicas; add "disaggregation: \{\}" to the spec of plain/],
    [
      ["--events", "-f", plain],
      /--events is of no use with plain, which follow none; name a config with -f whose spec has "kvEvents/,
    ],
    [["--events", "--prefill", "2"], /--events is of no use with pairs, which follow none; name a config with -f/],
    [["--prefill", "8"], /--prefill wants a whole number from 0 to 7, not "8"/],
    [
      ["--explain-losses", "-f", paired],
      /--explain-losses can't look into pairs of replicas; leave it out, or the disaggregation of paired\./,
    ],
    [["-f", sglang], /Modelled replicas know the transfer nixl, not sglang; leave "transfer" out of sglang to simulate it\./],
    [["--prompt-scale", "0"], /--prompt-scale wants a number from 0\.01 to 1000, not "0"/],
    [["--transfer-tps", "0"], /--transfer-tps wants a number from 1 to/],
    [["--transfer-ms=-1"], /--transfer-ms wants a number from 0 to/],
  ];
  for (const [words, message] of refused) {
    it(`refuses ${words.map((word) => word.replace(folder, "")).join(" ")}`, async () => {
      const { code, out, err } = await simulate(...words);
      assert.deepEqual([code, out], [2, ""], err);
      assert.match(err, message);
    });
  }

  it("takes the earlier first token where splits are equally good, and fewer replicas for prompts where these are too", () => {
    const split = (prefillers: number, goodputPerS: number, mean: number) => {
      const metrics = new Recorder({ targets: true, pairs: true }).metrics(10, 0.5, []);
      return {
        prefillers,
        run: { ...metrics, name: "", ttftCurve: [], goodputPerS, ttftSeconds: { mean, p50: 0, p90: 0, p99: 0 } },
      };
    };
    const best = (...splits: ReturnType<typeof split>[]) => bestOf({ trace: makeTrace([]), splits }).prefillers;
    assert.equal(best(split(0, 1, 5), split(1, 2, 9), split(2, 1.5, 1)), 1);
    assert.equal(best(split(0, 2, 5), split(1, 2, 4), split(2, 2, 4)), 1);
  });
});

describe("signalbox simulate --prefill", () => {
  it("has the first replicas compute prompts, and shows how many requests two shared", { timeout: 60_000 }, async () => {
    const words = ["--replicas", "4", "--prefill", "2", "-f", paired, "-f", plain, "--prompt-scale", "2"];
    const { code, out, err } = await simulate(...words, "--transfer-tps", "50000", "--transfer-ms", "3");
    assert.deepEqual([code, err], [0, ""]);
    assert.match(out, /^long\.jsonl with prompts 2 times as long: 60 requests.*\n4 replicas \(2 for prompts\) of 524,288/);
    assert.match(out, /completed +pairs +alone +failed pairs\npaired .* 100\.0% +60 +0 +0\nplain .* 100\.0% *\n$/);
  });
});
