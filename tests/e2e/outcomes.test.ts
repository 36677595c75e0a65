import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "../../core/contract/options.ts";
import type { Outcome } from "../../core/contract/outcome.ts";
import { defineObserver } from "../../core/contract/plugin.ts";
import { CHAT, postRequest, setUpFetch } from "../support/fetch-router.ts";
import { exchange } from "../support/raw-client.ts";
import { waitUntil } from "../support/router.ts";
import { chatBody, chatPost, setUp } from "../support/scripted-pool.ts";
import { chunkOf, jsonAnswer, LAST_CHUNK, type Script, STREAM_HEAD } from "../support/scripted-replica.ts";

const event = (delta: object, reason: string | null = null) =>
  chunkOf(`data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`);
const WORDS = ["Why", " it", " went", " there"];
const USAGE = { prompt_tokens: 9, completion_tokens: 7, prompt_tokens_details: { cached_tokens: 4 } };

/** A stream of four tokens that reports no usage. */
const silentStream: Script = (_request, socket) => {
  socket.write(STREAM_HEAD + event({ role: "assistant", content: "" }));
  for (const content of WORDS) socket.write(event({ content }));
  socket.write(`${event({}, "length")}${chunkOf("data: [DONE]\n\n")}${LAST_CHUNK}`);
};
const whole: Script = (_request, socket) => {
  const choices = [{ index: 0, message: { content: "a" }, finish_reason: "stop" }];
  socket.write(jsonAnswer(JSON.stringify({ choices, usage: USAGE })));
};

/** Who serves the same router: its own server, or an application through its fetch face. Returns the one outcome. */
const hosts: readonly (readonly [name: string, serve: (script: Script, extra: string) => Promise<Outcome>])[] = [
  [
    "the wire server",
    async (script, extra) => {
      const { seen, options } = recorder();
      const { router } = await setUp([script], options);
      await exchange(router.port, chatPost(extra));
      await waitUntil(() => seen.length > 0);
      return seen[0]!;
    },
  ],
  [
    "the fetch face",
    async (script, extra) => {
      const { seen, options } = recorder();
      const { router } = await setUpFetch(script, options);
      const response = await router.fetch(postRequest(CHAT, chatBody(extra)));
      await response.text();
      await waitUntil(() => seen.length > 0);
      return seen[0]!;
    },
  ],
];

function recorder() {
  const seen: Outcome[] = [];
  const plugin = defineObserver({
    type: "recorder",
    summary: "Keeps what models were asked.",
    options: z.strictObject({}),
    create: () => ({ finished: (outcome) => void (outcome.api !== "" && seen.push(outcome)) }),
  });
  return { seen, options: { plugins: [plugin], spec: "  plugins: [ { type: recorder } ]" } };
}

for (const [host, serve] of hosts) {
  describe(`an outcome of ${host}`, () => {
    it("says in which order things happened, and how fast the router was", async () => {
      const { times, overheadUs, durationMs, firstByteMs, expectedFirstByteMs, attempts } = await serve(whole, "");
      const { receivedMs, admittedMs, decidedMs, dispatchedMs, endMs } = times;
      const moments = [0, receivedMs, admittedMs, decidedMs, dispatchedMs, times.firstByteMs, endMs];
      assert.deepEqual(
        [...moments].sort((one, other) => one - other),
        moments,
      );
      assert.equal(endMs, durationMs);
      assert.ok(Math.abs(times.firstByteMs - receivedMs - firstByteMs) < 0.001);
      assert.ok(Math.abs(overheadUs / 1000 - (dispatchedMs - receivedMs)) < 0.001, "it did not wait for admission");
      assert.ok(overheadUs > 0);
      assert.equal(expectedFirstByteMs, Number.NaN, "the replica's speed is not known yet");
      const [attempt] = attempts;
      assert.ok(decidedMs <= attempt!.startedMs && attempt!.startedMs <= dispatchedMs);
      assert.ok(times.firstByteMs <= attempt!.endedMs && attempt!.endedMs <= endMs);
    });

    it("has the tokens that were reported", async () => {
      const { outputTokens, isOutputEstimated, finishReason } = await serve(whole, "");
      assert.deepEqual([outputTokens, isOutputEstimated, finishReason], [7, false, "stop"]);
    });

    it("has the tokens that were counted where none were reported", async () => {
      const { outputTokens, isOutputEstimated, finishReason, usage } = await serve(silentStream, ',"stream":true');
      assert.deepEqual([outputTokens, isOutputEstimated, finishReason, usage], [WORDS.length, true, "length", undefined]);
    });
  });
}
