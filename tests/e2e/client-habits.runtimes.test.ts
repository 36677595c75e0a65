/** What clients and the proxies before the router do that is not quite what they should do. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { askFor } from "../support/admin.ts";
import { exchange, openClient, postBytes, readAnswer } from "../support/raw-client.ts";
import { CHAT, chatBody, setUp } from "../support/scripted-pool.ts";

const STREAM = 'data: {"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';
/** Header lines that the replica's next response has beside its own. */
let replicaLines = "";
const { router, replica } = await setUp([
  (_request, socket) => {
    const head = `HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n${replicaLines}Content-Length: ${STREAM.length}\r\n\r\n`;
    socket.write(head + STREAM);
  },
]);

const upgrade = (path: string, to: string, method = "GET") =>
  `${method} ${path} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: ${to}\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`;

describe("a client that opens a WebSocket", () => {
  for (const path of ["/v1/responses", "/v1/chat/completions?x=1", "/v1/realtime?model=m", "/v1/models", "/health"]) {
    it(`gets 426 at ${path}, and the connection stays`, async () => {
      const before = replica.requests.length;
      const client = await openClient(router.port);
      client.send(upgrade(path, "websocket"));
      const answer = readAnswer(await client.until((received) => received.includes("upgrade_required")));
      assert.equal(answer.status, 426);
      assert.match(answer.head, /\r\nupgrade: HTTP\/1\.1\r\nconnection: upgrade\r\n/i);
      client.send("GET /health HTTP/1.1\r\nHost: a\r\n\r\n");
      await client.until((received) => received.includes("HTTP/1.1 200 OK"));
      client.destroy();
      assert.equal(replica.requests.length, before);
    });
  }

  it("gets 404 where nothing is served", async () => {
    assert.equal(readAnswer(await exchange(router.port, upgrade("/nothing", "websocket"))).status, 404);
  });

  it("is served without it where it asks for another protocol", async () => {
    const asked = postBytes(
      CHAT,
      chatBody(),
      "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n",
    );
    assert.equal(readAnswer(await exchange(router.port, asked)).status, 200);
    assert.doesNotMatch(replica.requests.at(-1)!.head, /upgrade|http2-settings/i);
  });
});

describe("a body", () => {
  const rows: readonly (readonly [name: string, body: string, lines: string, status: number, code: string])[] = [
    ["with a byte order mark", `\xef\xbb\xbf${chatBody()}`, "", 400, "invalid_json"],
    ["that names the model twice", '{"model":"m","model":"m","messages":[]}', "", 400, "invalid_value"],
    ["behind Expect: 100-continue", chatBody(), "Expect: 100-continue\r\n", 200, ""],
    ["behind another Expect", chatBody(), "Expect: 200-ok\r\n", 417, "expectation_failed"],
  ];
  for (const [name, body, lines, status, code] of rows) {
    it(`${name} gets ${status}`, async () => {
      const client = await openClient(router.port);
      client.send(Buffer.from(postBytes(CHAT, body, lines).replace(/length: \d+/i, `Length: ${body.length}`), "latin1"));
      const answer = await client.until((received) => received.includes(code === "" ? "[DONE]" : code));
      client.destroy();
      assert.equal(Number(/HTTP\/1\.1 (\d+) (?!Continue)/.exec(answer)?.[1]), status);
    });
  }
});

describe("an event stream", () => {
  const rows: readonly (readonly [name: string, lines: string, buffering: string, caching: string])[] = [
    ["says that it is not to be held back", "", "no", "no-cache"],
    ["keeps what the replica says of caches", "Cache-Control: no-store\r\n", "no", "no-store"],
    ["keeps what the replica says of buffers", "X-Accel-Buffering: yes\r\n", "yes", "no-cache"],
  ];
  for (const [name, lines, buffering, caching] of rows) {
    it(name, async () => {
      replicaLines = lines;
      const response = await fetch(router.url + CHAT, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: chatBody(),
      });
      await response.text();
      assert.equal(response.headers.get("x-accel-buffering"), buffering);
      assert.equal(response.headers.get("cache-control"), caching);
    });
  }
});

describe("a wrong base URL", () => {
  const rows: readonly (readonly [path: string, meant: string])[] = [
    ["/chat/completions", "/v1/chat/completions"],
    ["/v1/v1/chat/completions", "/v1/chat/completions"],
    ["/v1/v1/messages/", "/v1/messages"],
    ["/openai/v1/responses", "/v1/responses"],
    ["/messages/count_tokens", "/v1/messages/count_tokens"],
    ["/api/v1/embeddings", "/v1/embeddings"],
    ["/models", "/v1/models"],
  ];
  for (const [path, meant] of rows) {
    it(`${path} is told what is meant`, async () => {
      const { status, body } = await askFor(router.port, path, { method: "POST" });
      const { error } = JSON.parse(body) as { error: { code: string; message: string } };
      assert.deepEqual([status, error.code], [404, "unknown_path"]);
      assert.ok(error.message.startsWith(`The path is ${meant} here. `), error.message);
      assert.match(error.message, /OpenAI's clients ends in \/v1, that of Anthropic's is the same without \/v1/);
    });
  }

  it("/ names the page, and any other path what is served", async () => {
    const first = await askFor(router.port, "/");
    assert.equal(first.status, 404);
    assert.match(first.body, /status page .*:9090/);
    const other = await askFor(router.port, "/what");
    assert.match(other.body, /it serves POST \/v1\/completions, .*GET \/v1\/models/);
    assert.doesNotMatch(other.body, /9090|\/v1\/files/);
  });
});
