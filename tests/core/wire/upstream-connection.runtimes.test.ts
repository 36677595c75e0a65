import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { nextTurn } from "../../../core/runtime/next-turn.ts";
import { DEFAULT_LIMITS } from "../../../core/settings.ts";
import type { ConnectionOwner } from "../../../core/wire/connection-owner.ts";
import { Deadlines } from "../../../core/wire/deadlines.ts";
import { IdleHabit } from "../../../core/wire/idle-habit.ts";
import type { ResponseReader } from "../../../core/wire/response-reader.ts";
import { UpstreamConnection } from "../../../core/wire/upstream-connection.ts";
import { FakeClock, settle } from "../../support/fake-clock.ts";
import { asSocket, FakeSocket } from "../../support/fake-socket.ts";

const GET = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
const OK = "HTTP/1.1 200 OK\r\n";
const LENGTH_2 = `${OK}Content-Length: 2\r\n\r\n`;
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`;
const LIMITS = {
  ...DEFAULT_LIMITS,
  connectTimeoutMs: 2_000,
  responseTimeoutMs: 30_000,
  streamIdleTimeoutMs: 20_000,
  upstreamIdleTimeoutMs: 10_000,
};

/** One connection, what its pool and its reader were told, and the replica's end of it. */
class Bench {
  readonly clock = new FakeClock();
  readonly socket = new FakeSocket();
  readonly deadlines = new Deadlines(this.clock, 250);
  readonly idleHabit = new IdleHabit();
  readonly connection: UpstreamConnection;
  /** What the reader was told, in order; calls of readDone are left out. */
  told: string[] = [];
  /** What the pool was told, in order. */
  readonly pool: string[] = [];
  readsDone = 0;
  /** What the reader says of its response. */
  hasTokens = false;
  goneSinceMs = Number.POSITIVE_INFINITY;
  heardAtMs = Number.NaN;
  /** Called inside the reader's `head`. */
  onHead = () => {};
  readonly #opened: () => void;
  readonly #unwritable: () => void;

  constructor() {
    let calls: (() => void)[] = [];
    const { socket, pool } = this;
    const bench = this;
    const owner: ConnectionOwner<UpstreamConnection> = {
      limits: LIMITS,
      deadlines: this.deadlines,
      get goneSinceMs() {
        return bench.goneSinceMs;
      },
      open(opened, read, unwritable) {
        calls = [opened, unwritable];
        socket.on("data", read);
        return asSocket(socket);
      },
      idleHabit: bench.idleHabit,
      heard: (atMs) => {
        bench.heardAtMs = atMs;
      },
      unasked: () => void pool.push("unasked"),
      broken: () => {},
      idle: () => void pool.push("idle"),
      closed: () => void pool.push("closed"),
    };
    this.connection = new UpstreamConnection(owner);
    [this.#opened, this.#unwritable] = calls as [() => void, () => void];
  }

  open(): void {
    this.#opened();
  }

  send(method = "POST", body: readonly Uint8Array[] = []): void {
    const bench = this;
    const reader: ResponseReader = {
      isStream: true,
      get hasTokens() {
        return bench.hasTokens;
      },
      head: (head, framing) => {
        this.told.push(`head ${head.status} ${framing.kind}`);
        this.onHead();
      },
      body: (chunk, spans, spanCount, isVerbatim) => {
        let text = "";
        for (let i = 0; i < spanCount; i++) text += chunk.toString("latin1", spans[2 * i], spans[2 * i + 1]);
        this.told.push(`body ${text}${isVerbatim ? " verbatim" : ""}`);
      },
      end: (isVerbatimEnd) => void this.told.push(isVerbatimEnd ? "end verbatim" : "end"),
      failed: (failure, isDelivered) => void this.told.push(`${failure}, ${isDelivered ? "delivered" : "not delivered"}`),
      readDone: () => {
        this.readsDone += 1;
      },
    };
    this.connection.send(method, GET, body, reader);
  }

  receive(text: string): void {
    this.socket.receive(Buffer.from(text, "latin1"));
  }

  failWrite(): void {
    this.socket.unsentBytes = 1;
    this.#unwritable();
  }

  /** What the reader was told since the last call. */
  takeTold(): string[] {
    const { told } = this;
    this.told = [];
    return told;
  }

  /** A connection that has carried one exchange and waits for the next. */
  static kept(): Bench {
    const bench = new Bench();
    bench.send();
    bench.open();
    bench.receive(`${LENGTH_2}ok`);
    assert.deepEqual(bench.takeTold(), ["head 200 length", "body ok", "end"]);
    assert.deepEqual(bench.pool.splice(0), ["idle"]);
    return bench;
  }
}

/** A later turn of the event loop. */
const turn = () => new Promise<void>((resolve) => nextTurn(resolve));

/** A fresh connection whose response has begun with these bytes. */
function begun(...reads: string[]): Bench {
  const bench = new Bench();
  bench.send();
  bench.open();
  for (const read of reads) bench.receive(read);
  bench.takeTold();
  return bench;
}

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

const CAUSES = {
  end: ({ socket }: Bench) => socket.receiveEnd(),
  "end after a reset": ({ socket }: Bench) => {
    socket.remoteAddress = undefined;
    socket.receiveEnd();
  },
  error: ({ socket }: Bench) => socket.receiveReset(),
  close: ({ socket }: Bench) => socket.destroy(),
  "a failed write, then the end": (bench: Bench) => {
    bench.failWrite();
    bench.socket.receiveEnd();
  },
  "a failed write, then silence": async (bench: Bench) => {
    bench.failWrite();
    await bench.clock.advance(1_500);
  },
  silence: ({ clock }: Bench) => clock.advance(31_000),
  "silence once it is gone": (bench: Bench) => {
    bench.goneSinceMs = bench.clock.now();
    return bench.clock.advance(6_000);
  },
  "bytes that are not HTTP": (bench: Bench) => bench.receive("\0\0"),
} as const;

type Cause = keyof typeof CAUSES;

const everyReset: readonly Cause[] = ["end after a reset", "error", "close", "a failed write, then the end"];
const each = (causes: readonly Cause[], failure: string) => Object.fromEntries(causes.map((cause) => [cause, failure]));
const sent = (closed: string) => ({
  ...each(["end", ...everyReset, "a failed write, then silence"], `${closed}, delivered`),
  silence: "timeout, delivered",
  "silence once it is gone": "gone, delivered",
  "bytes that are not HTTP": "invalid, delivered",
});
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
