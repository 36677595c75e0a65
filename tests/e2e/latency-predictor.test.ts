import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { Endpoint } from "../../core/contract/endpoint.ts";
import { z } from "../../core/contract/options.ts";
import { defineScorer } from "../../core/contract/plugin.ts";
import type { InferenceRequest } from "../../core/contract/request.ts";
import type { TryResult } from "../../core/contract/try-result.ts";
import { askFor, startTestAdmin } from "../support/admin.ts";
import { exchange } from "../support/raw-client.ts";
import { type TestRouter, waitUntil } from "../support/router.ts";
import { answerOk, assertIdle, chatPost, STREAM, setUp } from "../support/scripted-pool.ts";
import { chunkOf, LAST_CHUNK, type Script, STREAM_HEAD } from "../support/scripted-replica.ts";

const USAGE = { prompt_tokens: 2, completion_tokens: 4 };
/** A stream of four tokens. */
const stream: Script = (_request, socket) => {
  socket.write(STREAM_HEAD + chunkOf('data: {"choices":[{"delta":{"content":"a"}}]}\n\n'));
  setTimeout(() => socket.write(chunkOf(`data: ${JSON.stringify({ usage: USAGE })}\n\ndata: [DONE]\n\n`) + LAST_CHUNK), 20);
};
const reset: Script = (_request, socket) => void socket.destroy();

const SPEC = "  plugins: [ { type: latency-predictor, parameters: { models: { m: { tpotMs: 60000 } } } } ]";

async function adminPortOf({ router }: TestRouter): Promise<number> {
  const admin = await startTestAdmin(router);
  after(() => admin.close());
  return admin.port;
}

describe("the latency predictor in a router", () => {
  it("learns from streams, and shows what it expected and whether targets were met", async () => {
    const { router } = await setUp([stream], { spec: SPEC });
    const ask = () => exchange(router.port, chatPost(STREAM, "x-llm-d-slo-ttft-ms: 30000\r\n"));
    await ask();
    await assertIdle(router);
    await ask();
    await assertIdle(router);
    const port = await adminPortOf(router);
    const page = (await askFor(port, "/metrics")).body;
    assert.match(page, /^signalbox_tpot_estimates_total\{endpoint="\S+"\} 1$/m, "nothing was expected of the first");
    assert.match(page, /^signalbox_tpot_error_ratio_total\{endpoint="\S+",sign="(late|early)"\} [\d.e-]+$/m);
    assert.match(page, /^signalbox_latency_targets_total\{endpoint="\S+",target="ttft",met="true"\} 2$/m);
    assert.match(page, /^signalbox_latency_targets_total\{endpoint="\S+",target="tpot",met="true"\} 2$/m);
    assert.match((await askFor(port, "/decisions")).body, /"tokenMs":\s*\d/);
  });

  it("refuses a target that is no number, before anything is sent", async () => {
    const { router, replica } = await setUp([answerOk], { spec: SPEC });
    const response = await exchange(router.port, chatPost("", "x-slo-ttft-ms: soon\r\n"));
    assert.match(response, /^HTTP\/1.1 400 /);
    assert.match(response, /"code":"invalid_value"/);
    assert.match(response, /x-llm-d-slo-ttft-ms \(or x-slo-ttft-ms\) must be a number of milliseconds/);
    assert.equal(replica.requests.length, 0);
  });
});

describe("a plugin that wants to know how tries ended", () => {
  /** Records what it is told; throws where that must change nothing. */
  function recorder(faulty = false) {
    const told: (readonly [what: string, endpoint: string, result?: TryResult])[] = [];
    const plugin = defineScorer({
      type: "recorder",
      summary: "Keeps what it is told.",
      options: z.strictObject({}),
      create: () => ({
        score: () => null,
        chosen: (_request: InferenceRequest, { slot, name }: Endpoint, load) => {
          told.push([`chosen with ${load.inFlight(slot)} in flight`, name]);
        },
        ended: (_request: InferenceRequest, { name }: Endpoint, result) => {
          told.push(["ended", name, result]);
          if (faulty) throw new Error("broken");
        },
        estimator: {
          firstTokenMs: () => (faulty ? fail() : 12),
          tokenMs: () => 3,
          targets: () => ({ firstTokenMs: 1, tokenMs: 1 }),
        },
      }),
    });
    return { told, options: { plugins: [plugin], spec: "  plugins: [ { type: recorder } ]" } };
  }

  function fail(): never {
    throw new Error("broken");
  }

  it("is told of each, with its times, and of the load before it", async () => {
    const { told, options } = recorder();
    const { router } = await setUp([stream], options);
    await exchange(router.port, chatPost(STREAM));
    await waitUntil(() => told.length === 2);
    const [[chosen], [, , result]] = told as [(typeof told)[0], (typeof told)[0]];
    assert.equal(chosen, "chosen with 0 in flight");
    const { status, isComplete, firstTokenMs, endMs, outputTokens } = result!;
    assert.deepEqual({ status, isComplete, outputTokens }, { status: 200, isComplete: true, outputTokens: 4 });
    assert.ok(firstTokenMs > 0 && endMs >= firstTokenMs, JSON.stringify(result));
  });

  it("is told of a failed one too", async () => {
    const { told, options } = recorder();
    const { router } = await setUp([reset], options);
    await exchange(router.port, chatPost(STREAM));
    await waitUntil(() => told.length === 2);
    const { status, isComplete, firstTokenMs } = told[1]![2]!;
    assert.deepEqual({ status, isComplete, firstTokenMs }, { status: 0, isComplete: false, firstTokenMs: Number.NaN });
  });

  it("changes nothing by throwing", async () => {
    const { told, options } = recorder(true);
    const { router } = await setUp([stream], options);
    const response = await exchange(router.port, chatPost(STREAM));
    assert.match(response, /^HTTP\/1.1 200 [\s\S]*\[DONE\]/);
    await waitUntil(() => told.length === 2);
    await assertIdle(router);
    const page = (await askFor(await adminPortOf(router), "/metrics")).body;
    assert.match(page, /^signalbox_plugin_faults_total\{plugin="recorder"\} 1$/m);
  });
});
