/** Bodies that clients have compressed. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as zlib from "node:zlib";
import { CODINGS, randomText } from "../support/compressed.ts";
import { isWholeAnswer, openClient, readAnswer } from "../support/raw-client.ts";
import { waitUntil } from "../support/router.ts";
import { answerOk, assertIdle, CHAT, chatBody, setUp } from "../support/scripted-pool.ts";

const MOST_BYTES = 3 * 1024 * 1024;
const { router, replica } = await setUp([answerOk], {
  spec: `  limits: { bodyBytes: ${MOST_BYTES} }\n  plugins: [ { type: passthrough, parameters: { routes: [ { method: POST, path: /raw } ] } } ]\n`,
});

/** Sends a request whose body comes in pieces of `step` bytes, each in a chunk of its own; `step` 0: whole, with its length. */
async function send(coding: string, body: Uint8Array, { path = CHAT, step = 0, type = "application/json" } = {}) {
  const client = await openClient(router.port);
  const framing = step === 0 ? `Content-Length: ${body.length}` : "Transfer-Encoding: chunked";
  client.send(`POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: ${type}\r\nContent-Encoding: ${coding}\r\n${framing}\r\n\r\n`);
  for (let at = 0; step > 0 && at < body.length; at += step) {
    const piece = body.subarray(at, at + step);
    client.send(Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from("\r\n")]));
  }
  client.send(step === 0 ? body : "0\r\n\r\n");
  const answer = readAnswer(await client.until(isWholeAnswer));
  client.destroy();
  const { code, message = "" } = (answer.json["error"] ?? {}) as { code?: string; message?: string };
  return { status: answer.status, head: answer.head, code, message };
}

const NOISE = randomText(MOST_BYTES);
const noise = (length: number) => NOISE.slice(0, length);

describe("a compressed body", () => {
  for (const [coding, compress] of CODINGS) {
    for (const [name, text] of [
      ["small", chatBody()],
      ["large", chatBody(`,"more":"${noise(1_000_000)}"`)],
    ] as const) {
      for (const step of [0, name === "small" ? 1 : 50_000]) {
        it(`in ${coding}, ${name}, ${step === 0 ? "whole" : "in chunks"}, reaches the replica plain`, async () => {
          const answer = await send(coding, compress(Buffer.from(text)), { step });
          assert.equal(answer.status, 200, answer.message);
          const got = replica.requests.at(-1)!;
          assert.equal(got.body.toString(), text);
          assert.equal(got.headers.get("content-encoding"), undefined);
          assert.equal(got.headers.get("content-length"), String(text.length));
        });
      }
    }

    it(`in ${coding} may be a form`, async () => {
      const form = '--x\r\nContent-Disposition: form-data; name="model"\r\n\r\nm\r\n--x--\r\n';
      const type = "multipart/form-data; boundary=x";
      const answer = await send(coding, compress(Buffer.from(form)), { path: "/v1/audio/transcriptions", type });
      assert.equal(answer.status, 200, answer.message);
      assert.equal(replica.requests.at(-1)!.body.toString(), form);
    });

    const rows: readonly (readonly [name: string, body: Buffer, code: string | RegExp])[] = [
      // Not every runtime notices it, but then the JSON is not whole.
      ["cut", compress(Buffer.from(chatBody(`,"a":"${noise(1_000)}"`))).subarray(0, -40), /bad_request|invalid_json/],
      ["something else", Buffer.from(chatBody()), "bad_request"],
      ["no JSON", compress(Buffer.from("hello")), "invalid_json"],
      ["too long", compress(Buffer.from(chatBody(`,"a":"${noise(MOST_BYTES)}"`))), "body_too_large"],
      ["a bomb", compress(Buffer.alloc(MOST_BYTES - 1_000, " ")), "body_too_large"],
    ];
    for (const [name, body, code] of rows) {
      it(`in ${coding} that is ${name} is refused`, async () => {
        const before = replica.requests.length;
        assert.match((await send(coding, body)).code ?? "", new RegExp(code));
        assert.equal(replica.requests.length, before);
      });
    }
  }

  it("is forwarded as it is where nobody reads it", async () => {
    const body = zlib.gzipSync("hello");
    assert.equal((await send("gzip", body, { path: "/raw" })).status, 200);
    assert.deepEqual(replica.requests.at(-1)!.body, body);
    assert.equal(replica.requests.at(-1)!.headers.get("content-encoding"), "gzip");
  });

  for (const coding of ["deflate", "gzip, br", "identity, gzip", "nonsense"]) {
    it(`in ${coding} gets 415, which names what is taken`, async () => {
      const { status, head, message } = await send(coding, zlib.gzipSync(chatBody()));
      assert.equal(status, 415);
      assert.match(head, /\r\naccept-encoding: gzip, br(, zstd)?(\r\n|$)/i);
      assert.match(message, /gzip, br/);
    });
  }

  it("leaves nothing behind when its client goes", async () => {
    const body = zlib.gzipSync(chatBody(`,"a":"${noise(500_000)}"`));
    const client = await openClient(router.port);
    const head = `POST ${CHAT} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n`;
    const before = router.log.length;
    client.send(`${head}Content-Length: ${body.length}\r\n\r\n`);
    client.send(body.subarray(0, body.length / 2));
    await waitUntil(() => router.router.gate.memory.bodyBytes > 0);
    client.destroy();
    await waitUntil(() => router.log.length > before);
    await waitUntil(() => router.router.gate.memory.bodyBytes === 0);
    await assertIdle(router);
  });
});
