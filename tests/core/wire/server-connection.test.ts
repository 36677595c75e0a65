import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { respondWithJson } from "../../../core/errors/error-response.ts";
import type { ResponseWriter } from "../../../core/intake/response-writer.ts";
import { DEFAULT_LIMITS } from "../../../core/settings.ts";
import { Deadlines } from "../../../core/wire/deadlines.ts";
import { ServerConnection } from "../../../core/wire/server-connection.ts";
import { FakeClock, settle } from "../../support/fake-clock.ts";
import { asSocket, FakeSocket } from "../../support/fake-socket.ts";

const get = (path: string, lines = "") => Buffer.from(`GET ${path} HTTP/1.1\r\nHost: x\r\n${lines}\r\n`);

/** One connection whose requests wait until the test answers them. */
function connection(socket = new FakeSocket()) {
  const clock = new FakeClock();
  const connections = new Set<ServerConnection>();
  const responses: ResponseWriter[] = [];
  const targets: string[] = [];
  const shared = {
    limits: DEFAULT_LIMITS,
    clock,
    deadlines: new Deadlines(clock, 250),
    connections,
    isDraining: false,
    start(head: { target: string }, _length: number, response: ResponseWriter) {
      targets.push(head.target);
      responses.push(response);
      return { body: () => true, bodyEnd() {}, refuse() {}, clientGone() {}, drained() {}, stop() {} };
    },
    refuse: (response: ResponseWriter) => respondWithJson(response, 400, "", "{}"),
  };
  const served = new ServerConnection(asSocket(socket), shared);
  connections.add(served);
  const answer = async () => {
    respondWithJson(responses.shift()!, 200, "", "{}");
    await settle();
    return socket.takeWritten().toString("latin1");
  };
  const drain = () => {
    shared.isDraining = true;
    served.beginDrain();
  };
  return { clock, socket, connections, responses, targets, answer, drain };
}

describe("a connection of a server that stops", () => {
  it("ends soon when it is idle", async () => {
    const { clock, connections, drain } = connection();
    await clock.advance(1_000);
    drain();
    await clock.advance(250);
    assert.equal(connections.size, 1);
    await clock.advance(500);
    assert.equal(connections.size, 0);
  });

  it("serves a request that was on its way, and says that it is the last", async () => {
    const { clock, socket, connections, answer, drain } = connection();
    drain();
    await clock.advance(250);
    socket.receive(get("/a"));
    await clock.advance(10_000);
    assert.match(await answer(), /\r\nConnection: close\r\n/);
    assert.ok(socket.isEnded);
    await clock.advance(750);
    assert.equal(connections.size, 0);
  });

  it("says so in an answer that begins after the stop, whenever its request came", async () => {
    const { socket, answer, drain } = connection();
    socket.receive(get("/a"));
    drain();
    assert.match(await answer(), /\r\nConnection: close\r\n/);
    assert.ok(socket.isEnded);
  });

  it("whose answer had begun before gets a last chance for the next request", async () => {
    const { clock, socket, connections, responses, answer, drain } = connection();
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
    assert.match(await answer(), /\r\nConnection: close\r\n/);
  });
});

describe("requests that come before their turn", () => {
  it("are answered in order, whatever pieces they come in", async () => {
    const { socket, targets, answer } = connection();
    const all = Buffer.concat([get("/a"), get("/b"), get("/c")]);
    for (const byte of all) socket.receive(Buffer.from([byte]));
    for (const target of ["/a", "/b", "/c"]) {
      assert.equal(targets.at(-1), target);
      assert.match(await answer(), /^HTTP\/1\.1 200 OK\r\n/);
    }
    assert.equal(targets.length, 3);
  });

  it("stay in front of a read that comes just as their turn has come", async () => {
    const { socket, targets, responses, answer } = connection();
    const [first, rest] = [get("/b").subarray(0, 9), get("/b").subarray(9)];
    socket.receive(get("/a"));
    socket.receive(first);
    respondWithJson(responses.shift()!, 200, "", "{}");
    socket.receive(rest);
    await settle();
    assert.deepEqual(targets, ["/a", "/b"]);
    assert.match(await answer(), /^HTTP\/1\.1 200 OK\r\n.*HTTP\/1\.1 200 OK\r\n/s);
  });

  it("pause the connection once there are too many of them, and none is lost", async () => {
    const { socket, targets, answer } = connection();
    socket.receive(get("/0"));
    const count = 200;
    let isPausedAt = 0;
    for (let n = 1; n <= count; n++) {
      socket.receive(get(`/${n}`, `A: ${"a".repeat(1_000)}\r\n`));
      if (isPausedAt === 0 && socket.isPaused()) isPausedAt = n;
    }
    assert.ok(isPausedAt > 50 && isPausedAt < 70, `paused at request ${isPausedAt}`);
    for (let n = 0; n <= count; n++) await answer();
    assert.deepEqual(
      targets,
      Array.from({ length: count + 1 }, (_, n) => `/${n}`),
    );
  });

  it("do not hide that the client has left", async () => {
    const { socket, connections } = connection();
    socket.receive(get("/a"));
    for (let n = 0; n < 10; n++) socket.receive(get("/b"));
    socket.receiveEnd();
    await settle();
    assert.equal(connections.size, 0);
  });
});

describe("a client that stays after its last answer", () => {
  it("is let go once it has had the time to read it", async () => {
    const { clock, socket, connections, answer } = connection();
    socket.receive(get("/a", "Connection: close\r\n"));
    await answer();
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

describe("a client that takes the last words of a broken answer slowly", () => {
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
