import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { EndpointUrl } from "../../../core/contract/endpoint.ts";
import { readAccepted } from "../../../core/runtime/accepted-socket.ts";
import { ReadTurns } from "../../../core/runtime/read-turns.ts";
import { openSocket } from "../../../core/wire/open-socket.ts";
import { onThisRuntime } from "../../support/own-runtime.ts";
import { waitUntil } from "../../support/router.ts";

const LONG = Buffer.alloc(4 * 1024);

/** A time that reads move on, turns that the test begins, and connections that are told apart by names. */
function scripted() {
  let nowMs = 0;
  const due: (() => void)[] = [];
  const turns = new ReadTurns(
    () => nowMs,
    (run) => void due.push(run),
  );
  return {
    connection(readMs: number) {
      let isPaused = false;
      const socket = {
        destroyed: false,
        isPaused: () => isPaused,
        pause() {
          isPaused = true;
          return socket;
        },
        resume() {
          isPaused = false;
          return socket;
        },
      };
      let inRead = () => {};
      const read = turns.pace(socket as unknown as Socket, () => {
        nowMs += readMs;
        inRead();
      });
      return {
        socket,
        read: (bytes = LONG, during = () => {}) => {
          inRead = during;
          read(bytes);
        },
      };
    },
    otherWork: (ms: number) => {
      nowMs += ms;
    },
    turn: () => {
      for (const run of due.splice(0)) run();
    },
    get isDue() {
      return due.length > 0;
    },
  };
}

describe("reads that take long", () => {
  it("let a connection rest for a turn once they have used up their time, whatever they belong to", () => {
    const { connection, turn } = scripted();
    const [a, b] = [connection(1), connection(1)];
    a.read();
    assert.equal(a.socket.isPaused(), false);
    b.read();
    assert.equal(b.socket.isPaused(), true, "the time is used up");
    a.read();
    assert.equal(a.socket.isPaused(), true);
    turn();
    assert.deepEqual([a.socket.isPaused(), b.socket.isPaused()], [false, false]);
  });

  it("let nobody rest where other work has as much time", () => {
    const { connection, otherWork } = scripted();
    const { read, socket } = connection(0.5);
    for (let reads = 0; reads < 20; reads++) {
      read();
      otherWork(0.7);
      assert.equal(socket.isPaused(), false);
    }
    for (let reads = 0; reads < 8; reads++) {
      read();
      otherWork(0.1);
    }
    assert.equal(socket.isPaused(), true);
  });

  it("are let go on one after the other, as many as have time in a turn", () => {
    const { connection, turn } = scripted();
    const all = Array.from({ length: 5 }, (_, i) => connection(i < 2 ? 5 : 1));
    for (const { read } of all) read();
    const paused = () => all.map(({ socket }) => socket.isPaused());
    assert.deepEqual(paused(), [true, true, true, true, true]);
    turn();
    assert.deepEqual(paused(), [false, true, true, true, true]);
    turn();
    assert.deepEqual(paused(), [false, false, true, true, true]);
    turn();
    assert.deepEqual(paused(), [false, false, false, false, true]);
    turn();
    assert.deepEqual(paused(), [false, false, false, false, false]);
  });

  it("ask for no turn as long as nobody rests", () => {
    const script = scripted();
    const { read, socket } = script.connection(1.9);
    read();
    assert.equal(script.isDue, false);
    read(Buffer.alloc(10));
    assert.deepEqual([script.isDue, socket.isPaused()], [false, false], "short reads do not count");
    read();
    script.turn();
    assert.deepEqual([script.isDue, socket.isPaused()], [false, false]);
  });

  it("leave the connection paused for which its owner asked meanwhile, and not the one that it resumed", () => {
    const { connection, turn } = scripted();
    const { socket, read } = connection(3);
    read(LONG, () => socket.pause());
    turn();
    assert.equal(socket.isPaused(), true, "paused in the read");
    socket.resume();
    assert.equal(socket.isPaused(), false, "outside of a rest it is as ever");
    read();
    socket.pause();
    turn();
    assert.equal(socket.isPaused(), true, "paused in the rest");
    socket.resume();
    read(LONG, () => socket.pause());
    socket.resume();
    assert.equal(socket.isPaused(), true, "resumed in the rest");
    turn();
    assert.equal(socket.isPaused(), false);
  });

  it("do not touch a connection that is gone", () => {
    const script = scripted();
    const { socket, read } = script.connection(3);
    read(LONG, () => {
      socket.destroyed = true;
    });
    assert.deepEqual([script.isDue, socket.isPaused()], [false, false]);
  });
});

describe("a peer that sends at full speed what takes long to read", () => {
  const LASTS_MS = 5;
  /** A runtime reads one connection 32 times in a row and more. */
  const MOST_READS = 8;
  const LEAST_ECHOES = 12;

  for (const [name, isReplica] of [
    ["a client", false],
    ["a replica", true],
  ] as const) {
    it(`${name}: others are read in between`, { timeout: 40_000 }, async (t) => {
      let reads = 0;
      const between: number[] = [];
      const busy = () => {
        const from = performance.now();
        while (performance.now() - from < LASTS_MS);
        reads += 1;
      };
      const accepted = await listening((socket) => readAccepted(socket, busy));
      const echo = await listening((socket) => {
        const moved: Socket = readAccepted(socket, () => {
          between.push(reads);
          moved.write("x");
        });
        return moved;
      });
      const { command, args } = onThisRuntime(join(import.meta.dirname, "..", "..", "support", "hostile-peer-process.ts"));
      const peer = spawn(command, [...args, String(isReplica ? 0 : portOf(accepted)), String(portOf(echo))], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      t.after(() => peer.kill("SIGKILL"));
      const [printed] = (await once(peer.stdout, "data")) as [Buffer];
      const url = { hostname: "127.0.0.1", port: Number(printed.toString()), isTls: false };
      const opened = isReplica ? openSocket(url as EndpointUrl, () => {}, busy) : undefined;
      opened?.on("error", () => {});
      await waitUntil(() => reads > 0);
      const start = between.length;
      await waitUntil(() => between.length > start + LEAST_ECHOES, 20_000);
      peer.kill("SIGKILL");
      opened?.destroy();
      for (const server of [accepted, echo]) server.close();
      const gaps = between.slice(start + 1).map((count, i) => count - between[start + i]!);
      // Where the other process waits for a processor, more is read meanwhile: the middle one tells.
      const middle = gaps.sort((a, b) => a - b)[gaps.length >> 1]!;
      assert.ok(middle <= MOST_READS, `reads between two echoes: ${gaps.join(" ")}`);
    });
  }
});

async function listening(accepted: (socket: Socket) => Socket): Promise<Server> {
  const server = createServer({ pauseOnConnect: true, noDelay: true }, (socket) => accepted(socket).on("error", () => {}));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

const portOf = (server: Server) => (server.address() as AddressInfo).port;
