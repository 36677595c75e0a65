/** What replicas report at the end of their answers, and what becomes of it. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import { type AccessLine, startTestRouter, type TestRouter, waitUntil } from "../support/router.ts";
import { jsonAnswer, type ScriptedReplica, startScriptedReplica } from "../support/scripted-replica.ts";

interface Line extends AccessLine {
  readonly promptTokens?: number;
  readonly outputTokens?: number;
  readonly cachedTokens?: number;
  readonly outputEstimated?: boolean;
  readonly finishReason?: string;
  readonly predictedCachedTokens?: number;
}

const usage = (prompt: number, cached: number) =>
  `"usage":{"prompt_tokens":${prompt},"completion_tokens":100,"prompt_tokens_details":{"cached_tokens":${cached}}}`;
const SPEC = "  plugins: [ { type: prefix-cache, parameters: { countGenerated: true } } ]\n";

describe("usage that replicas report", () => {
  let replica: ScriptedReplica;
  let router: TestRouter;
  let next: string | Buffer = "";

  before(async () => {
    replica = await startScriptedReplica((_request, socket) => void socket.write(next));
    router = await startTestRouter([replica.url], { spec: SPEC });
  });
  after(async () => {
    await router?.close();
    await replica?.close();
  });

  async function ask(prompt: string, answer: string | Buffer, more: object = {}): Promise<Line> {
    next = answer;
    const lines = router.log.length;
    const body = JSON.stringify({ model: "m", prompt, ...more });
    const response = await fetch(`${router.url}/v1/completions`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body,
    });
    await response.text().catch(() => "");
    await waitUntil(() => router.log.length > lines);
    return router.log[lines] as Line;
  }

  const slot = () => router.router.pool.prefixStats?.slots[0];

  it("is in the access log beside what was predicted", async () => {
    const first = await ask("a".repeat(2560), jsonAnswer(`{"choices":[{"text":"x"}],${usage(640, 0)}}`));
    assert.deepEqual([first.promptTokens, first.outputTokens, first.cachedTokens, first.predictedCachedTokens], [640, 100, 0, 0]);
    const again = await ask("a".repeat(2560), jsonAnswer(`{"choices":[{"text":"x"}],${usage(640, 624)}}`));
    assert.deepEqual([again.cachedTokens, again.predictedCachedTokens], [624, 640]);
  });

  it("takes room for generated text, once for a prompt and until it is part of a longer one", async () => {
    const held = slot()?.tokens ?? 0;
    await ask("a".repeat(2560), jsonAnswer(`{"choices":[{"text":"x"}],${usage(640, 640)}}`));
    assert.equal(slot()?.tokens, held);
    await ask(`a${"b".repeat(2560)}`, jsonAnswer(`{"choices":[{"text":"x"}],${usage(640, 0)}}`));
    assert.equal(slot()?.tokens, 2 * held);
  });

  it("teaches how many tokens a prompt has, and how much of it to expect in the cache", async () => {
    for (let i = 0; i < 40; i++) await ask("c".repeat(2560), jsonAnswer(`{"choices":[{"text":"x"}],${usage(1280, 640)}}`));
    const line = await ask("c".repeat(2560), jsonAnswer(`{"choices":[{"text":"x"}],${usage(1280, 640)}}`));
    const predicted = line.predictedCachedTokens ?? 0;
    assert.ok(predicted > 600 && predicted < 1100, `${predicted}`);
  });

  it("is read from a stream in any reads", async () => {
    const event = `data: {"choices":[{"text":"x"}],${usage(640, 0)}}\n\ndata: [DONE]\n\n`;
    const chunks = [...event].map((char) => `1\r\n${char}\r\n`).join("");
    const head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
    const line = await ask("d".repeat(2560), `${head}${chunks}0\r\n\r\n`);
    assert.equal(line.promptTokens, 640);
  });

  describe("is found whatever stands around it", () => {
    const LONG = JSON.stringify(
      Array.from({ length: 2000 }, (_, id) => ({ [id]: { logprob: -1.5, usage: { prompt_tokens: 7 } } })),
    );
    const own = usage(640, 0);
    const choices = (finish: string) => `"choices":[{"index":0,"text":"x","finish_reason":${finish},"token_ids":${LONG}}]`;
    const stream = (...events: readonly string[]) => {
      const text = events.map((event) => `data: ${event}\n\n`).join("");
      return `HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: ${text.length}\r\n\r\n${text}`;
    };
    const rows: readonly (readonly [name: string, answer: string])[] = [
      ["prompt_logprobs behind it", jsonAnswer(`{${choices('"stop"')},${own},"prompt_logprobs":${LONG}}`)],
      ["choices behind it", jsonAnswer(`{${own},${choices('"stop"')}}`)],
      ["details of more than 1 KiB in it", jsonAnswer(`{${choices('"stop"')},${own.slice(0, -1)},"details":${LONG}}}`)],
      ["a long end of its event", stream(`{${choices('"stop"')},${own},"__verbose":${LONG}}`, "[DONE]")],
      ["a long event behind it", stream(`{${choices('"stop"')},${own}}`, `{"choices":[],"sglext":${LONG}}`, "[DONE]")],
    ];
    for (const [name, answer] of rows)
      it(name, async () => {
        const { promptTokens, outputTokens, cachedTokens, outputEstimated, finishReason } = await ask("f".repeat(99), answer);
        assert.deepEqual([promptTokens, outputTokens, cachedTokens, outputEstimated, finishReason], [640, 100, 0, false, "stop"]);
      });
  });

  describe("is estimated where a response reports none", () => {
    const TEXT = JSON.stringify({ choices: [{ index: 0, text: "word ".repeat(100), finish_reason: "stop" }] });
    const coded = (body: Buffer, type: string) =>
      `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\nContent-Encoding: gzip\r\nContent-Length: ${body.length}\r\n\r\n${body.toString("latin1")}`;
    const events = Array.from({ length: 100 }, (_, n) => `data: {"choices":[{"index":0,"text":"word${n} "}]}\n\n`).join("");
    const rows: readonly (readonly [name: string, answer: string, least: number, most: number])[] = [
      ["a document", jsonAnswer(TEXT), 100, 100],
      ["a compressed document", coded(gzipSync(TEXT), "application/json"), 30, 150],
      ["a compressed stream", coded(gzipSync(events), "text/event-stream"), 10, 150],
    ];
    for (const [name, answer, least, most] of rows)
      it(name, async () => {
        const { outputTokens = 0, outputEstimated } = await ask("g".repeat(99), Buffer.from(answer, "latin1"));
        assert.ok(outputEstimated === true && outputTokens >= least && outputTokens <= most, `${outputTokens}`);
      });

    it("by no more than the request allows", async () => {
      assert.equal((await ask("h".repeat(99), jsonAnswer(TEXT), { max_tokens: 12 })).outputTokens, 12);
    });
  });

  it("counts for nothing in an error", async () => {
    const body = `{${usage(640, 0)}}`;
    const answer = `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const line = await ask("e".repeat(2560), answer);
    assert.equal(line.status, 400);
    assert.equal(line.promptTokens, null);
  });
});
