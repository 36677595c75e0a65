/** A prompt's endpoint that fails, is slow or says nothing of a transfer: the answer's endpoint does all of it. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  askPair,
  assertAtRest,
  beginPair,
  bodiesOf,
  chatOf,
  DECODED,
  type PairPool,
  pairPool,
  prefilled,
  write,
} from "../support/pair-pool.ts";
import { outstanding, waitUntil } from "../support/router.ts";
import { chunkOf, jsonAnswer, type Script } from "../support/scripted-replica.ts";

/** Each replica's answer, and the cause that people see. */
const FAILURES: readonly (readonly [name: string, script: Script, cause: string])[] = [
  ["500", write(jsonAnswer("{}", "500 Internal Server Error")), "status 500"],
  ["400", write(jsonAnswer('{"error":{"message":"no"}}', "400 Bad Request")), "status 400"],
  ["404", write(jsonAnswer('{"detail":"Not Found"}', "404 Not Found")), "status 404"],
  ["429", write(jsonAnswer("{}", "429 Too Many Requests", "Retry-After: 1\r\n")), "status 429"],
  ["503", write(jsonAnswer("{}", "503 Service Unavailable")), "status 503"],
  ["a redirect", write(jsonAnswer("{}", "302 Found", "Location: http://elsewhere/\r\n")), "status 302"],
  ["no body", write("HTTP/1.1 204 No Content\r\n\r\n"), SAYS_NOTHING()],
  ["nothing of a transfer", write(prefilled("")), SAYS_NOTHING()],
  ["null", write(prefilled("null")), SAYS_NOTHING()],
  ["false", write(prefilled("false")), SAYS_NOTHING()],
  ["a list", write(prefilled("[1,2]")), SAYS_NOTHING()],
  ["a text", write(prefilled('"10.0.0.1"')), SAYS_NOTHING()],
  ["parameters twice", write(prefilled('{"a":1},"kv_transfer_params":{"b":2}')), SAYS_NOTHING()],
  ["broken JSON", write(jsonAnswer('{"kv_transfer_params":{"a":1}')), SAYS_NOTHING()],
  ["JSON that is deep", write(jsonAnswer(`{"kv_transfer_params":${'{"a":'.repeat(5_000)}1${"}".repeat(5_001)}`)), SAYS_NOTHING()],
  ["no JSON", write(jsonAnswer("<html>")), SAYS_NOTHING()],
  [
    "events in spite of all",
    write(`HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 8\r\n\r\ndata: 1\n`),
    SAYS_NOTHING(),
  ],
  ["no HTTP", write("SSH-2.0-OpenSSH_9.6\r\n"), "upstream_invalid"],
  ["a reset before a byte", (_request, socket) => socket.resetAndDestroy(), "upstream_reset"],
  ["half a response, then its end", (_request, socket) => void socket.end(prefilled().slice(0, -10)), "upstream_reset"],
  ["10 MB", write(jsonAnswer(`{"id":"${"x".repeat(10 * 1024 * 1024)}"}`)), "upstream_invalid"],
  [
    "a body without an end",
    (_request, socket) => {
      socket.write("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n");
      const chunk = chunkOf(" ".repeat(64 * 1024));
      const more = () => {
        while (!socket.destroyed && socket.write(chunk));
      };
      socket.on("drain", more);
      more();
    },
    "upstream_invalid",
  ],
];

function SAYS_NOTHING(): string {
  return "its response says nothing of a transfer";
}

/** The answer's endpoint has got the request once, as the client sent it. */
function assertAlone(pool: PairPool, cause: string, extra = ""): void {
  assert.deepEqual(bodiesOf(pool.decode[0]!), [chatOf(extra)]);
  const { paired, failed, causes } = pool.pairs();
  assert.deepEqual({ paired, failed, causes }, { paired: 0, failed: 1, causes: { [cause]: 1 } });
}

describe("the prompt's endpoint answers", () => {
  for (const [name, script, cause] of FAILURES) {
    it(name, async () => {
      const pool = await pairPool({ prefill: [script] });
      const { status, answer } = await askPair(pool);
      assert.equal(status, 200);
      assert.ok(answer.endsWith(DECODED.slice(DECODED.indexOf("\r\n\r\n"))));
      assertAlone(pool, cause);
      assert.equal(pool.prefill[0]!.requests.length, 1);
      await assertAtRest(pool);
    });
  }
});

describe("the prompt's endpoint", () => {
  it("refuses connections", async () => {
    const pool = await pairPool();
    await pool.prefill[0]!.refuse();
    for (const socket of pool.prefill[0]!.sockets) socket.destroy();
    assert.equal((await askPair(pool)).status, 200);
    assertAlone(pool, "upstream_unreachable");
    await assertAtRest(pool);
  });

  it("hangs: its time is over, its connection is closed", async () => {
    const pool = await pairPool({ prefill: [() => {}], pairs: "decider: always, prefillTimeoutMs: 100" });
    const { status } = await askPair(pool, ',"stream":true');
    assert.equal(status, 200);
    assertAlone(pool, "timeout", ',"stream":true');
    await waitUntil(() => pool.prefill[0]!.sockets.size <= 1);
    await assertAtRest(pool);
  });

  it("is waited for while the router itself stood still", async () => {
    const later: Script = (_request, socket) => {
      setTimeout(() => socket.write(prefilled()), 100);
      // In the next turn nothing runs for longer than the time of a prompt.
      setTimeout(() => {
        for (const fromMs = performance.now(); performance.now() - fromMs < 900; );
      }, 0);
    };
    const pool = await pairPool({ prefill: [later], pairs: "decider: always, prefillTimeoutMs: 600" });
    assert.equal((await askPair(pool)).status, 200);
    const { paired, failed } = pool.pairs();
    assert.deepEqual({ paired, failed }, { paired: 1, failed: 0 });
    await assertAtRest(pool);
  });

  it("stops in the middle of its response: the same", async () => {
    const pool = await pairPool({ prefill: [write(prefilled().slice(0, -10))], pairs: "decider: always, prefillTimeoutMs: 100" });
    assert.equal((await askPair(pool)).status, 200);
    assertAlone(pool, "timeout");
    await assertAtRest(pool);
  });

  it("reads nothing of a long body: the body's memory comes back", async () => {
    const pool = await pairPool({
      prefill: [() => {}],
      pairs: "decider: always, prefillTimeoutMs: 100",
    });
    const body = chatOf("", "x".repeat(8 * 1024 * 1024));
    for (const socket of pool.prefill[0]!.sockets) socket.pause();
    assert.equal((await askPair(pool, body)).status, 200);
    assert.equal(pool.decode[0]!.requests[0]!.body.length, body.length);
    await assertAtRest(pool);
  });

  it("has too much to do: the next one takes the prompt", async () => {
    const full = write(jsonAnswer("{}", "503 Service Unavailable"));
    const pool = await pairPool({ prefill: [full, write(prefilled())] });
    for (let n = 0; n < 2; n++) assert.equal((await askPair(pool)).status, 200);
    const { paired, failed } = pool.pairs();
    assert.deepEqual({ paired, failed }, { paired: 2, failed: 0 });
    assert.ok(bodiesOf(pool.decode[0]!).every((body) => body.startsWith('{"kv_transfer_params":{ "do_remote_prefill": true')));
    await assertAtRest(pool);
  });

  it("is reached by no connection: the next one takes the prompt", async () => {
    const pool = await pairPool({ prefill: [write(prefilled()), write(prefilled())] });
    await pool.prefill[0]!.refuse();
    for (const socket of pool.prefill[0]!.sockets) socket.destroy();
    for (let n = 0; n < 2; n++) assert.equal((await askPair(pool)).status, 200);
    assert.equal(pool.pairs().paired, 2);
    assert.equal(pool.prefill[1]!.requests.length, 2);
    await assertAtRest(pool);
  });

  it("ends its kept connection as the prompt comes: it gets it once more", async () => {
    const pool = await pairPool({
      prefill: [({ indexOnConnection }, socket) => void (indexOnConnection > 0 ? socket.end() : socket.write(prefilled()))],
    });
    for (let n = 0; n < 3; n++) assert.equal((await askPair(pool)).status, 200);
    assert.deepEqual({ ...pool.pairs() }.failed, 0);
    await assertAtRest(pool);
  });
});

describe("while the prompt is processed", () => {
  it("both endpoints have their part of the load, and nothing afterwards", async () => {
    const sockets: Parameters<Script>[1][] = [];
    const pool = await pairPool({ prefill: [(_request, socket) => void sockets.push(socket)] });
    const client = await beginPair(pool);
    await waitUntil(() => sockets.length === 1);
    const { load, facts } = pool.router.router.pool;
    const [prefill, decode] = ["p0", "d0"].map((name) => facts.endpoints.find((endpoint) => endpoint.name === name)!.slot);
    assert.deepEqual([load.inFlight[prefill!], load.inFlight[decode!]], [1, 1]);
    assert.ok(load.prefillTokens[prefill!]! > 100);
    assert.equal(load.prefillTokens[decode!], 0);
    assert.equal(outstanding(pool.router.router).inFlight, 2);
    sockets[0]!.write(prefilled());
    await client.until((received) => received.includes("decode-id"));
    client.destroy();
    await assertAtRest(pool);
  });
});
