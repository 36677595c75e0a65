import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { describe, it } from "node:test";
import { answerOk, CHAT, chatBody, errorOf, postRequest, setUpFetch } from "../../support/fetch-router.ts";
import { waitUntil } from "../../support/router.ts";
import { chunkOf, LAST_CHUNK, type Script, STREAM_HEAD } from "../../support/scripted-replica.ts";

const bytes = (text: string) => new Uint8Array(Buffer.from(text));

/** A body stream that yields the given parts, and then ends, fails or stays open. */
function streamOf(parts: readonly unknown[], ending: "end" | "fail" | "open" = "end") {
  const rest = [...parts];
  const seen = { cancelled: false };
  const stream = new ReadableStream({
    pull(controller) {
      if (rest.length > 0) controller.enqueue(rest.shift());
      else if (ending === "end") controller.close();
      else if (ending === "fail") controller.error(new Error("the disk is gone"));
    },
    cancel() {
      seen.cancelled = true;
    },
  });
  return { stream: stream as ReadableStream<Uint8Array<ArrayBuffer>>, seen };
}

describe("a response that is streamed", () => {
  it("hands each event on as it comes, under the target's name", async () => {
    const events = ["data: 1\n\n", "data: 2\n\n", "data: [DONE]\n\n"];
    const sockets: Socket[] = [];
    const { router } = await setUpFetch((_request, socket) => {
      socket.write(STREAM_HEAD);
      sockets.push(socket);
    });
    const response = await router.fetch(postRequest(CHAT, chatBody(',"stream":true')));
    assert.equal(response.headers.get("transfer-encoding"), null);
    const reader = response.body!.getReader();
    for (const event of events) {
      sockets[0]!.write(chunkOf(event));
      assert.equal(Buffer.from((await reader.read()).value!).toString(), event);
    }
    sockets[0]!.write(LAST_CHUNK);
    assert.equal((await reader.read()).done, true);
    await waitUntil(() => router.log.at(-1)?.ending === "complete");
  });

  it("gets keep-alive events while the replica is silent, between its own events", async () => {
    const COMMENT = ": keep-alive\n\n";
    const sockets: Socket[] = [];
    const { router } = await setUpFetch(
      (_request, socket) => {
        socket.write(STREAM_HEAD + chunkOf("data: 1\n\n"));
        sockets.push(socket);
      },
      { spec: `  keepAlive: { periodSeconds: 0.03, paths: [${CHAT}] }` },
    );
    const response = await router.fetch(postRequest(CHAT, chatBody(',"stream":true')));
    const reader = response.body!.getReader();
    let text = "";
    const readUntil = async (isEnough: () => boolean) => {
      while (!isEnough()) {
        const { value, done } = await reader.read();
        if (done) return;
        text += Buffer.from(value).toString();
      }
    };
    await readUntil(() => text.split(COMMENT).length > 3);
    assert.ok(text.startsWith(`data: 1\n\n${COMMENT.repeat(3)}`));
    sockets[0]!.write(chunkOf("data: [DONE]\n\n") + LAST_CHUNK);
    await readUntil(() => false);
    assert.equal(text.replaceAll(COMMENT, ""), "data: 1\n\ndata: [DONE]\n\n");
    await waitUntil(() => router.log.at(-1)?.ending === "complete");
  });

  it("pauses the replica while nobody reads, and loses nothing", async () => {
    const total = 48 * 1024 * 1024;
    const block = Buffer.alloc(64 * 1024, "x");
    let written = 0;
    const { router } = await setUpFetch((_request, socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: ${total}\r\n\r\n`);
      const fill = () => {
        while (written < total) {
          written += block.length;
          if (!socket.write(block)) return;
        }
      };
      socket.on("drain", fill);
      fill();
    });
    const response = await router.fetch(postRequest(CHAT, chatBody()));
    const reader = response.body!.getReader();
    let read = (await reader.read()).value!.length;
    let before = -1;
    // What the sockets hold is not known; that it stops growing is.
    for (let tries = 0; tries < 200 && before !== written; tries++) {
      before = written;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    assert.ok(written < total, `${written} bytes were taken while nobody read`);
    for (let part = await reader.read(); !part.done; part = await reader.read()) read += part.value.length;
    assert.equal(read, total);
  });

  const event = "data: {}\n\n";
  it("that breaks ends with the API's error event and a failed body", async () => {
    const { router } = await setUpFetch((_request, socket) => {
      socket.write(STREAM_HEAD + chunkOf(event));
      setTimeout(() => socket.destroy(), 10);
    });
    for (const [path, last] of [
      [CHAT, /^data: \{"error":\{"message":"[^\n]+"code":"upstream_reset"\}\}\n\n$/],
      ["/v1/messages", /^event: error\ndata: \{"type":"error",[^\n]+\n\n$/],
    ] as const) {
      const response = await router.fetch(postRequest(path, chatBody(',"stream":true,"max_tokens":9')));
      const reader = response.body!.getReader();
      let text = "";
      await assert.rejects(async () => {
        for (let part = await reader.read(); !part.done; part = await reader.read()) text += Buffer.from(part.value).toString();
      }, /broke off/);
      assert.ok(text.startsWith(event));
      assert.match(text.slice(event.length), last);
    }
  });

  it("that is shorter than its length fails its body", async () => {
    const { router } = await setUpFetch(
      (_request, socket) => void socket.end("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n0123456789"),
    );
    const response = await router.fetch(postRequest(CHAT, chatBody()));
    assert.equal(response.headers.get("content-length"), "100");
    await assert.rejects(response.text(), /broke off/);
  });

  it("that nobody reads for too long is given up", async () => {
    const { router, replica } = await setUpFetch(
      (_request, socket) => void socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 9000000\r\n\r\n${"x".repeat(9_000_000)}`),
      { spec: "  limits: { writeTimeoutMs: 100 }" },
    );
    const response = await router.fetch(postRequest(CHAT, chatBody()));
    await waitUntil(() => replica.sockets.size === 0);
    await assert.rejects(response.text(), /too long/);
    assert.equal(router.log.at(-1)?.ending, "client-left");
  });
});

describe("an application that wants no response any more", () => {
  const stages: readonly { name: string; script: Script }[] = [
    { name: "before the head", script: () => {} },
    { name: "before the first token", script: (_request, socket) => void socket.write(STREAM_HEAD) },
    { name: "in mid-stream", script: (_request, socket) => void socket.write(STREAM_HEAD + chunkOf("data: {}\n\n")) },
  ];
  for (const { name, script } of stages) {
    it(`aborts ${name}: the connection to the replica is closed`, async () => {
      const { router, replica } = await setUpFetch(script);
      const aborting = new AbortController();
      const pending = router.fetch(postRequest(CHAT, chatBody(',"stream":true'), { signal: aborting.signal }));
      await waitUntil(() => replica.requests.length === 1);
      const response = name === "before the head" ? undefined : await pending;
      const reader = response?.body?.getReader();
      if (name === "in mid-stream") await reader?.read();
      aborting.abort(new Error("changed my mind"));
      if (reader) await assert.rejects(reader.read(), /changed my mind/);
      else assert.equal((await pending).status, 499);
      await waitUntil(() => replica.sockets.size === 0);
      assert.equal(router.log.at(-1)?.ending, "client-left");
    });
  }

  it("has aborted before it asked: no replica hears of it", async () => {
    const { router, replica } = await setUpFetch(answerOk);
    const response = await router.fetch(postRequest(CHAT, chatBody(), { signal: AbortSignal.abort() }));
    assert.equal(response.status, 499);
    assert.equal(replica.requests.length, 0);
  });

  it("aborts after the response: nothing happens", async () => {
    const { router } = await setUpFetch(answerOk);
    const aborting = new AbortController();
    const response = await router.fetch(postRequest(CHAT, chatBody(), { signal: aborting.signal }));
    await waitUntil(() => router.log.at(-1)?.path === CHAT);
    aborting.abort();
    assert.match(await response.text(), /chat\.completion/);
    assert.equal(router.log.at(-1)?.ending, "complete");
  });

  it("cancels the body: the connection to the replica is closed", async () => {
    const { router, replica } = await setUpFetch(stages[2]!.script);
    const response = await router.fetch(postRequest(CHAT, chatBody(',"stream":true')));
    await response.body!.cancel();
    await waitUntil(() => replica.sockets.size === 0);
    assert.equal(router.log.at(-1)?.ending, "client-left");
  });

  it("aborts while its own body is under way: the body is cancelled", async () => {
    const { router, replica } = await setUpFetch(answerOk);
    const aborting = new AbortController();
    const { stream, seen } = streamOf([bytes('{"model":')], "open");
    const pending = router.fetch(postRequest(CHAT, stream, { signal: aborting.signal }));
    await Promise.resolve();
    aborting.abort();
    assert.equal((await pending).status, 499);
    await waitUntil(() => seen.cancelled);
    assert.equal(replica.requests.length, 0);
  });
});

describe("a request body", () => {
  it("may be a stream in any pieces", async () => {
    const { router, replica } = await setUpFetch(answerOk);
    const text = chatBody(`,"padding":"${"é".repeat(50_000)}"`);
    const whole = bytes(text);
    for (const size of [1000, 4096, 100_000]) {
      const parts = Array.from({ length: Math.ceil(whole.length / size) }, (_, i) => whole.slice(i * size, (i + 1) * size));
      const response = await router.fetch(postRequest(CHAT, streamOf(parts).stream));
      assert.equal(response.status, 200);
      assert.equal(replica.requests.at(-1)!.body.toString(), text);
    }
  });

  it("over the limit is a 413, by its declared length or by its bytes, and the rest is not read", async () => {
    const { router, replica } = await setUpFetch(answerOk, { spec: "  limits: { bodyBytes: 2000 }" });
    const large = chatBody(`,"padding":"${"x".repeat(3000)}"`);
    const declared = await router.fetch(postRequest(CHAT, large, { headers: { "content-length": String(large.length) } }));
    assert.equal((await errorOf(declared)).code, "body_too_large");
    const { stream, seen } = streamOf([bytes(large), bytes("more"), bytes("and more")], "open");
    assert.equal((await errorOf(await router.fetch(postRequest(CHAT, stream)))).status, 413);
    await waitUntil(() => seen.cancelled);
    assert.equal(replica.requests.length, 0);
  });

  it("of a refused request is not read", async () => {
    const { router } = await setUpFetch(answerOk);
    const { stream, seen } = streamOf([], "open");
    const response = await router.fetch(postRequest("/v1/nothing", stream));
    assert.equal((await errorOf(response)).code, "unknown_path");
    await waitUntil(() => seen.cancelled);
  });

  it("that breaks off, or is no stream of bytes, is a 400", async () => {
    const { router, replica } = await setUpFetch(answerOk);
    for (const stream of [streamOf([bytes('{"model":')], "fail").stream, streamOf(["text"]).stream]) {
      const error = await errorOf(await router.fetch(postRequest(CHAT, stream)));
      assert.equal(error.code, "bad_request");
      assert.match(error.message, /broke off/);
    }
    assert.equal(replica.requests.length, 0);
  });

  it("that takes too long is a 408", async () => {
    const { router } = await setUpFetch(answerOk, { spec: "  limits: { bodyTimeoutMs: 100 }" });
    const { stream, seen } = streamOf([bytes('{"model":')], "open");
    assert.equal((await errorOf(await router.fetch(postRequest(CHAT, stream)))).code, "request_timeout");
    await waitUntil(() => seen.cancelled);
  });

  it("that somebody has read already is a 500 that says so", async () => {
    const { router } = await setUpFetch(answerOk);
    const request = postRequest(CHAT, chatBody());
    await request.text();
    const error = await errorOf(await router.fetch(request));
    assert.equal(error.status, 500);
    assert.match(error.message, /on unread/);
  });
});
