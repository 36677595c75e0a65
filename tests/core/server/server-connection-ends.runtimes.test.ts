import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { afterOthersReads } from "../../../core/runtime/next-turn.ts";
import { PARTING_MS } from "../../../core/server/connection-state.ts";
import { DEFAULT_LIMITS } from "../../../core/settings.ts";
import { settle } from "../../support/fake-clock.ts";
import { FakeSocket } from "../../support/fake-socket.ts";
import { connection, get } from "./connection-set-up.ts";

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
