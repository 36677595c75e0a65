import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { faultText } from "../../../../apps/cli/simulate/simulate-arguments.ts";
import type { Fault } from "../../../../apps/lab/simulate/faults.ts";
import { simulateArgumentsOf } from "./simulate-input.ts";

describe("its command line", () => {
  const read = (...argv: string[]) => simulateArgumentsOf(["t.jsonl", ...argv]);

  it("has defaults", () => {
    const asked = read();
    assert.deepEqual(
      { ...asked?.settings, model: undefined, speeds: undefined },
      {
        replicas: 8,
        model: undefined,
        speeds: undefined,
        timeScale: 1,
        seed: 1,
        tokenError: 0,
        faults: [],
        routers: 1,
        carrier: { delayMs: 1, loss: 0 },
      },
    );
    assert.deepEqual(
      [asked?.settings.model.kvTokens, asked?.settings.model.prefillTokensPerS, asked?.seeds],
      [524_288, 8_000, 1],
    );
  });

  it("gives each replica its speed", () => {
    assert.deepEqual(
      read("--replicas", "4", "--speeds", "1,0.5", "--slow", "4:0.25", "--slow", "1:2")?.settings.speeds,
      [2, 0.5, 1, 0.25],
    );
  });

  const faults: readonly [text: string, fault: Fault][] = [
    ["1:error", { replica: 0, kind: "error", fromS: 0, untilS: undefined }],
    ["8:hang:30", { replica: 7, kind: "hang", fromS: 30, untilS: undefined }],
    ["2:slow:4", { replica: 1, kind: "slow", factor: 4, fromS: 0, untilS: undefined }],
    ["2:slow:4:60-120", { replica: 1, kind: "slow", factor: 4, fromS: 60, untilS: 120 }],
    ["3:flap:0.5:0-90", { replica: 2, kind: "flap", seconds: 0.5, fromS: 0, untilS: 90 }],
    ["3:restart:0", { replica: 2, kind: "restart", fromS: 0, untilS: undefined }],
    ["3:restart:60-75.5", { replica: 2, kind: "restart", fromS: 60, untilS: 75.5 }],
  ];
  for (const [text, fault] of faults) {
    it(`reads --fault ${text}, and writes it so`, () => {
      assert.deepEqual(read("--fault", text)?.settings.faults, [fault]);
      assert.equal(faultText(fault), text);
    });
  }

  it("takes several faults", () => {
    assert.deepEqual(
      read("--fault", "1:error", "--fault", "1:hang:5")?.settings.faults.map(({ kind }) => kind),
      ["error", "hang"],
    );
  });

  const bad: readonly [argv: string[], message: RegExp][] = [
    [["--replicas", "0"], /--replicas wants a whole number from 1 to 1024, not "0"/],
    [["--events", "--events-loss", "1"], /--events-loss wants a number from 0 to 0\.99, not "1"/],
    [["--kv-tokens", "1e3.5"], /--kv-tokens wants a whole number/],
    [["--time-scale=-1"], /--time-scale wants a number from/],
    [["--time-scale", ""], /--time-scale wants/],
    [["--speeds", "1,x"], /--speeds wants a number from 0\.001 to 1000, not "x"/],
    [["--replicas", "2", "--speeds", "1,1,1"], /--speeds lists 3 speeds for 2 replicas; add --replicas 3/],
    [["--slow", "9:0.5"], /--slow wants a whole number from 1 to 8, not "9"/],
    [["--slow", "1"], /--slow wants a number from 0\.001 to 1000, not ""/],
    [["--fault", "9:error"], /--fault \(replica\) wants a whole number from 1 to 8, not "9"/],
    [["--fault", "error"], /--fault \(replica\) wants a whole number from 1 to 8, not "error"/],
    [["--fault", "1"], /--fault knows error, hang, slow:FACTOR, flap:SECONDS and restart, not ""/],
    [["--fault", "1:eror"], /--fault knows .*, not "eror"/],
    [["--fault", "1:slow"], /--fault \(slow:FACTOR\) wants a number from 1 to 1000, not ""/],
    [["--fault", "1:slow:60-120"], /--fault \(slow:FACTOR\) wants a number from 1 to 1000, not "60-120"/],
    [["--fault", "1:flap:0"], /--fault \(flap:SECONDS\) wants a number from 0\.001 to/],
    [["--fault", "3:restart"], /--fault wants a time at which replica 3 restarts, for example 3:restart:60/],
    [["--fault", "1:hang:x"], /--fault \(FROM\) wants a number from 0 to 10000000, not "x"/],
    [["--fault", "1:hang:-5"], /--fault \(FROM\) wants a number from 0 to 10000000, not ""/],
    [["--fault", "1:hang:5-"], /--fault \(UNTIL\) wants a number from 0 to 10000000, not ""/],
    [["--fault", "1:hang:1-2-3"], /--fault \(UNTIL\) wants a number from 0 to 10000000, not "2-3"/],
    [["--fault", "1:hang:120-60"], /--fault wants times of which the second is later, such as 60-120, not "120-60"/],
    [["--fault", "1:hang:5-9:1"], /--fault wants N:KIND\[:FROM\[-UNTIL\]\], not "1:hang:5-9:1"/],
    [["--hours", "2"], /--hours is for a fixed number of sessions; add --sessions-per-replica 8/],
    [["--warm-up-hours", "0"], /--warm-up-hours is for a fixed number of sessions/],
    [["--sessions-per-replica", "0"], /--sessions-per-replica wants a whole number from 1 to/],
    [["--sessions-per-replica", "2", "--hours", "1", "--warm-up-hours", "1"], /must be less than --hours, which are 1/],
    [["--token-error", "1.5"], /--token-error wants a number from 0 to 1/],
    [
      ["--time-scale", "-1"],
      /^Error: Option '--time-scale' argument is ambiguous; "signalbox simulate --help" lists the switches\.$/,
    ],
    [["--sede", "1"], /--sede.*"signalbox simulate --help" lists the switches/],
  ];
  for (const [argv, message] of bad) it(`refuses ${argv.join(" ")}`, () => assert.throws(() => read(...argv), message));

  it("wants a trace", () => assert.throws(() => simulateArgumentsOf([]), /Name the trace to replay/));
});
