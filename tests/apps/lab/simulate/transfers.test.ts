import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ENGINE_TIMES } from "../../../../apps/lab/engine/engine-times.ts";
import { EventQueue } from "../../../../apps/lab/simulate/events.ts";
import { SOUND } from "../../../../apps/lab/simulate/faults.ts";
import type { Job } from "../../../../apps/lab/simulate/job.ts";
import { Transfers } from "../../../../apps/lab/simulate/transfers.ts";
import { Upstream } from "../../../../apps/lab/simulate/upstream.ts";
import type { ReplicaConnection } from "../../../../core/pool/connections.ts";
import type { Head } from "../../../../core/wire/head.ts";
import type { ResponseReader } from "../../../../core/wire/response-reader.ts";
import { makeTraced } from "./traces.ts";

/** A prompt token a millisecond; a transfer takes 5 ms, and a millisecond for ten tokens. */
const MODEL = {
  ...ENGINE_TIMES,
  prefillTokensPerS: 1_000,
  decodeStepMs: 10,
  decodePerRequestMs: 0,
  overheadMs: 0,
  blockTokens: 100,
  kvTokens: 1_000,
  transferMs: 5,
  transferTokensPerS: 10_000,
};
const REQUESTS = [makeTraced(0, [1, 2, 3], 3), makeTraced(0, [1, 2, 4], 3), makeTraced(0, [7, 8, 9], 3)];
const PREFILL = { do_remote_decode: true, do_remote_prefill: false };

/** What became of one request. */
class Asked implements ResponseReader {
  readonly isStream = true;
  readonly hasTokens = false;
  readonly statuses: number[] = [];
  text = "";
  endedMs = -1;
  readonly #queue: EventQueue;
  readonly connection: ReplicaConnection;

  constructor(queue: EventQueue, to: Upstream, index: number, params: object | undefined) {
    this.#queue = queue;
    this.connection = to.take();
    const body = JSON.stringify({ ...(params && { kv_transfer_params: params }), prompt: "AAAA" });
    this.connection.send("POST", `POST /v1/completions?${index} HTTP/1.1\r\n\r\n`, [Buffer.from(body)], this);
  }

  get params(): object {
    return (JSON.parse(this.text) as { kv_transfer_params: object }).kv_transfer_params;
  }

  head({ status }: Head): void {
    this.statuses.push(status);
  }

  body(chunk: Buffer): void {
    this.text += chunk.toString();
  }

  readDone(): void {}

  end(): void {
    this.endedMs = this.#queue.now();
  }

  failed(): void {}
}

/** Two replicas that a pair of requests is sent to. */
function makePair(decodeTokens = 1_000) {
  const queue = new EventQueue();
  const transfers = new Transfers(queue, MODEL);
  const first: (readonly [atMs: number, found: number])[] = [];
  const events = { firstToken: ({ foundTokens }: Job) => first.push([queue.now(), foundTokens]), decoded() {} };
  const common = {
    speed: 1,
    requests: REQUESTS,
    queue,
    transfers,
    events,
    cacheEvents: undefined,
    adapters: undefined,
    reportsCached: true,
  };
  const upstream = (name: string, kvTokens: number) => new Upstream({ ...common, name, model: { ...MODEL, kvTokens } });
  const ask = (to: Upstream, index: number, params?: object) => new Asked(queue, to, index, params);
  const runUntil = (atMs: number) => {
    let isDue = false;
    queue.at(atMs, () => {
      isDue = true;
    });
    while (!isDue) queue.runNext();
  };
  return { queue, prefill: upstream("p", 1_000), decode: upstream("d", decodeTokens), ask, runUntil, first };
}

describe("a pair of modelled replicas", () => {
  it("computes a prompt at one of them and the tokens at the other, where the prompt is cached then", () => {
    const { queue, prefill, decode, ask, runUntil, first } = makePair();
    const prompt = ask(prefill, 0, PREFILL);
    runUntil(400);
    assert.deepEqual([prompt.statuses, prompt.endedMs, prompt.connection.hasSentAll], [[200], 300, true]);
    assert.deepEqual([first, prefill.replica.cache.freeBlocks], [[], 7]);
    const answer = ask(decode, 0, prompt.params);
    runUntil(1_000);
    // 30 ms and 5 ms for the transfer, 1 ms for the last token, then two of 10 ms.
    assert.deepEqual([first, answer.statuses, answer.endedMs], [[[436, 0]], [200], 456]);
    assert.match(answer.text, /"cached_tokens":0/);
    assert.deepEqual([prefill.replica.cache.freeBlocks, decode.replica.cache.freeBlocks], [10, 10]);
    assert.equal(decode.replica.cachedTokens(REQUESTS[1]!.prompt), 200);
    // The next one finds what came, and fetches the rest alone.
    const next = ask(prefill, 1, PREFILL);
    runUntil(1_200);
    assert.match(next.text, /"cached_tokens":200/);
    ask(decode, 1, next.params);
    runUntil(1_300);
    assert.deepEqual(first[1], [1_200 + 10 + 5 + 1, 200]);
    assert.equal(queue.now(), 1_300);
  });

  it("carries one prompt at a time on each link", () => {
    const { prefill, decode, ask, runUntil, first } = makePair();
    const prompts = [ask(prefill, 0, PREFILL), ask(prefill, 2, PREFILL)];
    runUntil(1_000);
    for (const [at, prompt] of prompts.entries()) ask(decode, 2 * at, prompt.params);
    runUntil(2_000);
    assert.deepEqual(
      first.map(([atMs]) => atMs),
      [1_036, 1_066],
    );
  });

  it("lets the prompt wait at its source as long as there is no room for it", () => {
    const { prefill, decode, ask, runUntil, first } = makePair(400);
    const alone = ask(decode, 2);
    const prompt = ask(prefill, 0, PREFILL);
    runUntil(310);
    ask(decode, 0, prompt.params);
    runUntil(315);
    assert.deepEqual([alone.endedMs, prefill.replica.cache.freeBlocks], [-1, 7]);
    runUntil(1_000);
    assert.deepEqual([alone.endedMs, first[1]?.[0]], [320, 320 + 30 + 5 + 1]);
  });

  it("answers 500 some seconds later where nobody has what is named", () => {
    const { prefill, decode, ask, runUntil } = makePair();
    const prompt = ask(prefill, 0, PREFILL);
    runUntil(400);
    prefill.behave({ ...SOUND, isDown: true });
    const lost = ask(decode, 0, prompt.params);
    runUntil(10_000);
    assert.deepEqual([lost.statuses, lost.endedMs], [[500], 5_400]);
    // Nor a second time what was fetched.
    prefill.behave(SOUND);
    const again = ask(prefill, 1, PREFILL);
    runUntil(20_000);
    for (const status of [200, 500]) {
      const answer = ask(decode, 1, again.params);
      runUntil(status === 200 ? 30_000 : 40_000);
      assert.deepEqual(answer.statuses, [status]);
    }
  });

  it("answers 500 where the source is lost during the transfer, and has its blocks back", () => {
    const { prefill, decode, ask, runUntil } = makePair();
    const prompt = ask(prefill, 0, PREFILL);
    runUntil(400);
    const answer = ask(decode, 0, prompt.params);
    runUntil(410);
    prefill.behave({ ...SOUND, isDown: true });
    runUntil(1_000);
    assert.deepEqual([answer.statuses, decode.replica.size, decode.replica.cache.freeBlocks], [[500], 0, 10]);
  });

  it("gives up at the source what its client has left, and what nobody fetches after some minutes", () => {
    const { prefill, decode, ask, runUntil } = makePair();
    const fetched = ask(prefill, 0, PREFILL);
    const forgotten = ask(prefill, 2, PREFILL);
    runUntil(1_000);
    ask(decode, 0, fetched.params).connection.destroy();
    assert.deepEqual([prefill.replica.cache.freeBlocks, decode.replica.size], [7, 0]);
    runUntil(490_000);
    assert.equal(prefill.replica.cache.freeBlocks, 10);
    const late = ask(decode, 2, forgotten.params);
    runUntil(500_000);
    assert.deepEqual(late.statuses, [500]);
  });
});
