import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { type EppWithClients, GatewayCall, health, startEppWithClients } from "../support/gateway.ts";
import type { GrpcClient } from "../support/grpc-client.ts";
import { outstanding, waitUntil } from "../support/router.ts";

const chatOf = (content: string) => JSON.stringify({ model: "m", messages: [{ role: "user", content }] });
const CHAT = chatOf("Hello");
const LONG = chatOf("x".repeat(50_000));
const HEALTH = "/grpc.health.v1.Health/Check";
const RESET = { flowControl: 3, refused: 7, cancel: 8 };
const STATUS = { ok: 0, late: 4, tooMany: 8 };
const MEMORY = 4 * 1024 * 1024;
const MOST = 100;

/** Has an endpoint picker with these limits while the tests of a `describe` run. */
function boundedEpp(more = "") {
  let epp: EppWithClients;
  before(async () => {
    const limits = `${more}memoryBytes: ${MEMORY}, bodyBytes: 100000, clientConnections: ${MOST}`;
    epp = await startEppWithClients(`  limits: { ${limits} }`);
  });
  after(() => epp.close());

  /** Everything was given back, and others are served. */
  async function isWell(): Promise<void> {
    const { memory } = epp.router.gate;
    await waitUntil(() => outstanding(epp.router).inFlight === 0 && memory.bodyBytes === 0 && memory.unreadBytes === 0);
    const served = new GatewayCall(epp.connected(), { body: CHAT });
    assert.equal((await served.ask()).status, 0);
    served.call.reset();
    await waitUntil(() => outstanding(epp.router).inFlight === 0);
  }
  return { isWell, epp: () => epp };
}

/** Calls that have told of a whole request. */
function asked(client: GrpcClient, count: number, body = CHAT): readonly GatewayCall[] {
  const calls = Array.from({ length: count }, () => new GatewayCall(client, { body }));
  for (const call of calls) {
    call.head();
    call.body(16_000);
  }
  return calls;
}

describe("gateways that bring more than there is room for", () => {
  const { epp, isWell } = boundedEpp();

  it("bodies behind closed windows count as memory: more of them are refused", async () => {
    const client = epp().connected({ streamWindow: 0 });
    const before = epp().log.length;
    asked(client, 80, LONG);
    await waitUntil(() => outstanding(epp().router).inFlight + epp().log.length - before === 80);
    const { memory } = epp().router.gate;
    assert.ok(memory.bodyBytes + memory.unreadBytes <= MEMORY * (17 / 16), `${memory.bodyBytes} ${memory.unreadBytes}`);
    assert.ok(memory.unreadBytes > MEMORY / 3, "bodies that wait for their windows");
    assert.ok(
      epp()
        .log.slice(before)
        .every(({ status, error }) => status === 503 && error === "overloaded"),
    );
    client.close();
    await isWell();
  });

  it("responses behind closed windows take half of the memory; beyond that the calls with most of them end", async () => {
    const client = epp().connected({ streamWindow: 2_000 });
    const calls = asked(client, 80);
    await waitUntil(() => calls.every((call) => call.waiting === 2));
    for (const call of calls) {
      call.responseHead({ "content-type": "text/plain" });
      for (let piece = 0; piece < 6; piece++) call.responseBody("x".repeat(10_000), false);
    }
    const { memory } = epp().router.gate;
    await waitUntil(() => calls.some(({ call }) => call.resetCode === RESET.cancel));
    await waitUntil(() => memory.unreadBytes > MEMORY / 3 && memory.unreadBytes <= MEMORY / 2);
    assert.equal(client.isClosed, false);
    client.close();
    await isWell();
  });

  it("all connections together have a bound on requests, each has one on streams, and both are given back", async () => {
    const [one, two] = [epp().connected(), epp().connected()];
    const first = asked(one, MOST);
    await waitUntil(() => outstanding(epp().router).inFlight === MOST);
    const [beyond] = asked(one, 1);
    await waitUntil(() => beyond?.call.resetCode === RESET.refused);
    const [elsewhere] = asked(two, 1);
    await waitUntil(() => elsewhere?.call.status === STATUS.tooMany);
    assert.equal(await health(two, "liveness"), "SERVING");
    first[0]?.call.reset();
    await waitUntil(() => outstanding(epp().router).inFlight === MOST - 1);
    asked(two, 1);
    await waitUntil(() => outstanding(epp().router).inFlight === MOST);
    one.close();
    two.close();
    await isWell();
  });

  it("a stream that is closed by its gateway in the middle gives back what it had", async () => {
    const client = epp().connected();
    const [bare, half, whole] = [1, 2, 3].map(() => new GatewayCall(client, { body: CHAT }));
    bare!.call.end();
    half!.head();
    half!.call.end();
    whole!.head();
    whole!.body();
    whole!.call.end();
    await waitUntil(() => [bare, half, whole].every((each) => each?.call.status === STATUS.ok));
    await isWell();
  });

  it("a response that comes faster than the gateway takes it ends alone", async () => {
    const client = epp().connected({ streamWindow: 20_000 });
    const call = new GatewayCall(client, { body: CHAT });
    await call.ask();
    call.responseHead({ "content-type": "text/plain" });
    for (let piece = 0; piece < 200; piece++) call.responseBody("x".repeat(10_000), false);
    await waitUntil(() => call.call.resetCode === RESET.flowControl);
    assert.equal(client.isClosed, false);
    await isWell();
  });
});

describe("gateways that do not go on", () => {
  const { epp, isWell } = boundedEpp("bodyTimeoutMs: 300, ");

  it("requests that stop after their head end in time, however many there are", async () => {
    const client = epp().connected();
    const calls = Array.from({ length: MOST }, () => new GatewayCall(client, { body: CHAT }));
    for (const call of calls) call.head();
    const answers = await Promise.all(calls.map((call) => call.next()));
    assert.ok(answers.every(({ immediate_response }) => immediate_response?.status?.code === 408));
    await isWell();
  });

  it("streams that never say what they want end in time", async () => {
    const client = epp().connected();
    const checks = Array.from({ length: MOST }, () => client.call(HEALTH));
    await waitUntil(() => checks.every(({ status }) => status === STATUS.late));
    await isWell();
  });
});
