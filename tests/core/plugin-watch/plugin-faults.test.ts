import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { silentLog } from "../../../core/contract/log.ts";
import { faultText, PluginFaults } from "../../../core/plugin-watch/plugin-faults.ts";
import { FakeClock } from "../../support/fake-clock.ts";

function thrownWith(message: string, stack: readonly string[]): Error {
  const error = new Error(message);
  error.stack = [`Error: ${message}`, ...stack.map((line) => `    at ${line}`)].join("\n");
  return error;
}

describe("faultText", () => {
  const cases: readonly (readonly [name: string, thrown: unknown, text: string])[] = [
    ["the message", new Error("boom"), "boom"],
    ["a name where there is no message", new TypeError(), "TypeError"],
    ["a text", "plain", "plain"],
    ["nothing", undefined, "undefined"],
    ["no line break, nothing that steers a terminal", new Error("one\ntwo\u001b[31m"), "one?two?[31m"],
    ["at most 300 characters", new Error("x".repeat(1000)), `${"x".repeat(299)}…`],
    [
      "what throws when it is read",
      {
        toString() {
          throw new Error("no");
        },
      },
      "a value that can't be shown",
    ],
    [
      "the first line of the stack in the plugin's file",
      thrownWith("boom", ["inner (file:///x/helper.ts:1:2)", "file:///x/my%20plugin.ts:7:9", "run (/x/my plugin.ts:8:1)"]),
      "boom (/x/my plugin.ts:7:9)",
    ],
    ["a place behind a loader's query", thrownWith("boom", ["f (/x/my plugin.ts?v=1:3:4)"]), "boom (/x/my plugin.ts:3:4)"],
    ["a place without a column", thrownWith("boom", ["/x/my plugin.ts:3"]), "boom (/x/my plugin.ts:3)"],
    ["no place of another file", thrownWith("boom", ["f (/y/my plugin.ts:3:4)", "f (/x/my plugin.tsx:3:4)"]), "boom"],
  ];
  for (const [name, thrown, text] of cases) {
    it(`has ${name}`, () => assert.equal(faultText(thrown, "/x/my plugin.ts"), text));
  }
});

it("PluginFaults logs a plugin's first fault at once, and then one in ten seconds with their number", async () => {
  const clock = new FakeClock();
  const logged: unknown[] = [];
  const faults = new PluginFaults(clock, { ...silentLog, warn: (_message, fields) => void logged.push(fields) });
  for (let i = 0; i < 5; i++) faults.report("one", `fault ${i}`);
  faults.report("other", "fault");
  assert.deepEqual(logged.splice(0), [
    { plugin: "one", fault: "fault 0" },
    { plugin: "other", fault: "fault" },
  ]);
  await clock.advance(9_999);
  faults.report("one", "fault 5");
  assert.deepEqual(logged, []);
  await clock.advance(1);
  faults.report("one", "fault 6");
  assert.deepEqual(logged, [{ plugin: "one", fault: "fault 6", times: 6 }]);
  assert.deepEqual(
    [...faults.counts],
    [
      ["one", 7],
      ["other", 1],
    ],
  );
});
