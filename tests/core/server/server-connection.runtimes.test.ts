import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { RouterError } from "../../../core/contract/errors.ts";
import { respondWithJson } from "../../../core/errors/error-response.ts";
import type { ResponseWriter } from "../../../core/host/response-writer.ts";
import { afterOthersReads } from "../../../core/runtime/next-turn.ts";
import { LINGER_MS, PARTING_MS } from "../../../core/server/connection-state.ts";
import { ServerConnection } from "../../../core/server/server-connection.ts";
import type { OpenConnection } from "../../../core/server/server-shared.ts";
import { DEFAULT_LIMITS } from "../../../core/settings.ts";
import { ClientCounts } from "../../../core/wire/client-counts.ts";
import { Deadlines } from "../../../core/wire/deadlines.ts";
import { FakeClock, settle } from "../../support/fake-clock.ts";
import { asSocket, FakeSocket } from "../../support/fake-socket.ts";

const get = (path: string, lines = "") => Buffer.from(`GET ${path} HTTP/1.1\r\nHost: x\r\n${lines}\r\n`);

/** One connection whose requests wait until the test responds to them. */
function connection(socket = new FakeSocket()) {
  const clock = new FakeClock();
  const connections = new Set<OpenConnection>();
  const responses: ResponseWriter[] = [];
  const targets: string[] = [];
  /** What the receivers were told, in order. */
  const told: string[] = [];
  const shared = {
    limits: DEFAULT_LIMITS,
    clock,
    clients: new ClientCounts(0),
    memory: { unreadBytes: 0 },
    deadlines: new Deadlines(clock, 250),
    ended: (connection: OpenConnection) => void connections.delete(connection),
    isDraining: false,
    start(head: { target: string }, _length: number, response: ResponseWriter) {
      targets.push(head.target);
      responses.push(response);
      return {
        body: (_chunk: Uint8Array, start: number, end: number) => void told.push(`body ${end - start}`),
        bodyEnd: () => void told.push("bodyEnd"),
        refuse(error: RouterError) {
          told.push(`refuse ${error.code}`);
          if (response.hasStarted) response.abort("");
          else respondWithJson(response, error.status, "", "{}");
        },
        clientGone: () => void told.push("clientGone"),
        drained: () => void told.push("drained"),
        stop: () => void told.push("stop"),
      };
    },
    refuse: (response: ResponseWriter) => respondWithJson(response, 400, "", "{}"),
  };
  const served = new ServerConnection(asSocket(socket), shared);
  connections.add(served);
  const respond = async () => {
    respondWithJson(responses.shift()!, 200, "", "{}");
    await settle();
    return socket.takeWritten().toString("latin1");
  };
  const drain = () => {
    shared.isDraining = true;
    served.beginDrain();
  };
  return { clock, socket, connections, responses, targets, told, respond, drain };
}

describe("a connection whose idle time is over", () => {
  const { idleTimeoutMs } = DEFAULT_LIMITS;
  async function idle() {
    const all = connection();
    all.socket.receive(get("/a"));
    assert.doesNotMatch(await all.respond(), /Connection: close/);
    await all.clock.advance(idleTimeoutMs + 500);
    return all;
  }

  it("serves the request that comes just then, as the last one", async () => {
    const { clock, socket, connections, respond, targets } = await idle();
    socket.receive(Buffer.concat([get("/b"), get("/c")]));
    await clock.advance(60_000);
    assert.match(await respond(), /\r\nConnection: close\r\n/);
    assert.ok(socket.isEnded);
    await clock.advance(LINGER_MS + 500);
    assert.deepEqual([targets, connections.size], [["/a", "/b"], 0]);
  });

  it("reads what has come by the time it ends", async () => {
    const { clock, socket, connections, respond } = await idle();
    await clock.advance(PARTING_MS - 500);
    // The sweep that ends it comes before the read.
    const swept = clock.advance(500);
    setImmediate(() => socket.receive(get("/b")));
    await swept;
    await new Promise<void>(afterOthersReads);
    assert.match(await respond(), /\r\nConnection: close\r\n/);
    assert.equal(connections.size, 1);
  });

  it("ends where nothing comes", async () => {
    const { clock, connections } = await idle();
    assert.equal(connections.size, 1);
    await clock.advance(PARTING_MS);
    await new Promise<void>(afterOthersReads);
    await settle();
    assert.equal(connections.size, 0);
  });
});

describe("a connection of a server that stops", () => {
  it("ends soon when it is idle", async () => {
    const { clock, connections, drain } = connection();
    await clock.advance(1_000);
    drain();
    await clock.advance(250);
    assert.equal(connections.size, 1);
    await clock.advance(500);
    await new Promise<void>(afterOthersReads);
    await settle();
    assert.equal(connections.size, 0);
  });

  it("serves a request that was on its way, and says that it is the last", async () => {
    const { clock, socket, connections, respond, drain } = connection();
    drain();
    await clock.advance(250);
    socket.receive(get("/a"));
    await clock.advance(10_000);
    assert.match(await respond(), /\r\nConnection: close\r\n/);
    assert.ok(socket.isEnded);
    await clock.advance(750);
    assert.equal(connections.size, 0);
  });

  it("says so in a response that begins after the stop, whenever its request came", async () => {
    const { socket, respond, drain } = connection();
    socket.receive(get("/a"));
    drain();
    assert.match(await respond(), /\r\nConnection: close\r\n/);
    assert.ok(socket.isEnded);
  });

  it("whose response had begun before gets a last chance for the next request", async () => {
    const { clock, socket, connections, responses, respond, drain } = connection();
    socket.receive(get("/a"));
    const first = responses.shift()!;
    first.start(200, "OK", "", 2);
    drain();
    first.write(Buffer.from("{}"), [0, 2], 1, false);
    first.end();
    assert.doesNotMatch(socket.takeWritten().toString("latin1"), /Connection: close/);
    await clock.advance(250);
    assert.equal(connections.size, 1);
    socket.receive(get("/b"));
    assert.match(await respond(), /\r\nConnection: close\r\n/);
  });
});

describe("requests that come before their turn", () => {
  it("are served in order, whatever pieces they come in", async () => {
    const { socket, targets, respond } = connection();
    const all = Buffer.concat([get("/a"), get("/b"), get("/c")]);
    for (const byte of all) socket.receive(Buffer.from([byte]));
    for (const target of ["/a", "/b", "/c"]) {
      assert.equal(targets.at(-1), target);
      assert.match(await respond(), /^HTTP\/1\.1 200 OK\r\n/);
    }
    assert.equal(targets.length, 3);
  });

  it("stay in front of a read that comes just as their turn has come", async () => {
    const { socket, targets, responses, respond } = connection();
    const [first, rest] = [get("/b").subarray(0, 9), get("/b").subarray(9)];
    socket.receive(get("/a"));
    socket.receive(first);
    respondWithJson(responses.shift()!, 200, "", "{}");
    socket.receive(rest);
    await settle();
    assert.deepEqual(targets, ["/a", "/b"]);
    assert.match(await respond(), /^HTTP\/1\.1 200 OK\r\n.*HTTP\/1\.1 200 OK\r\n/s);
  });

  it("wait until the client has taken the responses so far", async () => {
    const { socket, targets, respond } = connection();
    socket.receive(Buffer.concat([get("/a"), get("/b")]));
    socket.writableNeedDrain = true;
    await respond();
    socket.receive(get("/c"));
    await settle();
    assert.deepEqual(targets, ["/a"]);
    socket.writableNeedDrain = false;
    socket.emit("drain");
    await settle();
    assert.deepEqual(targets, ["/a", "/b"]);
    await respond();
    assert.deepEqual(targets, ["/a", "/b", "/c"]);
  });

  it("are all served, up to 128 KiB of them", async () => {
    const { socket, targets, respond } = connection();
    socket.receive(get("/0"));
    const count = 120;
    for (let n = 1; n <= count; n++) socket.receive(get(`/${n}`, `A: ${"a".repeat(1_000)}\r\n`));
    for (let n = 0; n <= count; n++) assert.match(await respond(), /^HTTP\/1\.1 200 OK\r\n(?!.*Connection: close)/s);
    assert.deepEqual(
      targets,
      Array.from({ length: count + 1 }, (_, n) => `/${n}`),
    );
  });

  for (const kib of [1, 70, 1_000]) {
    it(`do not hide that the client has left, even if they are ${kib} KiB`, async () => {
      const { socket, connections, told } = connection();
      socket.receive(get("/a"));
      for (let n = 0; n < kib; n++) socket.receive(get("/b", `A: ${"a".repeat(1_000)}\r\n`));
      socket.receiveEnd();
      await settle();
      assert.equal(connections.size, 0);
      assert.deepEqual(told, ["bodyEnd", "clientGone"]);
    });
  }

  it("beyond 128 KiB are served no more: the response under way is whole and says that it is the last", async () => {
    const { clock, socket, connections, targets, respond } = connection();
    socket.receive(get("/a"));
    for (let n = 0; n < 200; n++) socket.receive(get("/b", `A: ${"a".repeat(1_000)}\r\n`));
    assert.match(await respond(), /^HTTP\/1\.1 200 OK\r\n.*Connection: close\r\n\r\n\{\}$/s);
    assert.ok(socket.isEnded);
    socket.receive(get("/c"));
    await clock.advance(3_000);
    assert.equal(connections.size, 0);
    assert.deepEqual(targets, ["/a"]);
    assert.equal(socket.wasReset, false);
  });

  it("beyond the largest body a request may have cut the connection", async () => {
    const { socket, connections, told } = connection();
    socket.receive(get("/a"));
    const megabyte = Buffer.alloc(1024 * 1024);
    for (let n = 0; n < 32; n++) socket.receive(megabyte);
    assert.equal(socket.wasReset, false);
    socket.receive(megabyte);
    await settle();
    assert.ok(socket.wasReset);
    assert.equal(connections.size, 0);
    assert.deepEqual(told, ["bodyEnd", "clientGone"]);
  });
});

describe("a request whose framing breaks", () => {
  const head = Buffer.from("POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");

  it("is refused by its receiver, which then hears no more of it", async () => {
    const { clock, socket, connections, told } = connection();
    socket.receive(head);
    socket.receive(Buffer.from("2\r\nab\r\n"));
    socket.receive(Buffer.from("zz\r\n"));
    assert.match(socket.takeWritten().toString(), /^HTTP\/1\.1 400 .*Connection: close/s);
    socket.receive(Buffer.from("2\r\ncd\r\n"));
    await clock.advance(3_000);
    assert.equal(connections.size, 0);
    assert.deepEqual(told, ["body 2", "refuse bad_request"]);
  });

  it("while its response is under way breaks that off by its receiver, visibly", async () => {
    const { clock, socket, connections, responses, told } = connection();
    socket.receive(head);
    const response = responses[0]!;
    response.start(200, "OK", "", -1);
    response.write(Buffer.from("data"), [0, 4], 1, false);
    socket.receive(Buffer.from("zz\r\n"));
    await clock.advance(100);
    assert.ok(socket.isEnded);
    assert.match(socket.takeWritten().toString(), /\r\n4\r\ndata\r\n$/);
    await clock.advance(3_000);
    assert.equal(connections.size, 0);
    assert.deepEqual(told, ["refuse bad_request"]);
  });

  it("in its head has a receiver too, unless there is no head", () => {
    for (const { bytes, heard } of [
      { bytes: "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n", heard: ["refuse bad_request"] },
      { bytes: "POST /a\r\n\r\n", heard: [] },
    ]) {
      const { socket, told } = connection();
      socket.receive(Buffer.from(bytes));
      assert.match(socket.takeWritten().toString(), /^HTTP\/1\.1 400 .*Connection: close/s);
      assert.deepEqual(told, heard);
    }
  });
});

describe("a client that stays after its last response", () => {
  it("is let go once it has had the time to read it", async () => {
    const { clock, socket, connections, respond } = connection();
    socket.receive(get("/a", "Connection: close\r\n"));
    await respond();
    assert.ok(socket.isEnded);
    await clock.advance(1_500);
    assert.equal(connections.size, 1);
    await clock.advance(1_000);
    assert.equal(connections.size, 0);
  });
});

/** The kernel takes what was written when the test says so. */
class SlowSocket extends FakeSocket {
  flushed = () => {};

  override end(ended = () => {}): void {
    this.isEnded = true;
    this.flushed = ended;
  }
}

describe("a client that takes the end of a broken response slowly", () => {
  async function breakOff() {
    const socket = new SlowSocket();
    const { clock, connections, responses } = connection(socket);
    socket.receive(get("/a"));
    const response = responses.shift()!;
    response.start(200, "OK", "", -1);
    response.abort("data: sorry\n\n");
    await clock.advance(100);
    assert.ok(socket.isEnded);
    assert.ok(socket.takeWritten().includes("data: sorry"));
    await clock.advance(10_000);
    assert.equal(connections.size, 1);
    return { clock, socket, connections };
  }

  it("gets the time that any client gets, and little more once it has them", async () => {
    const { clock, socket, connections } = await breakOff();
    socket.flushed();
    await clock.advance(2_500);
    assert.equal(connections.size, 0);
  });

  it("is let go when it takes nothing at all", async () => {
    const { clock, connections } = await breakOff();
    await clock.advance(DEFAULT_LIMITS.writeTimeoutMs);
    assert.equal(connections.size, 0);
  });
});

/** Keeps so many bytes that the kernel has not taken. */
class FullSocket extends FakeSocket {
  unsent = 0;

  override get writableLength(): number {
    return this.unsent;
  }
}

describe("a client that still takes its response", () => {
  const { idleTimeoutMs, writeTimeoutMs } = DEFAULT_LIMITS;

  it("is not idle, and gets the whole idle time after the last byte", async () => {
    const socket = new FullSocket();
    const { clock, connections, respond } = connection(socket);
    socket.receive(get("/a"));
    socket.unsent = 1_000;
    await respond();
    for (; socket.unsent > 0; socket.unsent -= 250) await clock.advance(writeTimeoutMs - 1_000);
    socket.emit("drain");
    await clock.advance(idleTimeoutMs - 1_000);
    assert.equal(connections.size, 1);
    await clock.advance(2_000 + PARTING_MS);
    await new Promise<void>(afterOthersReads);
    await settle();
    assert.equal(connections.size, 0);
  });

  it("is waited for even though it was the last one", async () => {
    const socket = new FullSocket();
    const { clock, connections, respond } = connection(socket);
    socket.receive(get("/a", "Connection: close\r\n"));
    socket.end = () => {
      socket.isEnded = true;
    };
    socket.unsent = 1_000;
    await respond();
    for (; socket.unsent > 250; socket.unsent -= 250) await clock.advance(writeTimeoutMs - 1_000);
    assert.equal(connections.size, 1);
    await clock.advance(2 * writeTimeoutMs);
    assert.equal(connections.size, 0);
    assert.ok(socket.wasReset);
  });

  it("is let go in any state once it takes nothing more", async () => {
    const post = Buffer.from("POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n");
    for (const then of [Buffer.alloc(0), get("/b").subarray(0, 9), post, get("/b")]) {
      const socket = new FullSocket();
      const { clock, connections, respond } = connection(socket);
      socket.receive(get("/a"));
      await respond();
      socket.unsent = 1_000;
      if (then.length > 0) socket.receive(then);
      await clock.advance(1.25 * writeTimeoutMs);
      assert.equal(connections.size, 0);
    }
  });
});
