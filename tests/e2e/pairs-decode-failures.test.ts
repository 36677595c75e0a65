/** The answer's endpoint fails: what is sent again, and that no transfer is fetched twice. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  answerDecode,
  answerPrompt,
  askPair,
  assertAtRest,
  beginPair,
  bodiesOf,
  chatOf,
  DECODED_STREAM,
  PARAMETERS,
  type PairPool,
  PROMPT,
  pairPool,
  prefilled,
  write,
} from "../support/pair-pool.ts";
import { waitUntil } from "../support/router.ts";
import { event, STREAM } from "../support/scripted-pool.ts";
import { chunkOf, jsonAnswer, LAST_CHUNK, type Script, STREAM_HEAD } from "../support/scripted-replica.ts";

/** The beginning of an answer, up to its first token. */
const FIRST_EVENT = `${STREAM_HEAD}${chunkOf(event(1))}`;

const isTransfer = (body: Buffer | string) => body.toString().includes('"do_remote_prefill": true');

/** Answers a transfer with `refusal`, and any other request. */
const refusing =
  (refusal: string): Script =>
  (request, socket) =>
    isTransfer(request.body) ? void socket.write(refusal) : answerDecode(request, socket);

const TRANSFER = `{"kv_transfer_params":${PARAMETERS},${chatOf().slice(1)}`;

/** Every promised transfer is asked for once at most. */
function assertOnce({ decode }: PairPool): void {
  const ids = decode.flatMap(bodiesOf).filter(isTransfer);
  assert.equal(new Set(ids).size, ids.length);
}

describe("a transfer that is refused", () => {
  for (const status of [
    "500 Internal Server Error",
    "400 Bad Request",
    "404 Not Found",
    "422 Unprocessable",
    "503 Service Unavailable",
    "429 Too Many Requests",
  ]) {
    it(`${status}: the same endpoint does all of the request`, async () => {
      const pool = await pairPool({ decode: [refusing(jsonAnswer('{"error":{"message":"no such transfer"}}', status))] });
      const { status: seen, answer } = await askPair(pool);
      assert.equal(seen, 200);
      assert.ok(answer.includes("decode-id"));
      assert.deepEqual(bodiesOf(pool.decode[0]!), [TRANSFER, chatOf()]);
      const { paired, failed, causes } = pool.pairs();
      assert.deepEqual({ paired, failed, causes }, { paired: 0, failed: 1, causes: { "the transfer failed": 1 } });
      assert.deepEqual(
        pool.router.log[0]!.attempts.map(({ endpoint, result }) => `${endpoint} ${result}`),
        [`d0 ${status.slice(0, 3)}`, "d0 200"],
      );
      await assertAtRest(pool);
    });
  }

  for (const code of [400, 500]) {
    it(`in the first event of a stream, with ${code}: the same`, async () => {
      const error = `data: {"error":{"message":"no such transfer","code":${code}}}\n\n`;
      const pool = await pairPool({
        decode: [refusing(`${STREAM_HEAD}${chunkOf(error)}${chunkOf("data: [DONE]\n\n")}${LAST_CHUNK}`)],
      });
      const { answer } = await askPair(pool, STREAM);
      assert.ok(answer.includes("decode-id") && !answer.includes("error"), answer);
      assert.equal(pool.decode[0]!.requests.length, 2);
      assert.equal(pool.pairs().causes["the transfer failed"], 1);
      await assertAtRest(pool);
    });
  }

  it("behind a stream's head: the client has not got the head", async () => {
    const sockets: Parameters<Script>[1][] = [];
    const hanging: Script = (request, socket) => {
      if (!isTransfer(request.body)) return answerDecode(request, socket);
      sockets.push(socket);
      socket.write(STREAM_HEAD);
    };
    const pool = await pairPool({ decode: [hanging] });
    const client = await beginPair(pool, STREAM);
    await waitUntil(() => sockets.length === 1);
    sockets[0]!.write(chunkOf('data: {"error":{"message":"no such transfer","code":500}}\n\n'));
    await client.until((received) => received.includes("[DONE]"));
    assert.ok(client.received.includes("decode-id") && !client.received.includes("error"));
    client.destroy();
    await assertAtRest(pool);
  });

  it("with no more than the transfer refused: what the endpoint says to all of the request is the client's", async () => {
    const pool = await pairPool({ decode: [write(jsonAnswer('{"error":{"message":"too long"}}', "400 Bad Request"))] });
    const { status, answer } = await askPair(pool);
    assert.equal(status, 400);
    assert.ok(answer.includes("too long"));
    assert.deepEqual(bodiesOf(pool.decode[0]!), [TRANSFER, chatOf()]);
    await assertAtRest(pool);
  });

  it("an endpoint that has too much to do: another one does all of it", async () => {
    const full = write(jsonAnswer("{}", "503 Service Unavailable"));
    const numbered: Script = ({ index }, socket) => void socket.write(prefilled(`{"do_remote_prefill": true,"n":${index}}`));
    const pool = await pairPool({ prefill: [numbered], decode: [full, answerDecode] });
    for (let n = 0; n < 4; n++) assert.equal((await askPair(pool)).status, 200);
    assertOnce(pool);
    await assertAtRest(pool);
  });
});

describe("the answer's endpoint", () => {
  it("resets before its first byte: an error, because it may have worked on the request", async () => {
    const pool = await pairPool({ decode: [(_request, socket) => socket.resetAndDestroy()] });
    const { status } = await askPair(pool);
    assert.equal(status, 502);
    assert.equal(pool.decode[0]!.requests.length, 1);
    await assertAtRest(pool);
  });

  it("ends its kept connection as the request comes: all of the request follows on a fresh one", async () => {
    const pool = await pairPool({
      decode: [(request, socket) => (request.indexOnConnection > 0 ? void socket.end() : answerDecode(request, socket))],
    });
    assert.equal((await askPair(pool)).status, 200);
    assert.equal((await askPair(pool)).status, 200);
    assert.deepEqual(bodiesOf(pool.decode[0]!), [TRANSFER, TRANSFER, chatOf()]);
    assert.equal(pool.pairs().causes["the transfer failed"], 1);
    await assertAtRest(pool);
  });

  it("is reached by no connection: another one gets the transfer, which nobody has seen", async () => {
    const pool = await pairPool({ decode: [answerDecode, answerDecode] });
    await pool.decode[0]!.refuse();
    for (const socket of pool.decode[0]!.sockets) socket.destroy();
    for (let n = 0; n < 2; n++) assert.equal((await askPair(pool)).status, 200);
    assert.deepEqual(bodiesOf(pool.decode[1]!), [TRANSFER, TRANSFER]);
    assert.equal(pool.pairs().paired, 2);
    await assertAtRest(pool);
  });

  it("fails again and again, and is the only one: it stays in use", async () => {
    let isBroken = true;
    const pool = await pairPool({
      prefill: [answerPrompt, answerPrompt],
      decode: [(request, socket) => (isBroken ? socket.resetAndDestroy() : answerDecode(request, socket))],
    });
    // Other prompts: the same one that fails everywhere is not the endpoint's fault.
    const ask = async (n: number) => (await askPair(pool, chatOf("", `${n} ${PROMPT}`))).status;
    for (let n = 0; n < 6; n++) assert.equal(await ask(n), 502);
    isBroken = false;
    assert.equal(await ask(7), 200);
    await assertAtRest(pool);
  });

  it("breaks off in the middle of its stream: the client sees that, and nothing is sent again", async () => {
    const pool = await pairPool({
      decode: [(_request, socket) => void socket.write(FIRST_EVENT, () => socket.destroy())],
    });
    const client = await beginPair(pool, STREAM);
    await client.until((received) => received.includes("error") || received.includes("upstream_reset"));
    assert.ok(!client.received.includes("[DONE]"));
    assert.equal(pool.decode[0]!.requests.length, 1);
    client.destroy();
    await assertAtRest(pool);
  });

  for (const head of ["", STREAM_HEAD])
    it(`${head === "" ? "" : "with a head already, "}gets nothing of a prompt whose endpoint is gone: it does all of the request before its own time is over`, async () => {
      const pool = await pairPool({
        decode: [(request, socket) => (isTransfer(request.body) ? void socket.write(head) : answerDecode(request, socket))],
      });
      const client = await beginPair(pool, STREAM);
      await waitUntil(() => pool.decode[0]!.requests.length === 1);
      const { router } = pool.router;
      const endpoint = router.pool.facts.endpoints.find(({ name }) => name === "p0")!;
      router.features.replicaGone(endpoint);
      await client.until((received) => received.includes("[DONE]"));
      assert.equal(bodiesOf(pool.decode[0]!)[1], chatOf(STREAM));
      const { failed, causes } = pool.pairs();
      client.destroy();
      assert.deepEqual({ failed, causes }, { failed: 1, causes: { "the transfer failed": 1 } });
      await assertAtRest(pool);
    });

  it("hears nothing of other endpoints that are gone, nor of one that is gone once its tokens come", async () => {
    const sockets: Parameters<Script>[1][] = [];
    const pool = await pairPool({ decode: [(_request, socket) => void sockets.push(socket)] });
    const client = await beginPair(pool, STREAM);
    await waitUntil(() => sockets.length === 1);
    const { router } = pool.router;
    const named = (name: string) => router.pool.facts.endpoints.find((endpoint) => endpoint.name === name)!;
    router.features.replicaGone({ ...named("p0"), generation: 99 });
    router.features.replicaGone({ ...named("p0"), slot: 99 });
    const at = FIRST_EVENT.length;
    sockets[0]!.write(DECODED_STREAM.slice(0, at));
    await client.until((received) => received.includes('"n":1'));
    router.features.replicaGone(named("p0"));
    sockets[0]!.write(DECODED_STREAM.slice(at));
    await client.until((received) => received.includes("[DONE]"));
    client.destroy();
    assert.equal(pool.decode[0]!.requests.length, 1);
    await assertAtRest(pool);
    assert.equal(pool.pairs().paired, 1);
  });
});

describe("a prompt's endpoint that dies after its response", () => {
  it("is noticed by its probes, and the answer's endpoint does all of the request", async () => {
    const pool = await pairPool({
      prefill: [write(prefilled())],
      decode: [(request, socket) => (isTransfer(request.body) ? undefined : answerDecode(request, socket))],
    });
    const client = await beginPair(pool);
    await waitUntil(() => pool.decode[0]!.requests.length === 1);
    await pool.prefill[0]!.refuse();
    for (const socket of pool.prefill[0]!.sockets) socket.destroy();
    await client.until((received) => received.includes("decode-id"));
    client.destroy();
    assert.equal(pool.pairs().failed, 1);
    await assertAtRest(pool);
  });
});
