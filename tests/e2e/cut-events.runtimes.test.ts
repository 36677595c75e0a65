import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { describe, it } from "node:test";
import type { Dialect } from "../../core/contract/errors.ts";
import { MOST_HELD_BYTES } from "../../core/stream/whole-events.ts";
import { readEventSource } from "../support/event-source.ts";
import { openClient, postBytes } from "../support/raw-client.ts";
import { setUp } from "../support/scripted-pool.ts";
import { chunkOf, STREAM_HEAD } from "../support/scripted-replica.ts";
import { brokenResponse, whatSdkSees } from "../support/sdk-streams.ts";
import { wholeAnswer } from "../support/whole-answer.ts";

const streams: readonly { readonly dialect: Dialect; readonly path: string; readonly whole: string; readonly event: string }[] = [
  {
    dialect: "openai",
    path: "/v1/chat/completions",
    whole: 'data: {"id":"a","choices":[]}\n\n',
    event: 'data: {"id":"a","choices":[{"index":0,"delta":{"content":"漢\\n"}}]}\n\n',
  },
  {
    dialect: "responses",
    path: "/v1/responses",
    whole: 'event: response.created\ndata: {"type":"response.created"}\n\n',
    event: 'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":"漢\\n"}\n\n',
  },
  {
    dialect: "anthropic",
    path: "/v1/messages",
    whole: 'event: message_start\ndata: {"type":"message_start","message":{}}\n\n',
    event: 'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"text":"漢\\n"}}\n\n',
  },
];

describe("a replica that dies inside an event", async () => {
  for (const { dialect, path, whole, event } of streams) {
    it(`gives the package of its API the router's error, wherever that is (${dialect})`, async () => {
      const bytes = Buffer.from(whole + event);
      const cuts = Array.from({ length: Buffer.byteLength(event) + 1 }, (_, cut) => Buffer.byteLength(whole) + cut);
      const { router } = await setUp([
        ({ index }, socket) => {
          const sent = bytes.subarray(0, cuts[index % cuts.length]).toString("latin1");
          socket.end(Buffer.from(`${STREAM_HEAD}${sent.length.toString(16)}\r\n${sent}\r\n`, "latin1"));
        },
      ]);
      const seen = await Promise.all(
        cuts.map(async () => {
          const body = await brokenBody(router.port, path);
          return whatSdkSees(dialect, { url: router.url, fetch: async () => brokenResponse(body) });
        }),
      );
      assert.deepEqual([...new Set(seen)], ["APIError upstream_reset"]);
    });
  }

  it("gives a plain reader of events the whole ones, and the error as the last of them", async () => {
    const { router } = await setUp([
      (_request, socket) =>
        void socket.end(STREAM_HEAD + chunkOf('data: {"id":1}\n\ndata: {"choices":[{"delta":{"content":"hel')),
    ]);
    const events = readEventSource(await brokenBody(router.port, "/v1/chat/completions"));
    const documents = events.map(({ data }) => JSON.parse(data) as { error?: { code: string }; id?: number });
    assert.deepEqual(
      documents.map(({ id, error }) => id ?? error?.code),
      [1, "upstream_reset"],
    );
  });

  it("that was too long to wait for its end: all that came, no words of ours, and a visible break", async () => {
    const sent = `data: {"id":1}\n\ndata: {"text":"${"x".repeat(MOST_HELD_BYTES)}`;
    const { router } = await setUp([(_request, socket) => void socket.end(STREAM_HEAD + chunkOf(sent))]);
    const body = await brokenBody(router.port, "/v1/chat/completions");
    assert.equal(body.toString(), sent);
    const fetch = async () => brokenResponse(body);
    assert.equal(await whatSdkSees("openai", { url: router.url, fetch }), "TypeError");
  });
});

describe("a compressed stream, whose events can't be seen", () => {
  it("is passed on as it comes, with no word of ours in it, to its end or to a visible break", async () => {
    const head = STREAM_HEAD.replace("\r\n\r\n", "\r\nContent-Encoding: gzip\r\n\r\n");
    const replicas: Socket[] = [];
    const { router } = await setUp(
      [
        (_request, socket) => {
          replicas.push(socket);
          socket.write(head + chunkOf("compressed"));
        },
      ],
      { spec: "  keepAlive: { periodSeconds: 0.01, paths: [/v1/chat/completions] }" },
    );
    const client = await openClient(router.port);
    client.send(postBytes("/v1/chat/completions", '{"model":"m","messages":[],"stream":true}'));
    await client.until((text) => text.includes("compressed"));
    await new Promise((resolve) => setTimeout(resolve, 100));
    replicas[0]?.destroy();
    const { body, isComplete } = wholeAnswer(await client.closed());
    assert.deepEqual([body, isComplete], ["compressed", false]);
  });
});

/** The body of a response that breaks off. */
async function brokenBody(port: number, path: string): Promise<Buffer> {
  const client = await openClient(port);
  client.send(postBytes(path, '{"model":"m","input":"hello","max_tokens":9,"messages":[],"stream":true}'));
  const { status, body, isComplete } = wholeAnswer(await client.closed());
  assert.deepEqual([status, isComplete], [200, false]);
  return Buffer.from(body, "latin1");
}
