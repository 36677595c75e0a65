import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { describe, it } from "node:test";
import { openClient, postBytes } from "../support/raw-client.ts";
import { startTestRouter, waitUntil } from "../support/router.ts";
import { setUp } from "../support/scripted-pool.ts";
import { chunkOf, LAST_CHUNK, type Script, STREAM_HEAD } from "../support/scripted-replica.ts";
import { readWithSdk } from "../support/sdk-streams.ts";
import { wholeAnswer } from "../support/whole-answer.ts";

const SPEC = "  keepAlive: { periodSeconds: 0.03, paths: [/v1/chat/completions, /v1/responses, /v1/messages] }";
const COMMENT = ": keep-alive\n\n";
const PING = 'event: ping\ndata: {"type":"ping"}\n\n';

const streams = [
  {
    dialect: "openai",
    path: "/v1/chat/completions",
    keepAlive: COMMENT,
    first: 'data: {"id":"a","choices":[]}\n\n',
    last: 'data: {"id":"b","choices":[]}\n\ndata: [DONE]\n\n',
  },
  {
    dialect: "responses",
    path: "/v1/responses",
    keepAlive: COMMENT,
    first: 'event: response.created\ndata: {"type":"response.created"}\n\n',
    last: 'event: response.completed\ndata: {"type":"response.completed"}\n\n',
  },
  {
    dialect: "anthropic",
    path: "/v1/messages",
    keepAlive: PING,
    first: 'event: message_start\ndata: {"type":"message_start","message":{}}\n\n',
    last: 'event: message_stop\ndata: {"type":"message_stop"}\n\n',
  },
] as const;

const BODY = '{"model":"m","input":"hello","max_tokens":9,"messages":[],"stream":true}';

describe("a silent stream", () => {
  for (const { dialect, path, keepAlive, first, last } of streams) {
    it(`gets what its API skips, and its own bytes stay as they are (${dialect})`, async () => {
      const replicas: Socket[] = [];
      const begins: Script = (_request, socket) => {
        replicas.push(socket);
        socket.write(STREAM_HEAD + chunkOf(first));
      };
      const { router } = await setUp([begins], { spec: SPEC });
      const client = await openClient(router.port);
      client.send(postBytes(path, BODY, "Connection: close\r\n"));
      await client.until((received) => received.split(chunkOf(keepAlive)).length > 3);
      replicas[0]?.write(chunkOf(last) + LAST_CHUNK);
      const { body, isComplete } = wholeAnswer(await client.closed());
      assert.equal(isComplete, true);
      assert.equal(body.replaceAll(keepAlive, ""), first + last);
      assert.ok(body.startsWith(first + keepAlive.repeat(3)));
      await waitUntil(() => router.log.length === 1);
      assert.equal(router.log[0]?.ending, "complete");
    });

    it(`is read by the API's own package as if there were nothing (${dialect})`, async () => {
      const { router } = await setUp(
        [
          (_request, socket) => {
            socket.write(STREAM_HEAD);
            setTimeout(() => socket.write(chunkOf(first)), 150);
            setTimeout(() => socket.write(chunkOf(last) + LAST_CHUNK), 300);
          },
        ],
        { spec: SPEC },
      );
      const data = [...(first + last).matchAll(/^data: (\{.*)$/gm)].map(([, json = ""]) => JSON.parse(json) as unknown);
      assert.deepEqual(await readWithSdk(dialect, { url: router.url }), data);
    });
  }

  it("gets it without chunks where the client knows none", async () => {
    const { router } = await setUp([(_request, socket) => void socket.write(STREAM_HEAD + chunkOf("data: 1\n\n"))], {
      spec: SPEC,
    });
    const client = await openClient(router.port);
    client.send(postBytes("/v1/chat/completions", BODY).replace("HTTP/1.1", "HTTP/1.0"));
    const received = await client.until((text) => text.split(COMMENT).length > 3);
    assert.ok(received.slice(received.indexOf("\r\n\r\n") + 4).startsWith(`data: 1\n\n${COMMENT.repeat(3)}`));
    client.destroy();
  });
});

describe("a path that no parser serves", () => {
  it("keeps the router from starting", async () => {
    await assert.rejects(
      startTestRouter(["http://127.0.0.1:9"], { spec: "  keepAlive: { paths: [/v1/chat] }", ready: 0 }),
      /spec\.keepAlive\.paths\[0\].*\/v1\/chat.*which no parser serves.*\/v1\/chat\/completions/,
    );
  });
});
