import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import { progressBar, progressLines } from "../../../../apps/cli/simulate/progress.ts";
import { report } from "../../../../apps/cli/simulate/simulate-report.ts";
import { readTraceFile } from "../../../../apps/cli/simulate/trace-file.ts";
import type { Losses } from "../../../../apps/lab/simulate/losses.ts";
import { Recorder } from "../../../../apps/lab/simulate/metrics.ts";
import { run } from "../../../support/cli.ts";
import { FakeClock } from "../../../support/fake-clock.ts";
import { simulateArgumentsOf } from "./simulate-input.ts";

const folder = mkdtempSync(join(tmpdir(), "signalbox-simulate-"));
after(() => rmSync(folder, { recursive: true }));
const inFolder = (name: string, content: string | Uint8Array) => {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
};

const TEXT = Array.from({ length: 60 }, (_, index) => {
  const line = { timestamp: 400 * index, input_length: 1_000, output_length: 20, hash_ids: [index % 6, 1_000 + index] };
  return `${JSON.stringify(line)}\n`;
}).join("");
const plain = inFolder("plain.jsonl", TEXT);
const packed = inFolder("packed.jsonl.gz", gzipSync(TEXT));

const simulate = (...argv: string[]) => run("simulate", ...argv);

describe("signalbox simulate", () => {
  it("runs configs side by side, prints JSON, saves it and draws it", { timeout: 60_000 }, async () => {
    const random = inFolder("random.yaml", "apiVersion: signalbox/v1\nkind: Router\nspec: { plugins: [ { type: random } ] }\n");
    const ours = inFolder("ours.yaml", "apiVersion: signalbox/v1\nkind: Router\nspec: {}\n");
    const { code, out, err } = await simulate(
      packed,
      "-f",
      random,
      "-f",
      ours,
      "--json",
      "--save",
      join(folder, "all.json"),
      "--svg",
      join(folder, "all.svg"),
      "--replicas",
      "3",
    );
    assert.deepEqual([code, err], [0, ""]);
    const { runs, settings } = JSON.parse(out) as { runs: readonly Record<string, unknown>[]; settings: { replicas: number } };
    assert.equal(settings.replicas, 3);
    assert.deepEqual(
      runs.map(({ name }) => name),
      ["random", "ours"],
    );
    const [, run] = runs;
    assert.deepEqual(Object.keys(run ?? {}), [
      "name",
      "hitRatio",
      "ttftSeconds",
      "interTokenSeconds",
      "inTargetShare",
      "ttftError",
      "shareUnder2Seconds",
      "imbalance",
      "utilization",
      "completionRatio",
      "faultyDecisions",
      "failedRequests",
      "retries",
      "ejections",
    ]);
    assert.deepEqual([run?.["failedRequests"], run?.["retries"], run?.["ejections"]], [0, 0, [0, 0, 0]]);
    assert.deepEqual(Object.keys(run?.["ttftSeconds"] ?? {}), ["mean", "p50", "p90", "p99"]);
    assert.equal(readFileSync(join(folder, "all.json"), "utf8"), out);
    assert.match(readFileSync(join(folder, "all.svg"), "utf8"), /^<svg .*>random<\/text>.*>ours<\/text>.*<\/svg>\n$/s);
  });

  const unwritable: readonly [place: string, path: string, message: RegExp][] = [
    [
      "in a folder that there is not",
      join(folder, "none", "a.svg"),
      /a\.svg can't be written: there is no folder .*none; make it first\.\n$/,
    ],
    ["that is a folder", folder, /wants a file, and .* is a folder; add a name to it\.\n$/],
    ["below a file", join(plain, "a.svg"), /can't be written: .*plain\.jsonl is no folder; name another file\.\n$/],
    ["without a name", "", /wants the name of a file\.\n$/],
  ];
  for (const [place, path, message] of unwritable) {
    it(`refuses to draw and to save to a file ${place} before it runs`, async () => {
      for (const name of ["--svg", "--save"]) {
        const { code, out, err } = await simulate(plain, name, path);
        assert.deepEqual([code, out], [2, ""], err);
        assert.ok(err.startsWith(`signalbox: ${name}`), err);
        assert.match(err, message);
      }
    });
  }

  it("adds the exact state and explains losses, as tables and as JSON", { timeout: 60_000 }, async () => {
    const chance = inFolder("chance.yaml", "apiVersion: signalbox/v1\nkind: Router\nspec: { plugins: [ { type: random } ] }\n");
    const words = [packed, "-f", chance, "--replicas", "3", "--exact", "--explain-losses"];
    const [table, json] = await Promise.all([simulate(...words), simulate(...words, "--json")]);
    assert.deepEqual([table.code, table.err, json.code], [0, "", 0]);
    assert.match(
      table.out,
      /\nchance +\d.*\nexact state +\d.*\n\nchance: \d+ of 60 picks were worse than the exact state's, by /,
    );
    assert.match(table.out, /\nlost by +time +a request +share +picks\nprompt length .*\ncache .*\nqueue .*\nold metrics /);
    assert.match(table.out, /\n *line +at +picked +better +lost +by\n *\d+ +\d+\.\d s +replica-\d +replica-\d +\d/);
    const { runs } = JSON.parse(json.out) as { runs: readonly { name: string; losses?: Losses }[] };
    assert.deepEqual(
      runs.map(({ name, losses }) => [name, losses?.decisions]),
      [
        ["chance", 60],
        ["exact state", undefined],
      ],
    );
    const { worst, lostMs, worsePicks, byCause } = runs[0]!.losses!;
    assert.ok(lostMs > 0 && worsePicks > 0 && byCause.policy.lostMs > 0);
    // A line every 400 ms, the first one at 0.
    assert.ok(worst.length > 0 && worst.every(({ line, atMs }) => atMs === 400 * (line - 1)));
  });

  it("runs the default config if none is given and prints a table; reports where a config is broken", {
    timeout: 60_000,
  }, async () => {
    const broken = inFolder("broken.yaml", "apiVersion: signalbox/v1\nkind: Router\nspec: { plugins: [ { type: randon } ] }\n");
    const [table, refused, faulty] = await Promise.all([
      simulate(plain),
      simulate(plain, "-f", broken),
      simulate(plain, "--replicas", "1", "--fault", "1:error", "--images", "0.5"),
    ]);
    assert.deepEqual([table.code, table.err], [0, ""]);
    assert.match(
      table.out,
      /^plain\.jsonl: 60 requests in 0\.4 minutes\n8 replicas .*\n\n +hits +TTFT mean.*\ndefault +\d+\.\d% .* 100\.0%\n$/,
    );
    assert.deepEqual([refused.code, refused.out], [1, ""]);
    assert.match(faulty.out, /^plain\.jsonl with an image in 50 % of its prompts: 60 requests/);
    assert.match(faulty.out, /\nfaults: 1:error\n\n.* ejections\ndefault .* 0\.0% +60 +0 +none\n$/);
    assert.match(refused.err, /broken\.yaml:3:\d+ .*randon.*\n.*\nNothing was simulated\.\n$/);
  });
});

describe("how many replicas there are", () => {
  const line = (index: number) => ({
    ...{ time: new Date(400 * index).toISOString(), method: "POST", path: "/v1/completions", status: 200, model: "m" },
    ...{ durationMs: 100, promptTokens: 500, outputTokens: 5, stream: true, endpoint: `gpu${index % 3}`, firstByteMs: 50 },
    ...{ prefixHashes: index.toString(16).padStart(8, "0"), prefixBlockTokens: 512 },
  });
  const lines = Array.from({ length: 12 }, (_, index) => `${JSON.stringify(line(index))}\n`);
  const log = inFolder("access.log", lines.join(""));
  const cases: readonly (readonly [name: string, words: readonly string[], replicas: number])[] = [
    ["a log says it", [log], 3],
    ["a switch counts more than the log", [log, "--replicas", "2"], 2],
    ["a trace does not say it", [plain], 8],
    ["of several the one with most", [plain, log], 3],
  ];
  for (const [name, words, replicas] of cases)
    it(name, { timeout: 60_000 }, async () => {
      const { out } = await simulate(...words, "--json");
      assert.equal((JSON.parse(out) as { settings: { replicas: number } }).settings.replicas, replicas);
    });

  it("a fault's replica must be one of them", async () => {
    const { code, err } = await simulate(log, "--fault", "4:error");
    assert.equal(code, 2);
    assert.match(err, /--fault/);
  });
});

describe("what is shown while it runs", () => {
  const written: string[] = [];
  const write = (text: string) => void written.push(text);

  it("at a terminal, a bar on one line", () => {
    written.length = 0;
    const { show, clear } = progressBar(write, 30);
    for (const share of [0, 0.5, 0.5]) show("default", share);
    clear();
    assert.deepEqual(written, [`\r\x1b[K[${".".repeat(27)}…`, `\r\x1b[K[${"#".repeat(15)}${".".repeat(12)}…`, "\r\x1b[K"]);
  });

  it("elsewhere, a line every ten seconds, and none for a short run", async () => {
    written.length = 0;
    const clock = new FakeClock();
    const { show, clear } = progressLines(write, clock);
    for (let second = 0; second < 25; second++) {
      show("default", second / 25);
      await clock.advance(1_000);
    }
    clear();
    assert.deepEqual(written, ["default: 40%\n", "default: 80%\n"]);
  });
});

describe("signalbox simulate with sessions", () => {
  const turn = (session: string, index: number) => {
    const blocks = Array.from({ length: 2 + index }, (_, block) => `${session} ${block}`);
    return { session, think_ms: index === 0 ? 0 : 2_000, input_length: 512 * blocks.length, output_length: 20, hash_ids: blocks };
  };
  const lines = ["a", "b", "c"].flatMap((session) => [0, 1, 2].map((index) => `${JSON.stringify(turn(session, index))}\n`));
  const sessions = inFolder("sessions.jsonl", lines.join(""));

  it("keeps a number of them under way for some time, in a table and as JSON", { timeout: 60_000 }, async () => {
    const words = [sessions, "--replicas", "2", "--sessions-per-replica", "3", "--hours", "0.2"];
    const [table, json] = await Promise.all([simulate(...words), simulate(...words, "--json", "--seeds", "2")]);
    assert.deepEqual([table.code, table.err, json.code], [0, "", 0]);
    assert.match(table.out, /, 3 sessions each for 0\.2 h \(measured after 0\.05 h\), /);
    assert.match(table.out, /\n +sessions\/h +turns\/h +turn p50 +p99 +slowdown p50 +p90 +fairness\ndefault +\d/);
    const { runs, settings } = JSON.parse(json.out) as { runs: readonly Record<string, number>[]; settings: object };
    assert.deepEqual(Object.entries(settings).find(([name]) => name === "sessions")?.[1], {
      perReplica: 3,
      hours: 0.2,
      warmUpHours: 0.05,
    });
    const [run] = runs;
    assert.deepEqual(Object.keys(run!).slice(-6), [
      "sessionsPerHour",
      "turnsPerHour",
      "turnSeconds",
      "sessionSlowdown",
      "fairness",
      "unended",
    ]);
    // Six sessions at once, each of which takes a little over six seconds: two pauses of 2 s, three turns, and 1 s before the next one begins.
    assert.ok(run!["sessionsPerHour"]! > 3_000 && run!["sessionsPerHour"]! < (6 * 3_600) / 5, String(run!["sessionsPerHour"]));
    assert.ok(Math.abs(run!["turnsPerHour"]! / run!["sessionsPerHour"]! - 3) < 0.1);
  });

  it("runs each once where no number is given", { timeout: 60_000 }, async () => {
    const { code, out } = await simulate(sessions, "--json");
    const { runs } = JSON.parse(out) as { runs: readonly { completionRatio: number; hitRatio: number }[] };
    // Of 27 blocks, 2 of each session's first turn and one of each later one are new.
    assert.deepEqual([code, runs[0]!.completionRatio, runs[0]!.hitRatio], [0, 1, (27 - 12) / 27]);
  });

  it("says so where the trace has none", async () => {
    const { code, err } = await simulate(plain, "--sessions-per-replica", "3");
    assert.deepEqual([code, err.includes("plain.jsonl names no sessions; leave out --sessions-per-replica")], [2, true], err);
  });
});

describe("a trace file", () => {
  it("has the same content compressed or not", async () => {
    const [one, other] = [await readTraceFile(plain), await readTraceFile(packed)];
    assert.deepEqual([one.name, other.name], ["plain.jsonl", "packed.jsonl.gz"]);
    assert.deepEqual(
      one.requests.map(({ prompt }) => Array.from(prompt.blocks)),
      other.requests.map(({ prompt }) => Array.from(prompt.blocks)),
    );
  });

  const bad: readonly [name: string, path: string, message: RegExp][] = [
    ["does not exist", join(folder, "none.jsonl"), /There is no file .*none\.jsonl; name a trace to replay/],
    ["is a folder", folder, /it is a folder, not a regular file\. Name a regular file/],
    ["is not compressed but called .gz", inFolder("text.gz", TEXT), /text\.gz is not a whole gzip file/],
    ["is cut off", inFolder("half.gz", gzipSync(TEXT).subarray(0, 300)), /half\.gz is not a whole gzip file/],
    [
      "is compressed and has a bad line",
      inFolder("bad.gz", gzipSync(`${TEXT}{"timestamp":\n`)),
      /^Error: bad\.gz:61: the line is not compl/,
    ],
    [
      "is compressed and long, with a bad line early",
      inFolder("early.gz", gzipSync(`{"timestamp":"x"}\n${TEXT.repeat(2_000)}`)),
      /^Error: early\.gz:1: "input_length" must be/,
    ],
    [
      "is compressed and cut off behind a bad line",
      inFolder("both.gz", gzipSync(`{"timestamp":"x"}\n${TEXT.repeat(2_000)}`).subarray(0, -9)),
      /^Error: both\.gz:1: "input_length" must be/,
    ],
    [
      "is long, with a bad line early",
      inFolder("early.jsonl", `{"timestamp":"x"}\n${TEXT.repeat(2_000)}`),
      /^Error: early\.jsonl:1: "input_length" must be/,
    ],
    ["breaks off inside a line", inFolder("torn.jsonl", TEXT.slice(0, -9)), /torn\.jsonl:60: the line is not complete JSON/],
  ];
  for (const [name, path, message] of bad) {
    it(`that ${name} is refused`, () => assert.rejects(readTraceFile(path), message));
  }
});

it("the table comes with warnings about its meaning", async () => {
  const trace = { ...(await readTraceFile(plain)), hasPrefixes: false, skippedLines: 1_234 };
  const asked = simulateArgumentsOf(["t", "--seeds", "3", "--time-scale", "0.8"]);
  const run = { ...new Recorder().metrics(0, 0, []), ttftCurve: [], name: "mine", faultyDecisions: 2 };
  const text = report([trace], [run], asked!.settings, 3);
  assert.match(text, /60 requests in 0\.4 minutes, 1,234 other lines skipped\n/);
  assert.match(text, /time scale 0\.8, mean of the seeds 1 to 3\n/);
  assert.match(text, /plain\.jsonl does not show which prompts share a prefix.*\n.*"replay: true"/);
  assert.match(text, /A plugin broke its contract in mine/);
});

it("the table has what failed where replicas have faults", async () => {
  const trace = await readTraceFile(plain);
  const asked = simulateArgumentsOf(["t", "--fault", "2:slow:4:60-120", "--fault", "3:restart:9"]);
  const run = { ...new Recorder().metrics(0, 0, []), ttftCurve: [], failedRequests: 1_234, retries: 5, ejections: [0, 2, 0.5] };
  const runs = [
    { ...run, name: "mine" },
    { ...run, name: "other", ejections: [0, 0, 0] },
  ];
  const lines = report([trace], runs, asked!.settings, 1).split("\n");
  assert.equal(lines[2], "faults: 2:slow:4:60-120, 3:restart:9");
  assert.match(lines[4]!, / completed +failed +retries +ejections$/);
  assert.match(lines[5]!, /^mine .* 1,234 +5 +2: 2, 3: 0\.5$/);
  assert.match(lines[6]!, /^other .* 1,234 +5 +none$/);
});
