import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import type { BodyForm } from "../../../../core/contract/slots/inflate.ts";
import { CodedReport } from "../../../../plugins/features/compressed-bodies/coded-report.ts";
import { InflateAllowance } from "../../../../plugins/features/compressed-bodies/inflate-allowance.ts";
import { randomText } from "../../../support/compressed.ts";
import { FakeClock } from "../../../support/fake-clock.ts";

const MIB = 1024 * 1024;
const USAGE = '"usage":{"prompt_tokens":40,"completion_tokens":20}';
const CODED = gzipSync(`{"choices":[{"text":"a"}],${USAGE}}`);
const BOMB = gzipSync(Buffer.alloc(20 * MIB));

function reader(allowance = new InflateAllowance(), form: BodyForm = "document", clock = new FakeClock()) {
  const report = new CodedReport("gzip", "openai", form, { allowance, clock });
  return {
    read(body: Buffer) {
      report.read(body, [0, body.length], 1);
      return this;
    },
    finish: (isComplete = true, bytes = 1000) => report.finish(isComplete, bytes),
  };
}

describe("a compressed response", () => {
  it("whose chunks lie in memory that is used again", () => {
    const memory = Buffer.alloc(CODED.length);
    const { read, finish } = reader();
    for (const byte of CODED) {
      memory[0] = byte;
      read.call({ read, finish }, memory.subarray(0, 1));
    }
    assert.equal(finish().usage?.outputTokens, 20);
  });

  it("that broke off has no usage, and what came of it is counted", () => {
    const words = gzipSync(`{"choices":[{"text":"${randomText(9000)}"}],${USAGE}}`);
    const { usage, outputTokens, isOutputEstimated } = reader().read(words.subarray(0, -20)).finish(false);
    assert.deepEqual([usage, isOutputEstimated], [undefined, true]);
    assert.ok(outputTokens > 1500 && outputTokens < 2000, `${outputTokens}`);
  });

  const forms: readonly (readonly [BodyForm, number])[] = [
    ["document", 600],
    ["events", 50],
    ["no text", Number.NaN],
  ];
  for (const [form, tokens] of forms)
    it(`of more than a megabyte is estimated by its length: ${form}`, () => {
      const part = Buffer.alloc(MIB / 2 + 1);
      assert.equal(reader(undefined, form).read(part).read(part).finish(true, 1000).outputTokens, tokens);
    });

  it("that becomes too long counts as that long", () => {
    assert.ok(reader().read(BOMB).finish().outputTokens > 3_000_000);
    assert.ok(reader(undefined, "events").read(BOMB).finish().outputTokens > 60_000);
  });
});

describe("all compressed responses together", () => {
  it("are kept up to 64 MiB, and again when some have ended", () => {
    const allowance = new InflateAllowance();
    const part = Buffer.alloc(MIB);
    const open = Array.from({ length: 64 }, () => reader(allowance).read(part));
    assert.equal(reader(allowance).read(CODED).finish().usage, undefined);
    for (const each of open) each.finish();
    assert.equal(reader(allowance).read(CODED).finish().usage?.outputTokens, 20);
  });

  it("take a bounded time: bombs use it up, and it comes again", async () => {
    const allowance = new InflateAllowance();
    const clock = new FakeClock();
    for (let i = 0; i < 8; i++) reader(allowance, "document", clock).read(BOMB).finish();
    assert.equal(reader(allowance, "document", clock).read(CODED).finish().usage, undefined);
    await clock.advance(1000);
    assert.equal(reader(allowance, "document", clock).read(CODED).finish().usage?.outputTokens, 20);
  });
});
