import assert from "node:assert/strict";
import { createServer, type Socket } from "node:net";
import { after, describe, it } from "node:test";
import type { MirrorEnding, MirrorRecord } from "../../core/contract/mirror.ts";
import { mirrorsOf } from "../support/features.ts";
import { type MirrorPool, RULE, startMirrorPool } from "../support/mirror-pool.ts";
import { exchange, isWholeAnswer, openClient, postBytes } from "../support/raw-client.ts";
import { loadTestConfig, outstanding, startTestRouter, waitUntil } from "../support/router.ts";
import { CHAT, chatBody, chatPost, event, STREAM, setUp } from "../support/scripted-pool.ts";
import { chunkOf, jsonAnswer, LAST_CHUNK, type Script, STREAM_HEAD, startScriptedReplica } from "../support/scripted-replica.ts";

const OK = jsonAnswer('{"object":"chat.completion","choices":[{"index":0}],"model":"v1"}');
const answerOk: Script = (_request, socket) => void socket.write(OK);
const streamed = `${STREAM_HEAD}${chunkOf(event(1))}${chunkOf(event(2))}${chunkOf("data: [DONE]\n\n")}${LAST_CHUNK}`;
const stream: Script = (_request, socket) => void socket.write(streamed);
const NAMED = "X-Request-Id: r1\r\n";
const hang: Script = () => {};

/** Writes events for ever, as fast as they are taken. */
const flood: Script = (_request, socket) => {
  const chunk = chunkOf("x".repeat(65_536));
  const write = () => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on("drain", write);
  socket.write(STREAM_HEAD);
  write();
};

/** What became of the copy of the pool's n-th request, once it has ended. */
async function recordOf({ outcomes }: Pick<MirrorPool, "outcomes">, n = 0): Promise<MirrorRecord> {
  await waitUntil(() => outcomes[n]?.mirrors?.[0] !== undefined);
  const record = outcomes[n]!.mirrors![0]!;
  await waitUntil(() => record.skipped !== "" || record.ending !== "");
  return record;
}

function assertNothingHeld({ router }: Pick<MirrorPool, "router">): void {
  assert.deepEqual(outstanding(router.router), { inFlight: 0, prefillTokens: 0 });
  assert.equal(router.router.gate.memory.bodyBytes, 0);
  assert.deepEqual(
    mirrorsOf(router.router).map(({ inFlight }) => inFlight),
    [0],
  );
}

describe("a mirror", () => {
  it("gets the request byte for byte but for the model, with an id of its own and a header that says what it is", async () => {
    const pool = await startMirrorPool(answerOk, answerOk);
    const body = `{"seed": 9007199254740993,  "model" : "m","messages":[{"role":"user","content":"caf\\u00e9 ☕"}] }`;
    await exchange(pool.router.port, postBytes(CHAT, body, "X-Request-Id: abc\r\nX-Own: 1\r\n"));
    await recordOf(pool);
    const [own, copy] = [pool.own.requests[0]!, pool.mirror.requests[0]!];
    assert.equal(own.body.toString(), body.replace('"m"', '"v1"'));
    assert.equal(copy.body.toString(), body.replace('"m"', '"v2"'));
    assert.equal(own.headers.get("x-request-id"), "abc");
    assert.equal(copy.headers.get("x-request-id"), "abc-mirror-1");
    assert.equal(own.headers.get("x-signalbox-mirror"), undefined);
    assert.equal(copy.headers.get("x-signalbox-mirror"), "1");
    assert.equal(copy.headers.get("x-own"), "1");
    const { endpoint, status, firstByteMs, ending, target, rule } = await recordOf(pool);
    assert.deepEqual(
      { endpoint, status, ending, target, rule },
      { endpoint: `127.0.0.1-${pool.mirror.port}`, status: 200, ending: "complete", target: "v2", rule: "food/0" },
    );
    assert.ok(firstByteMs >= 0);
    const [counts] = mirrorsOf(pool.router.router);
    assert.equal(counts?.compared, 1);
    assertNothingHeld(pool);
  });

  it("belongs to no trace of the client, whose spans it would double", async () => {
    const pool = await startMirrorPool(answerOk, answerOk);
    const trace = "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\ntracestate: a=b\r\n";
    await exchange(pool.router.port, postBytes(CHAT, chatBody(), trace));
    await recordOf(pool);
    const [own, copy] = [pool.own.requests[0]!, pool.mirror.requests[0]!];
    assert.deepEqual(
      ["traceparent", "tracestate"].map((name) => [own.headers.get(name) !== undefined, copy.headers.get(name) !== undefined]),
      [
        [true, false],
        [true, false],
      ],
    );
  });

  const bad: readonly {
    readonly name: string;
    readonly script: Script;
    readonly ending: MirrorEnding;
    readonly settings?: string;
  }[] = [
    { name: "says 500", script: (_r, socket) => void socket.write(jsonAnswer("{}", "500 Error")), ending: "complete" },
    { name: "resets", script: (_r, socket) => void socket.resetAndDestroy(), ending: "reset" },
    {
      name: "breaks off",
      script: (_r, socket) => void socket.write(STREAM_HEAD + chunkOf(event(1)), () => socket.destroy()),
      ending: "reset",
    },
    { name: "speaks no HTTP", script: (_r, socket) => void socket.write("hello\r\n\r\n"), ending: "invalid" },
    { name: "never answers", script: hang, ending: "time-limit", settings: ", timeoutSeconds: 1" },
    { name: "never stops", script: flood, ending: "too-large" },
  ];
  for (const { name, script, ending, settings } of bad) {
    it(`that ${name} changes nothing for the client`, async () => {
      const without = await startMirrorPool(stream, script, { settings: ", percent: 0.000001" });
      const pool = await startMirrorPool(stream, script, settings === undefined ? {} : { settings });
      const wanted = await exchange(without.router.port, chatPost(STREAM, NAMED));
      const got = await exchange(pool.router.port, chatPost(STREAM, NAMED));
      const ports = (text: string) => text.replaceAll(/127\.0\.0\.1-\d+/g, "replica");
      assert.equal(ports(got), ports(wanted));
      const record = await recordOf(pool);
      assert.equal(record.ending, ending);
      assert.ok(record.responseBytes < 17 * 1024 * 1024, `${record.responseBytes} bytes`);
      assertNothingHeld(pool);
    });
  }

  for (const [name, own, mirror] of [
    ["copies", answerOk, jsonAnswer("{}", "500 Error")],
    ["requests", jsonAnswer("{}", "500 Error"), OK],
  ] as const) {
    it(`leaves the first byte of failed ${name} out of the times that are compared`, async () => {
      const scriptOf = (answer: string | Script): Script =>
        typeof answer === "string" ? (_r, socket) => void socket.write(answer) : answer;
      const pool = await startMirrorPool(scriptOf(own), scriptOf(mirror));
      await exchange(pool.router.port, chatPost());
      assert.equal((await recordOf(pool)).ending, "complete");
      const [counts] = mirrorsOf(pool.router.router);
      assert.equal(counts?.compared, 0);
    });
  }

  it("that fails for every copy ejects nobody, and costs clients no retry", async () => {
    const both: Script = (request, socket) =>
      void socket.write(request.body.includes('"v2"') ? jsonAnswer("{}", "500 Error") : OK);
    const { router } = await setUp([both], {
      models: ["v1", "v2"],
      documents: RULE,
      spec: "  mirrors: [ { rule: food/0, target: v2, maxInFlight: 1024 } ]",
    });
    for (let n = 0; n < 30; n++) assert.match(await exchange(router.port, chatPost()), /^HTTP\/1\.1 200 /);
    await waitUntil(() => mirrorsOf(router.router)[0]?.results["5xx"] === 30);
    const [endpoint] = router.router.pool.facts.endpoints;
    assert.deepEqual([endpoint?.phase, router.router.control.judge.countOf(endpoint!)], ["ready", 0]);
    assert.ok(router.log.every(({ attempts }) => attempts.length === 1));
  });

  it("leaves the split exact", async () => {
    const { router } = await setUp([answerOk], {
      models: ["v1", "v2", "v3"],
      documents: RULE.replace(
        "{ modelRewrite: v1, weight: 1 }, { modelRewrite: v2, weight: 0 }",
        "{ modelRewrite: v1, weight: 90 }, { modelRewrite: v2, weight: 10 }, { modelRewrite: v3, weight: 0 }",
      ),
      spec: "  mirrors: [ { rule: food, target: v3, maxInFlight: 100 }, { rule: food, target: v2, maxInFlight: 100 } ]",
    });
    for (let n = 0; n < 20; n++) await exchange(router.port, chatPost());
    const targets = router.log.map(({ target }) => target);
    assert.deepEqual(
      [18, 2],
      ["v1", "v2"].map((name) => targets.filter((target) => target === name).length),
    );
    const [toV3, toV2] = mirrorsOf(router.router);
    assert.deepEqual([toV3?.sent, toV2?.sent, toV2?.skipped["same-target"]], [20, 18, 2]);
  });
});

describe("copies are bounded", () => {
  it("in number", async () => {
    const pool = await startMirrorPool(answerOk, hang, { settings: ", maxInFlight: 2" });
    for (let n = 0; n < 5; n++) await exchange(pool.router.port, chatPost());
    const [counts] = mirrorsOf(pool.router.router);
    assert.deepEqual([counts?.sent, counts?.inFlight, counts?.skipped["in-flight"]], [2, 2, 3]);
    assert.equal((await recordOf(pool, 4)).skipped, "in-flight");
  });

  it("to requests that may be repeated", async () => {
    const pool = await startMirrorPool(answerOk, answerOk);
    await exchange(pool.router.port, postBytes("/v1/responses", '{"model":"m","input":"hello"}'));
    assert.equal((await recordOf(pool)).skipped, "not-repeatable");
    assert.equal(pool.mirror.requests.length, 0);
  });

  it("to targets that a replica lists", async () => {
    const spec = "  mirrors: [ { rule: food, target: v2 } ]";
    const { router, replica } = await setUp([answerOk], { models: ["v1"], documents: RULE, spec });
    assert.match(await exchange(router.port, chatPost()), /^HTTP\/1\.1 200 /);
    assert.equal(mirrorsOf(router.router)[0]?.skipped["no-endpoint"], 1);
    assert.equal(replica.requests.length, 1);
  });

  it("to endpoints with connections to spare", async () => {
    const { router } = await setUp([hang], {
      models: ["v1", "v2"],
      documents: RULE,
      spec: "  limits: { upstreamConnections: 4 }\n  mirrors: [ { rule: food, target: v2 } ]",
    });
    for (let n = 0; n < 3; n++) {
      const client = await openClient(router.port);
      client.send(chatPost());
      await waitUntil(() => (router.router.pool.load.inFlight[0] ?? 0) > n);
    }
    await waitUntil(() => router.router.pool.load.inFlight[0] === 4);
    // The first request and its copy hold two, the second and third request one each.
    const [counts] = mirrorsOf(router.router);
    assert.deepEqual([counts?.sent, counts?.skipped["connections"]], [1, 2]);
  });
});

describe("copies end", () => {
  it("when the client leaves", async () => {
    const pool = await startMirrorPool(hang, hang);
    const client = await openClient(pool.router.port);
    client.send(chatPost());
    await waitUntil(() => pool.mirror.requests.length === 1);
    client.destroy();
    assert.equal((await recordOf(pool)).ending, "client-left");
    assertNothingHeld(pool);
  });

  it("not when the client's own response has ended", async () => {
    const pool = await startMirrorPool(answerOk, (_request, socket) => void setTimeout(() => socket.write(OK), 200));
    await exchange(pool.router.port, chatPost());
    const [record] = pool.outcomes[0]!.mirrors!;
    assert.equal(record?.ending, "");
    assert.equal((await recordOf(pool)).ending, "complete");
  });

  it("when the router is told to stop, which they don't delay", async () => {
    const pool = await startMirrorPool(answerOk, hang);
    await exchange(pool.router.port, chatPost());
    await waitUntil(() => pool.mirror.requests.length === 1);
    pool.router.router.announceStop();
    assert.equal((await recordOf(pool)).ending, "stopped");
    await pool.router.server.drain(60_000);
    assertNothingHeld(pool);
  });

  it("when the config is replaced; what was counted stays", async () => {
    const pool = await startMirrorPool(answerOk, hang);
    await exchange(pool.router.port, chatPost());
    const urls = [pool.own.url, pool.mirror.url];
    const spec = "  mirrors: [ { rule: food, target: v2, percent: 50 } ]";
    pool.router.router.replace(await loadTestConfig(urls, { documents: RULE, spec }));
    assert.equal((await recordOf(pool)).ending, "stopped");
    const [counts] = mirrorsOf(pool.router.router);
    assert.deepEqual([counts?.percent, counts?.sent, counts?.results["stopped"]], [50, 1, 1]);
    assert.equal(pool.router.router.olderConfigs, 0);
  });

  it("when their endpoint is drained", async () => {
    const pool = await startMirrorPool(answerOk, hang);
    await exchange(pool.router.port, chatPost());
    await waitUntil(() => pool.mirror.requests.length === 1);
    const name = `127.0.0.1-${pool.mirror.port}`;
    pool.router.router.control.intents.set(name, { intent: "drain", reason: "", forMs: undefined, graceMs: 0, by: "the test" });
    assert.equal((await recordOf(pool)).ending, "stopped");
  });
});

const MIB = 1024 * 1024;

/** A replica that stops reading inside the first request's body until it is told to go on. */
async function startSlowReader(): Promise<{ url: string; bodyLength(): number; resume(): void; text(): string }> {
  const chunks: Buffer[] = [];
  let held: Socket | undefined;
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", (chunk: Buffer) => {
      if (chunk.subarray(0, 4).toString() === "GET ") {
        const models = '{"object":"list","data":[{"id":"v2","object":"model","created":1,"owned_by":"test"}]}';
        socket.write(jsonAnswer(models));
        return;
      }
      if (held === undefined) {
        held = socket;
        socket.pause();
      }
      if (socket === held) chunks.push(chunk);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  after(() => {
    held?.destroy();
    server.close();
  });
  const address = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${address.port}`,
    bodyLength: () => chunks.reduce((sum, { length }) => sum + length, 0),
    resume: () => void held?.resume(),
    text: () => Buffer.concat(chunks).toString("latin1"),
  };
}

/** A router whose copies go to such a replica. */
async function withSlowReader(spec: string) {
  const own = await startScriptedReplica(answerOk, ["v1"]);
  const slow = await startSlowReader();
  const router = await startTestRouter([own.url, slow.url], { documents: RULE, spec });
  after(async () => {
    await router.close();
    await own.close();
  });
  return { router, slow };
}

describe("a copy whose replica reads slowly", () => {
  const bodyOf = (letter: string) => chatBody(`,"x":"${letter.repeat(12 * MIB)}"`);

  it("keeps the body as it was while later requests use the memory", { timeout: 60_000 }, async () => {
    const { router, slow } = await withSlowReader("  mirrors: [ { rule: food, target: v2, maxInFlight: 1 } ]");
    for (const letter of "abc") assert.match(await exchange(router.port, postBytes(CHAT, bodyOf(letter))), /^HTTP\/1\.1 200 /);
    assert.ok(router.router.gate.memory.bodyBytes >= 12 * MIB, "the copy holds the body");
    slow.resume();
    const wanted = bodyOf("a").replace('"model":"m"', '"model":"v2"');
    await waitUntil(
      () => slow.bodyLength() > wanted.length && slow.text().length >= slow.text().indexOf("\r\n\r\n") + 4 + wanted.length,
    );
    assert.ok(slow.text().slice(slow.text().indexOf("\r\n\r\n") + 4) === wanted, "the first body, unchanged");
  });

  it("gives the memory up when a client's body needs it", { timeout: 60_000 }, async () => {
    const { router } = await withSlowReader("  limits: { memoryBytes: 27262976 }\n  mirrors: [ { rule: food, target: v2 } ]");
    await exchange(router.port, postBytes(CHAT, bodyOf("a")));
    assert.equal(mirrorsOf(router.router)[0]?.inFlight, 1);
    const large = chatBody(`,"x":"${"b".repeat(15 * MIB)}"`);
    assert.match(await exchange(router.port, postBytes(CHAT, large)), /^HTTP\/1\.1 200 /);
    const [counts] = mirrorsOf(router.router);
    assert.equal(counts?.results["memory"], 1);
    assert.equal(counts?.skipped["memory"], 1);
    await waitUntil(() => router.router.gate.memory.bodyBytes === 0);
  });
});

it("a client's answer is whole while its copy is refused a connection", async () => {
  const pool = await startMirrorPool(answerOk, answerOk);
  await pool.mirror.refuse();
  for (const socket of pool.mirror.sockets) socket.destroy();
  const client = await openClient(pool.router.port);
  client.send(chatPost());
  assert.match(await client.until(isWholeAnswer), /^HTTP\/1\.1 200 /);
  const { ending, skipped } = await recordOf(pool);
  assert.ok(ending === "connect-failed" || skipped === "no-endpoint", `${ending} ${skipped}`);
  client.destroy();
});
