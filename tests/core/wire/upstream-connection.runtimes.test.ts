import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { nextTurn } from "../../../core/runtime/next-turn.ts";
import { settle } from "../../support/fake-clock.ts";
import { Bench, begun, CHUNKED, GET, LENGTH_2, LIMITS, OK } from "./upstream-bench.ts";

/** A later turn of the event loop. */
const turn = () => new Promise<void>((resolve) => nextTurn(resolve));

/** Reads that bring whole responses to one request, and what the reader is told. */
const responses: readonly {
  readonly name: string;
  readonly reads: readonly string[];
  readonly told: readonly string[];
  readonly method?: string;
  /** What the pool is told; default ["idle"]. */
  readonly pool?: readonly string[];
}[] = [
  { name: "with a length", reads: [`${LENGTH_2}ok`], told: ["head 200 length", "body ok", "end"] },
  {
    name: "cut inside head and body",
    reads: ["HTTP/1.1 200 OK\r\nContent-Le", "ngth: 2\r\n\r\no", "k"],
    told: ["head 200 length", "body o", "body k", "end"],
  },
  { name: "with length 0", reads: [`${OK}Content-Length: 0\r\n\r\n`], told: ["head 200 length", "end"] },
  { name: "204", reads: ["HTTP/1.1 204 No Content\r\n\r\n"], told: ["head 204 none", "end"] },
  { name: "304", reads: ["HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n"], told: ["head 304 none", "end"] },
  { name: "to HEAD", method: "HEAD", reads: [`${OK}Content-Length: 9\r\n\r\n`], told: ["head 200 none", "end"] },
  {
    name: "chunked, each read whole chunks",
    reads: [CHUNKED, "2\r\nok\r\n", "0\r\n\r\n"],
    told: ["head 200 chunked", "body ok verbatim", "body  verbatim", "end verbatim"],
  },
  {
    name: "chunked, in one read",
    reads: [`${CHUNKED}2\r\nok\r\n0\r\n\r\n`],
    told: ["head 200 chunked", "body ok", "end"],
  },
  {
    name: "chunked, cut inside a chunk",
    reads: [CHUNKED, "2\r\no", "k\r\n0\r\n\r\n"],
    told: ["head 200 chunked", "body o", "body k", "end"],
  },
  {
    name: "after interim responses",
    reads: ["HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nA: b\r\n", `\r\n${LENGTH_2}ok`],
    told: ["head 200 length", "body ok", "end"],
  },
  {
    name: "after 16 interim responses",
    reads: ["HTTP/1.1 102 Processing\r\n\r\n".repeat(16), `${LENGTH_2}ok`],
    told: ["head 200 length", "body ok", "end"],
  },
  {
    name: "after 17 interim responses",
    reads: ["HTTP/1.1 102 Processing\r\n\r\n".repeat(17), `${LENGTH_2}ok`],
    told: ["invalid, delivered"],
    pool: ["closed"],
  },
  {
    name: "that switches protocols",
    reads: ["HTTP/1.1 101 Switching Protocols\r\n\r\n"],
    told: ["invalid, delivered"],
    pool: ["closed"],
  },
  {
    name: "with bytes behind it",
    reads: [`${LENGTH_2}ok!`],
    told: ["head 200 length", "body ok", "end"],
    pool: ["closed", "unasked"],
  },
  {
    name: "with a second response behind it",
    reads: [`${LENGTH_2}ok${LENGTH_2}no`],
    told: ["head 200 length", "body ok", "end"],
    pool: ["closed", "unasked"],
  },
  {
    name: "with bytes behind its last chunk",
    reads: [CHUNKED, "2\r\nok\r\n0\r\n\r\n!"],
    told: ["head 200 chunked", "body ok", "end"],
    pool: ["closed", "unasked"],
  },
  {
    name: "with bytes in the next read",
    reads: [`${LENGTH_2}ok`, "!"],
    told: ["head 200 length", "body ok", "end"],
    pool: ["idle", "closed", "unasked"],
  },
  {
    name: "with Connection: close",
    reads: [`${OK}Connection: close\r\nContent-Length: 2\r\n\r\nok`],
    told: ["head 200 length", "body ok", "end"],
    pool: ["closed"],
  },
  {
    name: "of HTTP/1.0",
    reads: ["HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok"],
    told: ["head 200 length", "body ok", "end"],
    pool: ["closed"],
  },
];

describe("a response", () => {
  for (const { name, reads, told, method = "POST", pool = ["idle"] } of responses) {
    it(name, () => {
      const bench = new Bench();
      bench.send(method);
      bench.open();
      for (const read of reads) bench.receive(read);
      assert.deepEqual([bench.told, bench.pool], [told, pool]);
      assert.equal(bench.socket.destroyed, pool.includes("closed"));
    });
  }

  it("says after each read that the read is over", () => {
    const bench = begun();
    for (const read of [CHUNKED, "2\r\nok\r\n", "0\r\n\r\n"]) bench.receive(read);
    assert.equal(bench.readsDone, 3);
  });

  it("that ends with the connection is complete at its end, and the connection is over", () => {
    const bench = begun(`${OK}\r\nok`);
    bench.socket.receiveEnd();
    assert.deepEqual([bench.told, bench.pool], [["end"], ["closed"]]);
  });

  it("that was sent before a write failed is read to its end", () => {
    const bench = begun();
    bench.failWrite();
    bench.receive("HTTP/1.1 413 Payload Too Large\r\nContent-Length: 2\r\n\r\nn");
    bench.receive("o");
    assert.deepEqual([bench.told, bench.pool], [["head 413 length", "body n", "body o", "end"], ["closed"]]);
  });

  describe("that comes while the request is still being written", () => {
    const REFUSAL = "HTTP/1.1 413 Payload Too Large\r\nContent-Length: 2\r\n\r\nno";
    const early = () => {
      const bench = begun();
      bench.socket.unsentBytes = 1;
      assert.equal(bench.connection.hasSentAll, false);
      return bench;
    };

    it("is passed on if it is an error, and the connection is over", () => {
      const bench = early();
      bench.receive(REFUSAL);
      assert.deepEqual([bench.told, bench.pool], [["head 413 length", "body no", "end"], ["closed"]]);
    });

    it("is not if it is a success: it belongs to no request", async () => {
      const bench = early();
      bench.receive(LENGTH_2);
      bench.receive("ok");
      await turn();
      assert.deepEqual([bench.told, bench.pool], [["invalid, delivered"], ["closed"]]);
    });

    it("is not if its head comes in pieces, or behind an interim one, either", async () => {
      for (const reads of [["HTTP/1", LENGTH_2.slice(6)], [`HTTP/1.1 100 Continue\r\n\r\n${LENGTH_2}`]]) {
        const bench = early();
        for (const bytes of reads) {
          bench.receive(bytes);
          await turn();
        }
        assert.deepEqual([bench.told, bench.pool], [["invalid, delivered"], ["closed"]]);
      }
    });

    it("is a success all the same if the end of the write is told behind it", async () => {
      const bench = early();
      bench.receive(LENGTH_2);
      bench.receive("ok");
      bench.socket.unsentBytes = 0;
      await turn();
      assert.deepEqual([bench.told, bench.pool], [["head 200 length", "body ok", "end"], ["idle"]]);
    });
  });

  it("whose reader destroys the connection at the head is not read any further", () => {
    for (const rest of ["ok", "ok!", ""]) {
      const bench = begun();
      bench.onHead = () => bench.connection.destroy();
      bench.receive(LENGTH_2 + rest);
      assert.deepEqual([bench.told, bench.pool], [["head 200 length"], ["closed"]]);
    }
  });

  it("whose reader throws ends the connection, and the error reaches the runtime", () => {
    const bench = begun();
    bench.onHead = () => {
      throw new Error("broken on purpose");
    };
    assert.throws(() => bench.receive(`${LENGTH_2}ok`), /broken on purpose/);
    assert.deepEqual([bench.told, bench.pool], [["head 200 length", "invalid, delivered"], ["closed"]]);
  });
});

describe("a kept connection", () => {
  it("carries one exchange after the other", () => {
    const bench = Bench.kept();
    for (let n = 0; n < 3; n++) {
      bench.socket.takeWritten();
      bench.send();
      assert.equal(bench.socket.takeWritten().toString(), GET);
      bench.receive(`${CHUNKED}2\r\nok\r\n0\r\n\r\n`);
      assert.deepEqual(bench.takeTold(), ["head 200 chunked", "body ok", "end"]);
      assert.deepEqual(bench.pool.splice(0), ["idle"]);
    }
  });

  it("that is doubted fails as stale while it waits, closes while it is idle, and goes on once a response has begun", () => {
    const [waiting, idle, begun] = [Bench.kept(), Bench.kept(), Bench.kept()];
    waiting.send();
    waiting.connection.doubt();
    assert.deepEqual([waiting.takeTold(), waiting.pool], [["stale, delivered"], ["closed"]]);
    idle.connection.doubt();
    assert.deepEqual([idle.takeTold(), idle.pool], [[], ["closed"]]);
    begun.send();
    begun.receive(`${LENGTH_2}o`);
    begun.connection.doubt();
    begun.receive("k");
    assert.deepEqual(begun.takeTold(), ["head 200 length", "body o", "body k", "end"]);
  });

  const ends: readonly (readonly [name: string, end: (bench: Bench) => void | Promise<void>, ...more: string[]])[] = [
    ["is idle for too long", ({ clock }) => clock.advance(11_000)],
    ["is closed by the replica", ({ socket }) => socket.receiveEnd()],
    ["is reset", ({ socket }) => socket.receiveReset()],
    ["brings a 408", (bench) => bench.receive("HTTP/1.1 408 Request Timeout\r\n\r\n")],
    ["brings bytes that belong to no request", (bench) => bench.receive(LENGTH_2), "unasked"],
  ];
  for (const [name, end, ...more] of ends) {
    it(`that ${name} is over, and no reader is told`, async () => {
      const bench = Bench.kept();
      await end(bench);
      assert.deepEqual([bench.told, bench.pool, bench.socket.destroyed], [[], ["closed", ...more], true]);
    });
  }

  it("is not idle while it is used", async () => {
    const bench = Bench.kept();
    await bench.clock.advance(9_000);
    bench.send();
    await bench.clock.advance(9_000);
    bench.receive(`${LENGTH_2}ok`);
    await bench.clock.advance(9_000);
    assert.deepEqual(bench.pool, ["idle"]);
  });
});

describe("a paused connection", () => {
  it("hands nothing on before it is resumed", async () => {
    const bench = begun(`${LENGTH_2}o`);
    bench.connection.pause();
    bench.receive("k");
    await settle();
    assert.deepEqual(bench.told, []);
    bench.connection.resume();
    await settle();
    assert.deepEqual(bench.told, ["body k", "end"]);
  });

  for (const goneAfterMs of [0, Number.POSITIVE_INFINITY]) {
    it(`counts no silence${goneAfterMs === 0 ? ", even of a replica that is gone" : ""}; a resumed one counts it anew`, async () => {
      const bench = begun(`${LENGTH_2}o`);
      bench.goneSinceMs = goneAfterMs;
      bench.connection.pause();
      await bench.clock.advance(120_000);
      assert.deepEqual(bench.told, []);
      bench.connection.resume();
      const limitMs = goneAfterMs === 0 ? 5_000 : LIMITS.streamIdleTimeoutMs;
      await bench.clock.advance(limitMs - 500);
      assert.deepEqual(bench.told, []);
      await bench.clock.advance(1_000);
      assert.deepEqual(bench.told, [goneAfterMs === 0 ? "gone, delivered" : "timeout, delivered"]);
    });
  }

  it("is resumed when its response is complete, to notice the replica's end", () => {
    const bench = begun();
    bench.onHead = () => bench.connection.pause();
    bench.receive(`${LENGTH_2}ok`);
    assert.deepEqual([bench.told.at(-1), bench.socket.isPaused()], ["end", false]);
  });

  it("whose write fails still waits for its reader", async () => {
    const bench = begun(`${LENGTH_2}o`);
    bench.connection.pause();
    bench.receive("k");
    bench.failWrite();
    await bench.clock.advance(60_000);
    bench.connection.resume();
    await settle();
    assert.deepEqual(bench.told, ["body k", "end"]);
  });
});
