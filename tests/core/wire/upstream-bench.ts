import assert from "node:assert/strict";
import { DEFAULT_LIMITS } from "../../../core/settings.ts";
import type { ConnectionOwner } from "../../../core/wire/connection-owner.ts";
import { Deadlines } from "../../../core/wire/deadlines.ts";
import { IdleHabit } from "../../../core/wire/idle-habit.ts";
import type { ResponseReader } from "../../../core/wire/response-reader.ts";
import { UpstreamConnection } from "../../../core/wire/upstream-connection.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { asSocket, FakeSocket } from "../../support/fake-socket.ts";

export const GET = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

export const OK = "HTTP/1.1 200 OK\r\n";

export const LENGTH_2 = `${OK}Content-Length: 2\r\n\r\n`;

export const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`;

export const LIMITS = {
  ...DEFAULT_LIMITS,
  connectTimeoutMs: 2_000,
  responseTimeoutMs: 30_000,
  streamIdleTimeoutMs: 20_000,
  upstreamIdleTimeoutMs: 10_000,
};

/** One connection, what its pool and its reader were told, and the replica's end of it. */
export class Bench {
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

/** A fresh connection whose response has begun with these bytes. */
export function begun(...reads: string[]): Bench {
  const bench = new Bench();
  bench.send();
  bench.open();
  for (const read of reads) bench.receive(read);
  bench.takeTold();
  return bench;
}

export const CAUSES = {
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

export type Cause = keyof typeof CAUSES;

const everyReset: readonly Cause[] = ["end after a reset", "error", "close", "a failed write, then the end"];

const each = (causes: readonly Cause[], failure: string) => Object.fromEntries(causes.map((cause) => [cause, failure]));

export const sent = (closed: string) => ({
  ...each(["end", ...everyReset, "a failed write, then silence"], `${closed}, delivered`),
  silence: "timeout, delivered",
  "silence once it is gone": "gone, delivered",
  "bytes that are not HTTP": "invalid, delivered",
});
