/** Clients of pairs that leave, stall or say what only the router may say; and reloads and drains in the middle. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  answerDecode,
  answerPrompt,
  askPair,
  assertAtRest,
  beginPair,
  chatOf,
  type PairPool,
  pairPool,
  prefilled,
} from "../support/pair-pool.ts";
import { exchange, openClient, postBytes, readAnswer } from "../support/raw-client.ts";
import { waitUntil } from "../support/router.ts";
import { CHAT, event, STREAM } from "../support/scripted-pool.ts";
import { chunkOf, type Script, type ScriptedReplica, STREAM_HEAD } from "../support/scripted-replica.ts";

/** A replica's connections that carry a request, and one more or none for probes. */
const isQuiet = ({ sockets }: ScriptedReplica, busy: readonly Parameters<Script>[1][]) =>
  busy.every((socket) => !sockets.has(socket));

/** Keeps its connections, and says nothing. */
function silent() {
  const sockets: Parameters<Script>[1][] = [];
  const script: Script = (_request, socket) => void sockets.push(socket);
  return { sockets, script };
}

async function assertLeft(pool: PairPool, busy: readonly Parameters<Script>[1][]): Promise<void> {
  await waitUntil(() => [...pool.prefill, ...pool.decode].every((replica) => isQuiet(replica, busy)));
  await assertAtRest(pool);
  assert.equal(pool.router.log.at(-1)!.ending, "client-left");
  const { paired, failed } = pool.pairs();
  assert.deepEqual({ paired, failed }, { paired: 0, failed: 0 });
}

describe("a client leaves", () => {
  for (const transfer of ["nixl", "sglang"]) {
    it(`${transfer}: while its prompt is processed`, async () => {
      const [prompt, answer] = [silent(), silent()];
      const pool = await pairPool({
        ...{ prefill: [prompt.script], decode: [answer.script], pairs: `decider: always, transfer: ${transfer}` },
      });
      const client = await beginPair(pool);
      await waitUntil(() => prompt.sockets.length === 1 && (transfer === "nixl" || answer.sockets.length === 1));
      client.destroy();
      await assertLeft(pool, [...prompt.sockets, ...answer.sockets]);
      assert.equal(pool.decode[0]!.requests.length, transfer === "nixl" ? 0 : 1);
    });
  }

  it("while its long prompt is being sent: the body's memory comes back", async () => {
    const pool = await pairPool({ prefill: [() => {}] });
    for (const socket of pool.prefill[0]!.sockets) socket.pause();
    const client = await openClient(pool.router.port);
    client.send(postBytes(CHAT, chatOf("", "x".repeat(8 * 1024 * 1024))));
    await waitUntil(() => pool.router.router.pool.load.inFlight.some((count) => count > 0));
    client.destroy();
    await assertAtRest(pool);
  });

  it("between the legs: nothing comes behind", async () => {
    const answer = silent();
    const pool = await pairPool({ decode: [answer.script] });
    const client = await beginPair(pool);
    await waitUntil(() => answer.sockets.length === 1);
    client.destroy();
    await assertLeft(pool, answer.sockets);
    assert.equal(pool.decode[0]!.requests.length, 1);
  });

  it("in the middle of its stream", async () => {
    const sockets: Parameters<Script>[1][] = [];
    const begin: Script = (_request, socket) => {
      sockets.push(socket);
      socket.write(STREAM_HEAD + chunkOf(event(1)));
    };
    const pool = await pairPool({ decode: [begin] });
    const client = await beginPair(pool, STREAM);
    await client.until((received) => received.includes('"n":1'));
    client.destroy();
    await waitUntil(() => isQuiet(pool.decode[0]!, sockets));
    await assertAtRest(pool);
    assert.equal(pool.pairs().paired, 1);
  });

  it("a hundred, at any time", async () => {
    const late: Script = (_request, socket) => void setImmediate(() => socket.write(prefilled()));
    const pool = await pairPool({ prefill: [late, late], decode: [answerDecode, answerDecode], spec: "" });
    for (let n = 0; n < 100; n++) {
      const client = await beginPair(pool, n % 2 ? STREAM : "");
      for (let turn = 0; turn < n % 10; turn++) await new Promise(setImmediate);
      client.destroy();
    }
    await assertAtRest(pool);
    assert.equal((await askPair(pool)).status, 200);
  });
});

describe("a client that reads nothing", () => {
  it("holds its answer's endpoint back, and gets all of it later", async () => {
    const events = 2_000;
    const long: Script = (_request, socket) => {
      socket.write(STREAM_HEAD);
      for (let n = 0; n < events; n++) socket.write(chunkOf(event(n).replace('"n"', `"pad":"${"x".repeat(4_000)}","n"`)));
      socket.write(`${chunkOf("data: [DONE]\n\n")}0\r\n\r\n`);
    };
    const pool = await pairPool({ decode: [long] });
    const client = await beginPair(pool, STREAM);
    client.socket.pause();
    await waitUntil(() => pool.router.router.gate.memory.unreadBytes > 0);
    assert.ok(pool.router.router.gate.memory.unreadBytes < 4 * 1024 * 1024);
    client.socket.resume();
    await client.until((received) => received.includes("[DONE]"));
    assert.equal(client.received.split('"pad"').length - 1, events);
    client.destroy();
    await assertAtRest(pool);
    assert.equal(pool.pairs().paired, 1);
  });
});

describe("what no client may say", () => {
  const rows: readonly (readonly [transfer: string, body: string, lines: string, named: string])[] = [
    ["nixl", ',"kv_transfer_params":{"remote_host":"evil"}', "", "kv_transfer_params"],
    ["nixl", ',"kv\\u005ftransfer_params":{"remote_host":"evil"}', "", "kv_transfer_params"],
    ["nixl", ',"kv_transfer_params":5', "", "kv_transfer_params"],
    [
      "nixl",
      ',"sampling_params":{"extra_args":{"kv_transfer_params":{"remote_host":"evil"}}}',
      "",
      "sampling_params.extra_args.kv_transfer_params",
    ],
    ["nixl", "", "X-Prefiller-Host-Port: evil:1\r\n", "x-prefiller-host-port"],
    ["side-car", "", "X-Prefiller-Host-Port: evil:1\r\n", "x-prefiller-host-port"],
    ["sglang", "", "X-PREFILLER-HOST-PORT:\r\n", "x-prefiller-host-port"],
    ["sglang", ',"bootstrap_host":"evil"', "", "bootstrap_host"],
    ["sglang", ',"bootstrap_port":1', "", "bootstrap_port"],
    ["sglang", ',"bootstrap_room":[1,2]', "", "bootstrap_room"],
  ];
  for (const [transfer, extra, lines, named] of rows) {
    it(`${transfer}: ${lines.trim() || extra}`, async () => {
      // Also where no pair would be made.
      for (const decider of ["always", "never"]) {
        const pool = await pairPool({ pairs: `decider: ${decider}, transfer: ${transfer}` });
        const { status, json } = await askPair(pool, extra, CHAT, lines);
        const { code, message } = json["error"] as { code: string; message: string };
        assert.deepEqual([status, code], [400, "invalid_value"]);
        assert.match(message, new RegExp(`Leave out .?${named}.?:`));
        assert.deepEqual(
          [...pool.prefill, ...pool.decode].map(({ requests }) => requests.length),
          [0, 0],
        );
        await assertAtRest(pool);
      }
    });
  }

  it("null says nothing", async () => {
    const pool = await pairPool();
    assert.equal((await askPair(pool, ',"kv_transfer_params":null')).status, 200);
  });

  it("requests that no pair serves may have no such key, either", async () => {
    const pool = await pairPool();
    const rest = '"kv_transfer_params":{"remote_host":"evil"}}';
    for (const path of ["/v1/embeddings", "/v1/chat/completions/batch", "/tokenize"])
      assert.equal((await askPair(pool, `{"model":"m","input":"hello",${rest}`, path)).status, 400, path);
    assert.equal(pool.decode[0]!.requests.length, 0);
  });

  it("forms have no such key", async () => {
    const pool = await pairPool();
    const fields = ['model"\r\n\r\nm', 'file"; filename="a.wav"\r\n\r\nRIFF'];
    const parts = fields.map((field) => `--cut\r\nContent-Disposition: form-data; name="${field}\r\n`);
    const body = `${parts.join("")}--cut--\r\n`;
    const head = `POST /v1/audio/transcriptions HTTP/1.1\r\nHost: test\r\nContent-Type: multipart/form-data; boundary=cut\r\nContent-Length: ${body.length}\r\n\r\n`;
    assert.equal(readAnswer(await exchange(pool.router.port, head + body)).status, 200);
  });
});

describe("requests that no pair can serve go to the answer's endpoint whole", () => {
  const rows: readonly (readonly [name: string, path: string, body: string])[] = [
    ["several choices", CHAT, chatOf(',"n":2')],
    ["a list of prompts", "/v1/completions", '{"model":"m","prompt":["a","b"]}'],
    ["a list of lists of tokens", "/v1/completions", '{"model":"m","prompt":[ [1,2],[3]]}'],
    ["embeddings", "/v1/embeddings", '{"model":"m","input":"hello"}'],
  ];
  for (const [name, path, body] of rows) {
    it(name, async () => {
      const pool = await pairPool();
      await askPair(pool, body, path);
      assert.equal(pool.prefill[0]!.requests.length, 0);
      assert.equal(pool.decode[0]!.requests[0]!.body.toString(), body);
      const { unpairable, failed } = pool.pairs();
      assert.deepEqual({ unpairable, failed }, { unpairable: 1, failed: 0 });
    });
  }

  it("a list of tokens is one prompt", async () => {
    const pool = await pairPool();
    await askPair(pool, `{"model":"m","prompt":[${"1,".repeat(50)}2]}`, "/v1/completions");
    assert.equal(pool.pairs().paired, 1);
  });

  it("an endpoint without a role", async () => {
    const pool = await pairPool({ whole: [answerDecode] });
    for (let n = 0; n < 4; n++) assert.equal((await askPair(pool)).status, 200);
    const { paired, unpairable } = pool.pairs();
    assert.deepEqual({ paired, unpairable }, { paired: 2, unpairable: 2 });
    assert.ok(pool.whole[0]!.requests.every(({ body }) => body.toString() === chatOf()));
  });
});

describe("a stop in the middle", () => {
  it("lets a pair end that is under way", async () => {
    const prompt = silent();
    const pool = await pairPool({ prefill: [prompt.script] });
    const client = await beginPair(pool, STREAM);
    await waitUntil(() => prompt.sockets.length === 1);
    const drained = pool.router.server.drain(20_000);
    prompt.sockets[0]!.write(prefilled());
    await client.until((received) => received.includes("[DONE]"));
    await drained;
    client.destroy();
    await assertAtRest(pool);
    assert.equal(pool.pairs().paired, 1);
  });

  it("ends both legs when its time is over", async () => {
    const [prompt, answer] = [silent(), silent()];
    const pool = await pairPool({
      ...{ prefill: [prompt.script], decode: [answer.script], pairs: "decider: always, transfer: sglang" },
    });
    const client = await beginPair(pool);
    await waitUntil(() => prompt.sockets.length + answer.sockets.length === 2);
    await pool.router.server.drain(0);
    await waitUntil(() => isQuiet(pool.prefill[0]!, prompt.sockets) && isQuiet(pool.decode[0]!, answer.sockets));
    client.destroy();
    await assertAtRest(pool);
  });
});

it("prompts' endpoints get no whole requests, whatever the answers' endpoints are", async () => {
  const pool = await pairPool({ prefill: [answerPrompt, answerPrompt], pairs: "decider: never" });
  for (let n = 0; n < 4; n++) assert.equal((await askPair(pool)).status, 200);
  assert.deepEqual(
    pool.prefill.map(({ requests }) => requests.length),
    [0, 0],
  );
  assert.equal(pool.pairs().alone, 4);
});
