import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { operatorLog } from "../../../../apps/cli/start/outputs.ts";
import type { Log } from "../../../../core/contract/log.ts";

function written(isTerminal: boolean, use: (log: Log) => void): string {
  let all = "";
  use(
    operatorLog(isTerminal, (text) => {
      all += text;
    }),
  );
  return all;
}

describe("messages for the operator", () => {
  it("are sentences on a terminal", () => {
    const text = written(true, (log) => {
      log.info("Stopping", { connections: 3 });
      log.warn("A plugin broke its contract", { plugin: "mine" });
      log.error("A fault");
    });
    assert.equal(text, 'Stopping connections=3\nwarning: A plugin broke its contract plugin="mine"\nerror: A fault\n');
  });

  it("are lines of JSON elsewhere", () => {
    const { time, ...rest } = JSON.parse(written(false, (log) => log.error("A fault", { cause: "a\nb" }))) as { time: string };
    assert.ok(!Number.isNaN(Date.parse(time)));
    assert.deepEqual(rest, { level: "error", message: "A fault", cause: "a\nb" });
  });

  for (const isTerminal of [true, false]) {
    it(`contain no control characters, ${isTerminal ? "on a terminal" : "elsewhere"}`, () => {
      const text = written(isTerminal, (log) => log.warn("From \u001b[2J\noutside", { name: "a\u009b\u202e\u001b\nb" }));
      assert.match(text, /^[\x20-\x7e]*\n$/);
    });
  }
});
