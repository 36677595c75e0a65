import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { OutputWriter } from "../../../apps/cli/output-writer.ts";
import { FakeClock } from "../../support/fake-clock.ts";

/** An output that takes bytes when the test lets it. */
function setUp() {
  const clock = new FakeClock();
  const broken: unknown[] = [];
  let written = "";
  let calls = 0;
  let next: { bytes: Uint8Array; resolve(taken: number): void; reject(thrown: unknown): void } | undefined;
  const writer = new OutputWriter({
    clock,
    write(bytes) {
      calls += 1;
      assert.equal(next, undefined, "one write at a time");
      return new Promise((resolve, reject) => {
        next = { bytes, resolve, reject };
      });
    },
    notice: (lines) => `${lines} missing`,
    onBroken: (thrown) => broken.push(thrown),
  });
  /** Ends the write under way, which took this many bytes; by default all. */
  const take = async (most = Number.POSITIVE_INFINITY) => {
    const { bytes, resolve } = next!;
    next = undefined;
    const taken = bytes.subarray(0, Math.min(most, bytes.length));
    written += new TextDecoder().decode(taken);
    resolve(taken.length);
    await clock.advance(0);
  };
  const takeAll = async () => {
    while (next !== undefined) await take();
  };
  const fail = async (thrown: unknown) => {
    const { reject } = next!;
    next = undefined;
    reject(thrown);
    await clock.advance(0);
  };
  return { clock, writer, broken, take, takeAll, fail, written: () => written, calls: () => calls };
}

const KIB = 1024;
const line = (letter: string, bytes: number) => `${letter.repeat(bytes - 1)}\n`;

describe("the writer of an output", () => {
  it("writes in order, one write at a time, and goes on where a write ended early", async () => {
    const { writer, take, takeAll, written } = setUp();
    writer.write("one\n");
    writer.write("two\nthree\n");
    await take(2);
    assert.equal(written(), "on");
    await takeAll();
    assert.equal(written(), "one\ntwo\nthree\n");
    assert.equal(writer.droppedLines, 0);
  });

  it("drops whole lines beyond 1 MiB, and says so at that place when half has been read", async () => {
    const { writer, take, takeAll, written } = setUp();
    for (const letter of "abcd") writer.write(line(letter, 256 * KIB));
    writer.write("x\ny\n");
    writer.write("z\n");
    assert.equal(writer.droppedLines, 3);
    await take();
    writer.write("still too early\n");
    await take();
    writer.write("taken again\n");
    await takeAll();
    const rest = written().slice(1024 * KIB);
    assert.equal(rest, "4 missing\ntaken again\n");
    assert.equal(writer.droppedLines, 4);
  });

  it("drops a text that is larger than all it may hold, and says so", async () => {
    const { writer, takeAll, written } = setUp();
    writer.write(line("a", 1025 * KIB));
    await takeAll();
    assert.equal(written(), "1 missing\n");
  });

  it("tries again after a pause when the output takes nothing", async () => {
    const { clock, writer, take, takeAll, written, calls } = setUp();
    writer.write("one\n");
    await take(0);
    assert.equal(calls(), 1);
    await clock.advance(50);
    assert.equal(calls(), 2);
    await takeAll();
    assert.equal(written(), "one\n");
    assert.equal(clock.pending, 0);
  });

  it("counts lines and tries nothing more once the output is broken", async () => {
    const { clock, writer, take, fail, broken, calls } = setUp();
    for (const text of ["one\n", "two\nthree\n", "four\n"]) writer.write(text);
    await take();
    await fail(new Error("EPIPE"));
    assert.equal(writer.droppedLines, 3);
    for (let i = 0; i < 100; i++) writer.write("more\n");
    await clock.advance(60_000);
    assert.equal(writer.droppedLines, 103);
    assert.equal(calls(), 2);
    assert.equal(broken.length, 1);
    assert.equal(await writer.flush(1_000), true);
  });

  it("flush waits for what is queued, but not for ever", async () => {
    const { clock, writer, takeAll } = setUp();
    assert.equal(await writer.flush(1_000), true);
    writer.write("one\n");
    const inTime = writer.flush(1_000);
    await takeAll();
    assert.equal(await inTime, true);
    writer.write("two\n");
    const late = writer.flush(1_000);
    await clock.advance(1_000);
    assert.equal(await late, false);
    assert.equal(clock.pending, 0);
  });
});
