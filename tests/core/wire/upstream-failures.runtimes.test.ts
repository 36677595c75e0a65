import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { settle } from "../../support/fake-clock.ts";
import { Bench, begun, CAUSES, type Cause, CHUNKED, GET, LENGTH_2, OK, sent } from "./upstream-bench.ts";

function keptAndSent(...reads: string[]): Bench {
  const bench = Bench.kept();
  bench.send();
  for (const read of reads) bench.receive(read);
  return bench;
}

const STATES = {
  connecting: () => {
    const bench = new Bench();
    bench.send();
    return bench;
  },
  "sent, no response yet": () => begun(),
  "after half a head": () => begun("HTTP/1.1 2"),
  "after an interim response": () => begun("HTTP/1.1 100 Continue\r\n\r\n"),
  "inside a body with a length": () => begun(`${LENGTH_2}o`),
  "inside a chunked body": () => begun(`${CHUNKED}2\r\nok\r\n`),
  "inside a body that ends with the connection": () => begun(`${OK}\r\nok`),
  "sent on a kept connection": () => keptAndSent(),
  "after half a head on a kept connection": () => keptAndSent("HTTP/1.1 2"),
} as const;

/** Where any bytes are a valid continuation. */
const { "bytes that are not HTTP": _, ...sentAnyBytes } = sent("reset");

const FAILURES: Readonly<Record<keyof typeof STATES, Partial<Record<Cause, string>>>> = {
  connecting: {
    error: "connect-failed, not delivered",
    close: "connect-failed, not delivered",
    end: "connect-failed, not delivered",
    silence: "connect-timeout, not delivered",
    "silence once it is gone": "connect-timeout, not delivered",
    "bytes that are not HTTP": "invalid, not delivered",
  },
  "sent, no response yet": sent("reset"),
  "after half a head": sent("reset"),
  "after an interim response": sent("reset"),
  "inside a body with a length": sentAnyBytes,
  "inside a chunked body": sent("reset"),
  "inside a body that ends with the connection": { ...sentAnyBytes, end: "end" },
  "sent on a kept connection": sent("stale"),
  "after half a head on a kept connection": sent("reset"),
};

it("the pool is told of bytes in the clock's time, however far the deadlines' own time is behind", () => {
  const bench = new Bench();
  bench.open();
  bench.send();
  bench.deadlines.nowMs -= 60_000;
  bench.socket.emit("data", Buffer.from(LENGTH_2));
  assert.ok(Number.isNaN(bench.heardAtMs), "a head comes from an HTTP server whose engine may hang");
  bench.hasTokens = true;
  bench.socket.emit("data", Buffer.from("o"));
  assert.equal(bench.heardAtMs, bench.deadlines.clockMs);
});

describe("a connection that fails", () => {
  for (const [state, make] of Object.entries(STATES)) {
    describe(state, () => {
      for (const [cause, expected] of Object.entries(FAILURES[state as keyof typeof STATES])) {
        it(`${cause}: ${expected}`, async () => {
          const bench = make();
          await CAUSES[cause as Cause](bench);
          assert.deepEqual(bench.takeTold(), [expected]);
          assert.deepEqual(bench.pool, ["closed"]);
          assert.ok(bench.socket.destroyed);
          // Nothing follows, whatever the socket still does.
          bench.socket.emit("data", Buffer.from(LENGTH_2));
          bench.socket.emit("error", new Error("late"));
          await bench.clock.advance(60_000);
          assert.deepEqual([bench.told, bench.pool], [[], ["closed"]]);
        });
      }

      it("destroyed by its user: the reader is told nothing", async () => {
        const bench = make();
        bench.connection.destroy();
        await settle();
        assert.deepEqual([bench.told, bench.pool, bench.socket.destroyed], [[], ["closed"], true]);
      });
    });
  }
});

describe("a request", () => {
  it("is written when the connection opens, head and body together", () => {
    const bench = new Bench();
    bench.send("POST", [Buffer.from("ab"), Buffer.from("cd")]);
    assert.equal(bench.socket.takeWritten().length, 0);
    bench.open();
    assert.equal(bench.socket.takeWritten().toString(), `${GET}abcd`);
  });

  it("with a long body is written without a copy of it", () => {
    const bench = new Bench();
    const body = Buffer.alloc(1_000_000, "x");
    const written: unknown[] = [];
    bench.socket.write = (data: string | Uint8Array) => written.push(data) > 0;
    bench.send("POST", [body, new Uint8Array(0)]);
    bench.open();
    assert.equal(written.length, 2);
    assert.equal(written[1], body);
  });
});
