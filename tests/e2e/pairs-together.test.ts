/** Pairs that meet (SGLang), and pairs that a side-car or nobody but the answer's endpoint makes. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  answerDecode,
  askPair,
  assertAtRest,
  beginPair,
  bodiesOf,
  chatOf,
  type PairPool,
  pairPool,
  prefilled,
  write,
} from "../support/pair-pool.ts";
import { waitUntil } from "../support/router.ts";
import { STREAM } from "../support/scripted-pool.ts";
import { jsonAnswer, type Script, STREAM_HEAD } from "../support/scripted-replica.ts";

type Socket = Parameters<Script>[1];

const SGLANG = "decider: never, transfer: sglang";
const REFUSED = jsonAnswer('{"error":{"message":"too long"}}', "400 Bad Request");
const BROKEN = jsonAnswer("{}", "500 Internal Server Error");

/** The room of each request that a replica has got. */
const roomsOf = (pool: PairPool, which: "prefill" | "decode") =>
  pool[which].flatMap(bodiesOf).map((body) => /"bootstrap_room":(\d+),/.exec(body)?.[1] ?? "");

/** Both have got the same rooms, each once. */
function assertRooms(pool: PairPool, count: number): void {
  const rooms = roomsOf(pool, "decode");
  assert.deepEqual(rooms.toSorted(), roomsOf(pool, "prefill").toSorted());
  assert.equal(new Set(rooms).size, count);
  assert.equal(rooms.length, count);
  assert.ok(rooms.every((room) => BigInt(room) < 2n ** 63n));
}

describe("sglang", () => {
  it("both get the request at once, with the same place and room to meet", async () => {
    const sockets: Socket[] = [];
    const pool = await pairPool({
      ...{ prefill: [(_request, socket) => void sockets.push(socket)], pairs: SGLANG },
      prefillLabels: ', signalbox/bootstrap-port: "9001"',
    });
    const body = chatOf(',"max_tokens":50,"seed":12345678901234567890,"stream":true,"bootstrap_room":null');
    const client = await beginPair(pool, ',"max_tokens":50,"seed":12345678901234567890,"stream":true,"bootstrap_room":null');
    // The prompt's endpoint has said nothing.
    await client.until((received) => received.includes("[DONE]"));
    const [room = ""] = [/"bootstrap_room":(\d+)}/.exec(bodiesOf(pool.decode[0]!)[0]!)?.[1]];
    const sent = `{"bootstrap_host":"127.0.0.1","bootstrap_port":9001,${body.slice(1).replace(/null}$/, `${room}}`)}`;
    assert.deepEqual([...bodiesOf(pool.prefill[0]!), ...bodiesOf(pool.decode[0]!)], [sent, sent]);
    client.destroy();
    await waitUntil(() => sockets.every((socket) => !pool.prefill[0]!.sockets.has(socket)));
    await assertAtRest(pool);
    assert.equal(pool.pairs().paired, 1);
  });

  it("rooms differ; the port is SGLang's own unless the label says one", async () => {
    for (const label of ["", ', signalbox/bootstrap-port: "http"', ', signalbox/bootstrap-port: "99999999"']) {
      const pool = await pairPool({ pairs: SGLANG, prefillLabels: label });
      for (let n = 0; n < 20; n++) assert.equal((await askPair(pool, n % 2 ? STREAM : "")).status, 200);
      await assertAtRest(pool);
      assertRooms(pool, 20);
      assert.ok(bodiesOf(pool.decode[0]!).every((body) => body.includes('"bootstrap_port":8998,')));
      assert.equal(pool.pairs().paired, 20);
    }
  });

  it("a prompt's response, however long, goes to nobody", async () => {
    const pool = await pairPool({ prefill: [write(jsonAnswer(`"${"x".repeat(10 * 1024 * 1024)}"`))], pairs: SGLANG });
    const { status, answer } = await askPair(pool);
    assert.equal(status, 200);
    assert.ok(!answer.includes("xxx"));
    await assertAtRest(pool);
  });

  const failing: readonly (readonly [name: string, script: Script])[] = [
    ["500", write(BROKEN)],
    ["503", write(jsonAnswer("{}", "503 Service Unavailable"))],
    ["a reset", (_request, socket) => socket.resetAndDestroy()],
  ];
  for (const [name, script] of failing) {
    it(`a prompt's endpoint that fails at once (${name}): a fresh pair, with another one`, async () => {
      // The answer's endpoint waits for the other one as long as nobody comes.
      const waiting: Script = (request, socket) => (request.index === 0 ? undefined : answerDecode(request, socket));
      const pool = await pairPool({ prefill: [script, write(prefilled())], decode: [waiting], pairs: SGLANG });
      assert.equal((await askPair(pool, STREAM)).status, 200);
      await assertAtRest(pool);
      assertRooms(pool, 2);
      assert.deepEqual(
        pool.prefill.map(({ requests }) => requests.length),
        [1, 1],
      );
    });
  }

  it("the same behind the head of the answer's stream", async () => {
    const sockets: Socket[] = [];
    const waiting: Script = (request, socket) =>
      request.index === 0 ? void socket.write(STREAM_HEAD) : answerDecode(request, socket);
    const failingLater: Script = (request, socket) =>
      request.index === 0 ? void sockets.push(socket) : void socket.write(prefilled());
    const pool = await pairPool({ prefill: [failingLater], decode: [waiting], pairs: SGLANG });
    const client = await beginPair(pool, STREAM);
    await waitUntil(() => sockets.length === 1 && pool.decode[0]!.requests.length === 1);
    sockets[0]!.write(BROKEN);
    await client.until((received) => received.includes("[DONE]"));
    client.destroy();
    assertRooms(pool, 2);
    await assertAtRest(pool);
  });

  it("a second pair that fails, too: an error at once, and no third one", async () => {
    const pool = await pairPool({ prefill: [write(BROKEN), write(BROKEN)], decode: [() => {}], pairs: SGLANG });
    const { status } = await askPair(pool);
    assert.equal(status, 502);
    assertRooms(pool, 2);
    await assertAtRest(pool);
  });

  it("a prompt's endpoint that nobody reaches: an error at once", async () => {
    const pool = await pairPool({ decode: [() => {}], pairs: SGLANG });
    await pool.prefill[0]!.refuse();
    for (const socket of pool.prefill[0]!.sockets) socket.destroy();
    assert.equal((await askPair(pool)).status, 502);
    await assertAtRest(pool);
  });

  it("a request that both refuse: the client gets the refusal, whoever is first", async () => {
    for (const isPromptFirst of [true, false]) {
      const sockets: Socket[] = [];
      const late: Script = (_request, socket) => void setTimeout(() => socket.write(REFUSED), 100);
      const pool = await pairPool({
        ...{ prefill: [isPromptFirst ? write(REFUSED) : late], decode: [isPromptFirst ? late : write(REFUSED)], pairs: SGLANG },
      });
      const { status, answer } = await askPair(pool);
      assert.equal(status, 400);
      assert.ok(answer.includes("too long"));
      assert.equal(sockets.length, 0);
      await assertAtRest(pool);
      const rooms = roomsOf(pool, "decode");
      assert.equal(new Set(rooms).size, rooms.length);
    }
  });

  it("an answer's endpoint that has too much to do: each further one gets a fresh room", async () => {
    const full = write(jsonAnswer("{}", "503 Service Unavailable"));
    const pool = await pairPool({ prefill: [write(prefilled())], decode: [full, full, full], pairs: SGLANG });
    await askPair(pool);
    await assertAtRest(pool);
    const rooms = roomsOf(pool, "decode");
    assert.ok(rooms.length > 2, `${rooms.length}`);
    assert.equal(new Set(rooms).size, rooms.length);
  });

  it("a long prompt that one endpoint does not read: its memory comes back when both have it", async () => {
    const pool = await pairPool({ decode: [() => {}], pairs: SGLANG });
    for (const socket of pool.decode[0]!.sockets) socket.pause();
    const client = await beginPair(pool, "", chatOf("", "x".repeat(8 * 1024 * 1024)));
    await waitUntil(() => pool.prefill[0]!.requests.length === 1);
    assert.ok(pool.router.router.gate.memory.bodyBytes > 8_000_000);
    client.destroy();
    await assertAtRest(pool);
  });
});

describe("side-car", () => {
  const SIDE_CAR = "decider: always, transfer: side-car";

  it("one request, with the prompt's endpoint in a header; its part of the load is booked, and given back", async () => {
    const sockets: Socket[] = [];
    const pool = await pairPool({ decode: [(_request, socket) => void sockets.push(socket)], pairs: SIDE_CAR });
    const client = await beginPair(pool);
    await waitUntil(() => sockets.length === 1);
    const { load, facts } = pool.router.router.pool;
    const slotOf = (name: string) => facts.endpoints.find((endpoint) => endpoint.name === name)!.slot;
    assert.ok(load.prefillTokens[slotOf("p0")]! > 100);
    assert.equal(load.prefillTokens[slotOf("d0")], 0);
    const [request] = pool.decode[0]!.requests;
    assert.equal(request!.headers.get("x-prefiller-host-port"), `127.0.0.1:${pool.prefill[0]!.port}`);
    assert.equal(request!.head.match(/x-prefiller-host-port/gi)?.length, 1);
    assert.equal(request!.body.toString(), chatOf());
    answerDecode(request!, sockets[0]!);
    await client.until((received) => received.includes("decode-id"));
    client.destroy();
    assert.equal(pool.prefill[0]!.requests.length, 0);
    await assertAtRest(pool);
    assert.equal(pool.pairs().paired, 1);
  });

  it("no pair, no header", async () => {
    const pool = await pairPool({ pairs: "decider: never, transfer: side-car" });
    assert.equal((await askPair(pool)).status, 200);
    assert.equal(pool.decode[0]!.requests[0]!.headers.has("x-prefiller-host-port"), false);
  });

  it("a side-car that fails: the same request without the header, once", async () => {
    for (const answer of [BROKEN, jsonAnswer("{}", "502 Bad Gateway"), jsonAnswer("{}", "503 Service Unavailable")]) {
      const pool = await pairPool({
        decode: [
          ({ headers, ...request }, socket) =>
            headers.has("x-prefiller-host-port") ? void socket.write(answer) : answerDecode({ headers, ...request }, socket),
        ],
        pairs: SIDE_CAR,
        spec: "",
      });
      assert.equal((await askPair(pool)).status, 200);
      assert.equal(pool.decode[0]!.requests.length, 2);
      assert.deepEqual(pool.pairs().causes, { "the transfer failed": 1 });
      await assertAtRest(pool);
      // The prompt's endpoint has not processed it.
      const { facts, prefixStats } = pool.router.router.pool;
      const holders = prefixStats!.slots.map(({ slot }) => facts.endpoints.find((endpoint) => endpoint.slot === slot)!.name);
      assert.deepEqual(holders, ["d0"]);
    }
  });

  it("an error to all of it teaches nothing of the prompt's endpoint", async () => {
    const pool = await pairPool({ decode: [write(BROKEN)], pairs: SIDE_CAR, spec: "" });
    assert.equal((await askPair(pool)).status, 500);
    await assertAtRest(pool);
    const { paired, failed } = pool.pairs();
    assert.deepEqual({ paired, failed }, { paired: 0, failed: 1 });
  });
});
