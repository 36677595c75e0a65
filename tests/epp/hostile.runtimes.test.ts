import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { type EppWithClients, GatewayCall, health, startEppWithClients, startTestEpp } from "../support/gateway.ts";
import { GrpcClient } from "../support/grpc-client.ts";
import { outstanding, waitUntil } from "../support/router.ts";

const CHAT = JSON.stringify({ model: "m", messages: [{ role: "user", content: "Hello" }] });
const SETTINGS = 4;
const HEADERS = 1;
const CONTINUATION = 9;

/** An attribute of a request: lists in lists (google.protobuf.Value). */
function nestedLists(depth: number): Buffer {
  const parts: Buffer[] = [];
  let length = 0;
  const around = (field: number) => {
    const sizes = [length & 127, (length >> 7) & 127, (length >> 14) & 127];
    const last = length < 1 << 7 ? 0 : length < 1 << 14 ? 1 : 2;
    const head = Buffer.from([field * 8 + 2, ...sizes.slice(0, last + 1).map((size, at) => (at < last ? size | 128 : size))]);
    parts.push(head);
    length += head.length;
  };
  for (let level = 0; level < depth; level++) for (const field of [1, 6]) around(field);
  // A Value of a Struct of the attributes.
  for (const field of [2, 1, 2, 9]) around(field);
  return Buffer.concat(parts.reverse());
}

describe("hostile and failing gateways", () => {
  let epp: EppWithClients;

  before(async () => {
    epp = await startEppWithClients("  limits: { bodyBytes: 100000, bodyTimeoutMs: 300, headTimeoutMs: 300 }");
  });
  after(() => epp.close());

  /** Everything was given back, and others are served. */
  async function isWell(): Promise<void> {
    await waitUntil(() => outstanding(epp.router).inFlight === 0 && epp.router.gate.memory.bodyBytes === 0);
    assert.equal(await health(epp.connected(), "readiness"), "SERVING");
  }

  for (const [name, bytes] of [
    ["HTTP/1.1", Buffer.from("GET / HTTP/1.1\r\nHost: a\r\n\r\n")],
    ["a TLS handshake", Buffer.from("16030100f4010000f00303", "hex")],
    ["noise", randomBytes(5000)],
  ] as const) {
    it(`ends a connection that begins with ${name}`, async () => {
      const client = epp.connected({ isBegun: false });
      client.socket.write(bytes);
      await waitUntil(() => client.isClosed);
      await isWell();
    });
  }

  it("ends a connection that says nothing", async () => {
    const client = epp.connected({ isBegun: false });
    await waitUntil(() => client.isClosed);
    assert.equal(client.goawayCode, undefined);
  });

  for (const [name, send] of [
    ["a frame that is too large", (client: GrpcClient) => client.frame(0, 0, 1, new Uint8Array(20_000))],
    ["data of a stream that has not begun", (client: GrpcClient) => client.frame(0, 0, 99, new Uint8Array(3))],
    ["a stream with an even number", (client: GrpcClient) => client.frame(HEADERS, 4, 2, Buffer.from([0x82]))],
    ["headers that can't be decoded", (client: GrpcClient) => client.frame(HEADERS, 4, 1, Buffer.from([0xff, 0xff, 0xff]))],
    ["settings of the wrong size", (client: GrpcClient) => client.frame(SETTINGS, 0, 0, new Uint8Array(5))],
    ["a window that grows by nothing", (client: GrpcClient) => client.frame(8, 0, 0, new Uint8Array(4))],
    [
      "headers without end",
      (client: GrpcClient) => {
        client.frame(HEADERS, 0, 1, Buffer.from([0x82]));
        for (let i = 0; i < 40; i++) client.frame(CONTINUATION, 0, 1, new Uint8Array(16_000));
      },
    ],
    [
      "headers in thousands of empty pieces",
      (client: GrpcClient) => {
        client.frame(HEADERS, 0, 1, Buffer.from([0x82]));
        for (let i = 0; i < 5_000; i++) client.frame(CONTINUATION, 0, 1);
      },
    ],
  ] as const) {
    it(`says why it ends a connection: ${name}`, async () => {
      const client = epp.connected();
      send(client);
      await waitUntil(() => client.isClosed);
      assert.ok((client.goawayCode ?? 0) > 0);
      await isWell();
    });
  }

  it("ends a connection whose headers do not end in time", async () => {
    const client = epp.connected();
    client.frame(HEADERS, 0, 1, Buffer.from([0x82]));
    await waitUntil(() => client.isClosed);
    await isWell();
  });

  it("a call that comes after the stop has begun is refused, and those under way go on", async () => {
    const own = await startTestEpp([epp.replica.url]);
    const client = epp.connected({}, own.port);
    const call = new GatewayCall(client, { body: CHAT });
    await call.ask();
    const drained = own.server.drain(5_000);
    const late = new GatewayCall(client, { body: CHAT });
    late.head();
    late.body();
    await waitUntil(() => late.call.resetCode === 7);
    assert.equal(outstanding(own.router).inFlight, 1);
    assert.equal(client.isClosed, false);
    call.call.reset();
    await drained;
    own.router.close();
  });

  it("ends a call of which the peer takes nothing, and gives it back", async () => {
    const own = await startTestEpp([epp.replica.url], { spec: "  limits: { writeTimeoutMs: 300 }" });
    const client = epp.connected({ streamWindow: 0 }, own.port);
    const call = new GatewayCall(client, { body: CHAT });
    call.head();
    call.body();
    await waitUntil(() => outstanding(own.router).inFlight === 1);
    await waitUntil(() => outstanding(own.router).inFlight === 0 && call.call.resetCode === 8);
    assert.equal(client.isClosed, false);
    client.close();
    await own.close();
  });

  it("thousands of windows in one go hold nobody up", async () => {
    const client = epp.connected();
    const calls = Array.from({ length: 300 }, () => new GatewayCall(client, { body: CHAT }));
    for (const call of calls) call.head();
    const windows = Buffer.alloc(6 * 2_000);
    for (let i = 0; i < 2_000; i++) {
      windows.writeUInt16BE(4, 6 * i);
      windows.writeUInt32BE(65_535 + (i % 2), 6 * i + 2);
    }
    client.frame(SETTINGS, 0, 0, windows);
    client.frame(6, 0, 0, new Uint8Array(8));
    await waitUntil(() => client.pongs === 1);
    client.socket.destroy();
    await isWell();
  });

  it("survives noise in frames and in messages", async () => {
    for (let round = 0; round < 200; round++) {
      const client = new GrpcClient(epp.port);
      const noise = randomBytes(1 + (round % 60));
      if (round % 2 === 0) client.frame(round % 11, noise[0]!, round % 5, noise);
      else {
        const call = client.call("/envoy.service.ext_proc.v3.ExternalProcessor/Process");
        call.send(noise);
        client.socket.end();
      }
      if (round % 20 === 0) await waitUntil(() => client.socket.readyState === "closed" || client.socket.bytesWritten > 0);
      setTimeout(() => client.close(), 50);
    }
    await isWell();
  });

  it("refuses bytes that are no message, and other methods", async () => {
    const client = epp.connected();
    const noMessages = [
      Buffer.from([0x12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
      // A length beyond the end, of headers and of a body.
      Buffer.from([0x12, 0x05, 0x01]),
      Buffer.from([0x22, 0x05, 0x0a, 0x40, 0x7b, 0x7d]),
    ];
    for (const bytes of noMessages) {
      const broken = client.call("/envoy.service.ext_proc.v3.ExternalProcessor/Process");
      broken.send(bytes);
      await waitUntil(() => broken.status === 3);
    }
    // As deep as one window of the connection takes.
    epp.connected().call("/envoy.service.ext_proc.v3.ExternalProcessor/Process").send(nestedLists(7_000));
    const compressed = client.call("/envoy.service.ext_proc.v3.ExternalProcessor/Process");
    compressed.sendData(Buffer.from([1, 0, 0, 0, 1, 0]));
    await waitUntil(() => compressed.status === 12);
    const unknown = client.call("/other.Service/Method");
    await waitUntil(() => unknown.status === 12);
    const early = new GatewayCall(client);
    early.say({ request_body: { body: Buffer.from("a"), end_of_stream: true } });
    await waitUntil(() => early.call.status === 3);
    await isWell();
  });

  it("answers 413 for a body, and for a message, that is larger than allowed", async () => {
    const body = JSON.stringify({ model: "m", messages: [{ role: "user", content: "x".repeat(100_000) }] });
    const asked = await new GatewayCall(epp.connected(), { body }).ask();
    assert.equal(asked.status, 413);
    const call = new GatewayCall(epp.connected(), { body: CHAT, headers: { "content-length": "10" } });
    call.head();
    call.call.sendData(Buffer.from([0, 0x7f, 0xff, 0xff, 0xff]));
    call.call.sendData(new Uint8Array(100));
    assert.equal((await call.next()).immediate_response?.status?.code, 413);
    await isWell();
  });

  it("answers 408 for a body that never ends", async () => {
    const call = new GatewayCall(epp.connected(), { body: CHAT });
    call.head();
    call.say({ request_body: { body: Buffer.from(CHAT.slice(0, 5)), end_of_stream: false } });
    assert.equal((await call.next()).immediate_response?.status?.code, 408);
    await isWell();
  });

  it("serves 500 streams of one connection at once, and gives everything back when it breaks", async () => {
    // One whose bodies have the usual time.
    const roomy = await startEppWithClients("");
    const client = roomy.connected();
    const calls = Array.from({ length: 500 }, () => new GatewayCall(client, { body: CHAT }));
    for (const call of calls) {
      call.head();
      call.body();
    }
    await waitUntil(() => calls.every((call) => call.waiting >= 2));
    assert.equal(outstanding(roomy.router).inFlight, 500);
    client.socket.destroy();
    await waitUntil(() => outstanding(roomy.router).inFlight === 0 && roomy.router.gate.memory.bodyBytes === 0);
    assert.equal(await health(roomy.connected(), "readiness"), "SERVING");
    await roomy.close();
  });

  it("keeps to the peer's windows, and goes on when they grow", async () => {
    const client = epp.connected({ streamWindow: 100 });
    const call = new GatewayCall(client, { body: CHAT });
    call.head();
    call.body();
    await waitUntil(() => outstanding(epp.router).inFlight === 1);
    assert.equal(call.waiting, 0);
    const more = Buffer.alloc(4);
    more.writeUInt32BE(100_000, 0);
    client.frame(8, 0, call.call.id, more);
    assert.notEqual((await call.next()).request_headers, undefined);
    call.call.reset();
    await isWell();
  });

  it("answers a ping", async () => {
    const client = epp.connected();
    client.frame(6, 0, 0, new Uint8Array(8));
    await waitUntil(() => client.pongs === 1);
  });
});
