import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { type EppWithClients, GatewayCall, health, startEppWithClients } from "../support/gateway.ts";
import type { GrpcClient } from "../support/grpc-client.ts";
import { outstanding, waitUntil } from "../support/router.ts";

const CHAT = JSON.stringify({ model: "m", messages: [{ role: "user", content: "Hello" }] });
const PROCESS = "/envoy.service.ext_proc.v3.ExternalProcessor/Process";
const TYPE = { data: 0, priority: 2, rstStream: 3, settings: 4, ping: 6, goaway: 7, windowUpdate: 8, unknown: 0xbe };
const ACK = 1;
const CALM = 11;
const PROTOCOL = 1;
const REFUSED = 7;
/** Of each kind: more than any connection may send that is not in use. */
const MANY = 20_000;
/** As many as one read may bring, and some more. */
const WHOLE_CALLS = 300;

describe("floods of gateways", () => {
  let epp: EppWithClients;

  before(async () => {
    epp = await startEppWithClients("");
  });
  after(() => epp.close());

  /** Everything was given back, and others are served. */
  async function isWell(): Promise<void> {
    await waitUntil(() => outstanding(epp.router).inFlight === 0 && epp.router.gate.memory.bodyBytes === 0);
    assert.equal(await health(epp.connected(), "readiness"), "SERVING");
  }

  const number = (value: number) => Buffer.from([value >>> 24, value >>> 16, value >>> 8, value]);
  const window = (bytes: number) => Buffer.concat([Buffer.from([0, 4]), number(bytes)]);

  for (const [name, send] of [
    ["PINGs", (client) => client.frame(TYPE.ping, 0, 0, new Uint8Array(8))],
    ["answers to PINGs", (client) => client.frame(TYPE.ping, ACK, 0, new Uint8Array(8))],
    ["SETTINGS", (client) => client.frame(TYPE.settings, 0, 0)],
    ["SETTINGS with another window each", (client, i) => client.frame(TYPE.settings, 0, 0, window(65_535 + (i % 2)))],
    ["answers to SETTINGS", (client) => client.frame(TYPE.settings, ACK, 0)],
    ["windows of the connection", (client) => client.frame(TYPE.windowUpdate, 0, 0, number(1))],
    ["windows of a stream", (client, _, call) => client.frame(TYPE.windowUpdate, 0, call, number(1))],
    ["priorities", (client, _, call) => client.frame(TYPE.priority, 0, call, new Uint8Array(5))],
    ["empty data", (client, _, call) => client.frame(TYPE.data, 0, call)],
    ["data that are padding", (client, _, call) => client.frame(TYPE.data, 8, call, Buffer.from([1, 0]))],
    ["frames of an unknown type", (client) => client.frame(TYPE.unknown, 0, 0)],
    ["good-byes", (client) => client.frame(TYPE.goaway, 0, 0, new Uint8Array(8))],
    ["resets of one stream", (client, _, call) => client.frame(TYPE.rstStream, 0, call, number(8))],
    ["streams that are reset at once", (client) => client.call(PROCESS).reset()],
    ["streams that are reset by a fault", (client) => client.frame(TYPE.windowUpdate, 0, client.call(PROCESS).id, number(0))],
    ["streams with headers that may not be", (client) => client.call(PROCESS, [["connection", "close"]])],
  ] as readonly (readonly [string, (client: GrpcClient, i: number, call: number) => void])[]) {
    it(`${name} end their connection, and nobody else's`, async () => {
      const other = new GatewayCall(epp.connected(), { body: CHAT });
      await other.ask();
      const client = epp.connected();
      const { id } = client.call(PROCESS);
      client.socket.cork();
      for (let i = 0; i < MANY; i++) send(client, i, id);
      client.socket.uncork();
      await waitUntil(() => client.isClosed);
      assert.equal(client.goawayCode, CALM);
      assert.equal(other.call.resetCode, undefined);
      other.call.reset();
      await isWell();
    });
  }

  it("whole calls that are reset have turns: what others ask comes in between", async () => {
    const [client, other] = [epp.connected(), epp.connected()];
    assert.equal(await health(other, "readiness"), "SERVING");
    assert.equal(await health(client, "readiness"), "SERVING");
    const before = epp.log.length;
    client.socket.cork();
    for (let i = 0; i < WHOLE_CALLS; i++) {
      const { call } = wholeCall(client);
      call.reset();
    }
    client.socket.uncork();
    assert.equal(await health(other, "readiness"), "SERVING");
    const done = epp.log.length - before;
    assert.ok(done < WHOLE_CALLS / 2, `${done} of ${WHOLE_CALLS} calls came before it`);
    await waitUntil(() => epp.log.length - before === WHOLE_CALLS);
    assert.equal(client.isClosed, false);
    await isWell();
  });

  it("a connection of which too many calls are given up lets the others end, and takes no more", async () => {
    const client = epp.connected();
    const call = new GatewayCall(client, { body: CHAT });
    await call.ask();
    for (let i = 0; i < 2_000 && client.goawayCode === undefined; i++) client.call(PROCESS).reset();
    const late = client.call(PROCESS);
    await waitUntil(() => late.resetCode === REFUSED);
    assert.equal(client.goawayCode, CALM);
    call.responseHead({ "content-type": "text/plain" });
    assert.notEqual((await call.next()).response_headers, undefined);
    call.call.reset();
    await waitUntil(() => client.isClosed);
    await isWell();
  });

  it("a new window costs the same with thousands of streams as with a few", async () => {
    const timed = async (streams: number) => {
      const client = epp.connected();
      for (let i = 0; i < streams; i++) client.call(PROCESS);
      client.frame(TYPE.ping, 0, 0, new Uint8Array(8));
      await waitUntil(() => client.pongs === 1);
      const frames = Array.from({ length: 4_000 }, (_, i) =>
        Buffer.concat([Buffer.from([0, 0, 6, 4, 0, 0, 0, 0, 0]), window(65_535 + i)]),
      );
      const from = performance.now();
      client.socket.write(Buffer.concat(frames));
      client.frame(TYPE.ping, 0, 0, new Uint8Array(8));
      await waitUntil(() => client.pongs === 2);
      const ms = performance.now() - from;
      client.close();
      await isWell();
      return ms;
    };
    await timed(10);
    const few = await timed(10);
    const many = await timed(8_000);
    assert.ok(many < 20 * few + 200, `${many} ms with many, ${few} ms with few`);
  });

  for (const [name, headers, bytes, isEnd] of [
    ["more data than it has said", [["content-length", "4"]], 5, false],
    ["less data than it has said", [["content-length", "6"]], 5, true],
    ["a header of a connection", [["transfer-encoding", "chunked"]], 0, false],
    ["an uppercase header", [["X-Ray", "1"]], 0, false],
    ["two methods", [[":method", "GET"]], 0, false],
  ] as const) {
    it(`a call with ${name} ends alone`, async () => {
      const client = epp.connected();
      const call = client.call(PROCESS, headers);
      if (bytes > 0) client.frame(TYPE.data, isEnd ? 1 : 0, call.id, new Uint8Array(bytes));
      await waitUntil(() => call.resetCode === PROTOCOL);
      assert.equal(await health(client, "readiness"), "SERVING");
      await isWell();
    });
  }

  for (const [name, send] of [
    ["a second beginning of a stream that has ended", (client) => reopened(client)],
    ["data of a stream that was reset", (client) => afterReset(client)],
    ["a number below those that have begun", (client) => client.frame(1, 5, 1, Buffer.from([0x83, 0x86, 0x84]))],
    ["a window of a stream with an even number", (client) => client.frame(TYPE.windowUpdate, 0, 2, number(1))],
    ["windows that together are too large", (client) => tooWide(client)],
  ] as readonly (readonly [string, (client: GrpcClient) => void])[]) {
    it(`ends a connection: ${name}`, async () => {
      const client = epp.connected();
      client.call("/none").end();
      client.call(PROCESS);
      send(client);
      await waitUntil(() => client.isClosed);
      assert.ok((client.goawayCode ?? 0) > 0);
      await isWell();
    });
  }

  function wholeCall(client: GrpcClient): GatewayCall {
    const whole = new GatewayCall(client, { body: CHAT });
    whole.head();
    whole.body();
    return whole;
  }
  function reopened(client: GrpcClient): void {
    client.frame(1, 5, 3, Buffer.from([0x83, 0x86, 0x84]));
    client.frame(1, 5, 3, Buffer.from([0x83, 0x86, 0x84]));
    client.frame(1, 5, 1, Buffer.from([0x83, 0x86, 0x84]));
  }
  function afterReset(client: GrpcClient): void {
    const call = client.call(PROCESS);
    call.reset();
    client.frame(TYPE.data, 0, call.id, new Uint8Array(3));
  }
  function tooWide(client: GrpcClient): void {
    const { id } = client.call(PROCESS);
    client.frame(TYPE.windowUpdate, 0, id, number(2 ** 31 - 1 - 2 ** 24));
    client.frame(TYPE.settings, 0, 0, window(2 ** 24 + 1));
  }

  it("data that were under way when a call ended are no fault", async () => {
    const client = epp.connected();
    const call = client.call("/none");
    await waitUntil(() => call.status !== undefined);
    client.frame(TYPE.data, 0, call.id, new Uint8Array(100));
    client.frame(TYPE.data, 1, call.id, new Uint8Array(100));
    assert.equal(await health(client, "readiness"), "SERVING");
  });
});
