import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Span } from "../../../plugins/observers/otlp-exporter.ts";
import { SpanQueue } from "../../../plugins/observers/span-queue.ts";
import { collectedLog } from "../../support/collected-log.ts";
import { FakeClock, settle } from "../../support/fake-clock.ts";

const spans = (count: number) => Array.from({ length: count }, () => ({}) as Span);

/** A queue of 300 spans and a period of 1 s, over an exporter whose sends the test ends. */
function setUp() {
  const clock = new FakeClock();
  const log = collectedLog();
  const sent: number[] = [];
  const open: ((reason: string) => void)[] = [];
  let isClosed = false;
  const exporter = {
    send(batch: readonly Span[]) {
      sent.push(batch.length);
      return new Promise<string>((resolve) => open.push(resolve));
    },
    close() {
      isClosed = true;
      for (const end of open.splice(0)) end("closed");
    },
  };
  return {
    clock,
    log,
    sent,
    queue: new SpanQueue(exporter, { size: 300, periodMs: 1000, clock, log }),
    /** Ends the send under way. */
    async end(reason = "") {
      open.shift()?.(reason);
      await settle();
    },
    get isClosed() {
      return isClosed;
    },
  };
}

describe("SpanQueue", () => {
  it("sends what has waited for a period, and nothing while nothing waits", async () => {
    const { clock, sent, queue, end } = setUp();
    assert.equal(clock.pending, 0);
    queue.add(spans(4));
    queue.add(spans(3));
    await clock.advance(999);
    assert.deepEqual(sent, []);
    await clock.advance(1);
    await end();
    assert.deepEqual([sent, clock.pending], [[7], 0]);
  });

  it("sends a whole batch at once, one at a time, and what is left after a period", async () => {
    const { clock, sent, queue, end } = setUp();
    queue.add(spans(128));
    queue.add(spans(200));
    assert.deepEqual(sent, [128]);
    await end();
    assert.deepEqual(sent, [128, 128]);
    await end();
    assert.deepEqual(sent, [128, 128]);
    await clock.advance(1000);
    assert.deepEqual(sent, [128, 128, 72]);
  });

  it("drops whole requests above its size, and says so once a minute", async () => {
    const { clock, log, queue, sent, end } = setUp();
    queue.add(spans(128));
    for (let count = 0; count < 1000; count++) queue.add(spans(5));
    const cause = "more requests are traced than the receiver takes";
    assert.deepEqual(log.lines, [`warning: Spans are lost ${JSON.stringify({ lostSoFar: 5, cause })}`]);
    await clock.advance(60_000);
    queue.add(spans(5));
    assert.deepEqual(log.lines.slice(1), [`warning: Spans are lost ${JSON.stringify({ lostSoFar: 4705, cause })}`]);
    await end();
    await end();
    await end();
    await clock.advance(1000);
    assert.deepEqual(sent, [128, 128, 128, 44]);
  });

  it("waits for a period after a failure, and does not send the batch again", async () => {
    const { clock, log, queue, sent, end } = setUp();
    queue.add(spans(128));
    queue.add(spans(150));
    await end("500 no");
    queue.add(spans(100));
    assert.deepEqual(sent, [128]);
    await clock.advance(1000);
    assert.deepEqual(sent, [128, 128]);
    await end("500 no");
    assert.deepEqual(log.lines, [`warning: Spans are lost ${JSON.stringify({ lostSoFar: 128, cause: "500 no" })}`]);
  });

  it("sends the rest at its end, and tells what was lost since the last line", async () => {
    const set = setUp();
    const { clock, log, queue, sent, end } = set;
    queue.add(spans(128));
    queue.add(spans(172));
    queue.add(spans(130));
    await end();
    assert.deepEqual(sent, [128, 128]);
    queue.close();
    queue.add(spans(1));
    await end();
    await end();
    assert.deepEqual([sent, set.isClosed, clock.pending], [[128, 128, 44], true, 0]);
    assert.equal(log.lines.length, 1);
  });

  it("ends although the receiver never responds", async () => {
    const set = setUp();
    const { clock, log, queue } = set;
    queue.add(spans(128));
    queue.add(spans(150));
    queue.close();
    await clock.advance(1499);
    assert.equal(set.isClosed, false);
    await clock.advance(1);
    assert.deepEqual([set.isClosed, clock.pending], [true, 0]);
    const lines = log.lines.map((line) => line.replace(/^.*lostSoFar":(\d+).*$/, "$1"));
    assert.deepEqual(lines, ["128", "278"]);
  });

  it("ends at once where nothing waits", async () => {
    const set = setUp();
    set.queue.close();
    await settle();
    assert.deepEqual([set.isClosed, set.clock.pending, set.sent, set.log.lines], [true, 0, [], []]);
  });
});
