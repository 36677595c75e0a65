import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { MockOptions } from "../../../../../apps/lab/mock/options.ts";
import { FakeClock } from "../../../../support/fake-clock.ts";
import { type MockPair, metricOf, postJson, withPair } from "../../../../support/mock-pair.ts";
import { freePort } from "../../../../support/prometheus.ts";
import { openClient, postBytes } from "../../../../support/raw-client.ts";
import { parseSse } from "../../../../support/sse-events.ts";

const PROMPT = "word ".repeat(201).trim();
const PATH = "/v1/chat/completions";
const ROOM = 2 ** 62 + 12_345;

const withRooms = (
  use: (pair: MockPair) => Promise<void>,
  prefill: Partial<MockOptions> = {},
  decode: Partial<MockOptions> = {},
) => withPair({ prefill: { transfer: "sglang", ...prefill }, decode: { transfer: "sglang", ...decode } }, use);

const bodyFor = ({ prefill }: MockPair, more: object = {}) => ({
  messages: [{ role: "user", content: PROMPT }],
  max_tokens: 4,
  bootstrap_host: "127.0.0.1",
  bootstrap_port: prefill.port,
  bootstrap_room: ROOM,
  ...more,
});

/** Both legs at once, as a router sends them. */
const bothLegs = (pair: MockPair, more: object = {}) =>
  Promise.all([pair.prefill, pair.decode].map(({ url }) => postJson(url + PATH, bodyFor(pair, more))));

interface Usage {
  readonly usage: { readonly completion_tokens: number; readonly prompt_tokens: number };
}

const usageIn = (text: string) => (JSON.parse(text) as Usage).usage;

describe("a pair with SGLang's rooms", () => {
  test("meets in the room: one token from prefill, the rest from decode, whose cache has the prompt", async () => {
    await withRooms(async (pair) => {
      const [prefill, decode] = await bothLegs(pair);
      assert.deepEqual([prefill?.status, decode?.status], [200, 200]);
      assert.equal(usageIn(prefill!.text).completion_tokens, 1);
      assert.equal(usageIn(decode!.text).completion_tokens, 4);
      const tokens = usageIn(decode!.text).prompt_tokens;
      assert.equal(await metricOf(pair.decode, "prompt_tokens_by_source_total", "external_kv_transfer"), tokens);
      assert.equal(pair.prefill.transfers.rooms.count, 0);
    });
  });

  test("streams on both legs, and uses another port for its rooms", async () => {
    const bootstrapPort = await freePort();
    await withRooms(
      async (pair) => {
        const answers = await bothLegs(pair, { bootstrap_port: bootstrapPort, stream: true });
        for (const { text } of answers) assert.equal(parseSse(text).at(-1)?.data, "[DONE]");
        const texts = answers.map(({ text }) => parseSse(text).filter(({ data }) => data.includes('"content":"')).length);
        assert.deepEqual(texts, [2, 5]);
        await pair.prefill.faults.set("refuse", true);
        assert.equal((await postJson(pair.decode.url + PATH, bodyFor(pair, { bootstrap_port: bootstrapPort }))).status, 500);
      },
      { bootstrapPort },
    );
  });

  test("each leg waits for the other, in either order", async () => {
    await withRooms(async (pair) => {
      for (const [first, second, room] of [
        [pair.decode, pair.prefill, 1],
        [pair.prefill, pair.decode, 2],
      ] as const) {
        const waiting = postJson(first.url + PATH, bodyFor(pair, { bootstrap_room: room }));
        await pair.prefill.seen.until(() => pair.prefill.transfers.rooms.count === 1);
        assert.equal((await postJson(second.url + PATH, bodyFor(pair, { bootstrap_room: room }))).status, 200);
        assert.equal((await waiting).status, 200);
      }
    });
  });

  test("refuses a request without a room, and a room that is none", async () => {
    await withRooms(async (pair) => {
      for (const { url } of [pair.prefill, pair.decode]) {
        const alone = await postJson(url + PATH, bodyFor(pair, { bootstrap_room: null }));
        assert.equal(alone.status, 400);
        assert.match(alone.text, /without bootstrap room id/);
        for (const room of ["1", 1.5, -1, 2 ** 63, [1]])
          assert.equal((await postJson(url + PATH, bodyFor(pair, { bootstrap_room: room }))).status, 400);
      }
      assert.equal((await postJson(pair.decode.url + PATH, bodyFor(pair, { bootstrap_host: null }))).status, 400);
      assert.equal((await postJson(pair.decode.url + PATH, bodyFor(pair, { bootstrap_port: 0 }))).status, 400);
    });
  });

  test("refuses a room that was used, a side that is taken, and another prompt", async () => {
    await withRooms(async (pair) => {
      await bothLegs(pair);
      for (const { status, text } of await bothLegs(pair)) {
        assert.equal(status, 400);
        assert.match(text, /used already/);
      }
      const waiting = postJson(pair.prefill.url + PATH, bodyFor(pair, { bootstrap_room: 5 }));
      await pair.prefill.seen.until(() => pair.prefill.transfers.rooms.count === 1);
      const taken = await postJson(pair.prefill.url + PATH, bodyFor(pair, { bootstrap_room: 5 }));
      assert.match(taken.text, /prefill side of room 5 is taken/);
      const different = await postJson(pair.decode.url + PATH, bodyFor(pair, { bootstrap_room: 5, cache_salt: "s" }));
      assert.equal(different.status, 400);
      assert.match(different.text, /different prompts/);
      assert.equal((await waiting).status, 500);
    });
  });

  test("ends with an error when nobody joins", async () => {
    const clock = new FakeClock();
    await withRooms(
      async (pair) => {
        for (const replica of [pair.prefill, pair.decode]) {
          const waiting = postJson(replica.url + PATH, bodyFor(pair, { bootstrap_room: replica.port }));
          await pair.prefill.seen.until(() => pair.prefill.transfers.rooms.count === 1);
          await clock.advance(60_000);
          const answer = await waiting;
          assert.equal(answer.status, 500);
          assert.match(answer.text, /Nobody joined/);
        }
        assert.equal(pair.decode.load.kvUsage, 0);
      },
      { clock, holdMs: 60_000 },
    );
  });

  test("fails when the prefill replica can't be reached, dies, or is left by its client", async () => {
    await withRooms(async (pair) => {
      await pair.prefill.faults.set("refuse", true);
      const gone = await postJson(pair.decode.url + PATH, bodyFor(pair));
      assert.equal(gone.status, 500);
      assert.match(gone.text, /Could not fetch prefill parallel info/);
      await pair.prefill.faults.clear();
      await pair.prefill.faults.set("dieAfterPrefill", 1, { times: 1 });
      const prefill = postJson(pair.prefill.url + PATH, bodyFor(pair, { bootstrap_room: 1 }));
      const decode = postJson(pair.decode.url + PATH, bodyFor(pair, { bootstrap_room: 1 }));
      await assert.rejects(prefill);
      assert.equal((await decode).status, 500);
    });
  });

  test("a leg whose client leaves fails the other", async () => {
    await withRooms(async (pair) => {
      for (const [leaves, stays, room] of [
        [pair.prefill, pair.decode, 1],
        [pair.decode, pair.prefill, 2],
      ] as const) {
        const client = await openClient(leaves.port);
        client.send(postBytes(PATH, JSON.stringify(bodyFor(pair, { bootstrap_room: room }))));
        await pair.prefill.seen.until(() => pair.prefill.transfers.rooms.count === 1);
        client.destroy();
        await pair.prefill.seen.until(() => pair.prefill.transfers.rooms.count === 0);
        assert.match((await postJson(stays.url + PATH, bodyFor(pair, { bootstrap_room: room }))).text, /used already/);
      }
      assert.equal(pair.decode.load.kvUsage, 0);
    });
  });

  test("decode refuses a transfer, and takes the time of a slow one", async () => {
    await withRooms(
      async (pair) => {
        await pair.decode.faults.set("refuseTransfer", 503, { times: 1 });
        const refused = await postJson(pair.decode.url + PATH, bodyFor(pair));
        assert.equal(refused.status, 503);
        const startedMs = performance.now();
        await bothLegs(pair, { bootstrap_room: 1 });
        assert.ok(performance.now() - startedMs >= 49);
      },
      {},
      { faults: { slowTransferMs: 50 } },
    );
  });
});
