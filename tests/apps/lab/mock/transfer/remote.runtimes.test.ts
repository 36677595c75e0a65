import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, test } from "node:test";
import { addressIn, objectIn, Remote } from "../../../../../apps/lab/mock/transfer/remote.ts";

async function withServer(respond: RequestListener, use: (port: number) => Promise<void>): Promise<void> {
  const server = createServer(respond);
  await once(server.listen(0, "127.0.0.1"), "listening");
  try {
    await use((server.address() as AddressInfo).port);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

describe("what is asked of another replica", () => {
  test("is answered, whatever the status", async () => {
    await withServer(
      (_request, response) => response.writeHead(409).end('{"a":1}'),
      async (port) => {
        const answer = await new Remote().post({ host: "127.0.0.1", port }, "/", {}, 10_000).answer;
        assert.deepEqual([answer.status, objectIn(answer)], [409, { a: 1 }]);
        assert.deepEqual(objectIn({ ...answer, text: "[" }), {});
      },
    );
  });

  test("fails when the other says nothing, says half or too much, or when either side ends it", async () => {
    const remote = new Remote();
    const answers: Record<string, RequestListener> = {
      "/silent": () => {},
      "/half": (request, response) => {
        response.writeHead(200, { "content-length": "10" });
        response.write("half", () => request.socket.destroy());
      },
      "/much": (_request, response) => response.end(Buffer.alloc(17 * 1024 * 1024)),
    };
    await withServer(
      (request, response) => answers[request.url ?? ""]?.(request, response),
      async (port) => {
        const post = (path: string, limitMs = 60_000) => remote.post({ host: "127.0.0.1", port }, path, {}, limitMs);
        await assert.rejects(post("/silent", 20).answer, /does not respond/);
        await assert.rejects(post("/half").answer);
        await assert.rejects(post("/much").answer);
        const cancelled = post("/silent");
        cancelled.cancel();
        await assert.rejects(cancelled.answer);
        const open = post("/silent").answer;
        remote.close();
        await assert.rejects(open);
        await assert.rejects(post("/half").answer);
      },
    );
  });

  test("goes to HOST:PORT", () => {
    assert.deepEqual(addressIn("10.0.0.1:8000"), { host: "10.0.0.1", port: 8000 });
    assert.deepEqual(addressIn(" [::1]:8000 "), { host: "::1", port: 8000 });
    for (const text of ["", "a", "a:", ":1", "a:0", "a:65536", "http://a:1", "a b:1"]) assert.equal(addressIn(text), undefined);
  });
});
