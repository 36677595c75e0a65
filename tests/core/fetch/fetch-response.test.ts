import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { FetchReply } from "../../../core/fetch/fetch-response.ts";

const LINES = "Content-Type: text/plain\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nX-Name: caf\xe9\r\nX-Empty:\r\n";
const bytes = (text: string) => new Uint8Array(Buffer.from(text));

/** A reply, what it told its owner, and the Response once there is one. */
function makeReply(method = "POST") {
  const told: string[] = [];
  let response: Response | undefined;
  const owner = {
    full: () => told.push("full"),
    drained: () => told.push("drained"),
    left: () => told.push("left"),
    over: () => told.push("over"),
    later: (run: () => void) => setImmediate(run),
  };
  const reply = new FetchReply(method, owner, (answer) => {
    response = answer;
  });
  return { reply, told, response: () => response };
}

function answered({ response }: ReturnType<typeof makeReply>): Response {
  const answer = response();
  assert.ok(answer, "there must be a Response by now");
  return answer;
}

describe("a reply of the fetch face", () => {
  it("is a Response with the same status, reason and headers", async () => {
    const made = makeReply();
    made.reply.start(418, "I'm a teapot", LINES, 2);
    made.reply.write(bytes("..hi.."), [2, 4], 1);
    made.reply.end();
    const answer = answered(made);
    assert.equal(answer.status, 418);
    assert.equal(answer.statusText, "I'm a teapot");
    assert.deepEqual(answer.headers.getSetCookie(), ["a=1", "b=2"]);
    assert.equal(answer.headers.get("x-name"), "caf\xe9");
    assert.equal(answer.headers.get("x-empty"), "");
    assert.equal(answer.headers.get("content-length"), "2");
    assert.equal(await answer.text(), "hi");
    assert.deepEqual(made.told, ["over"]);
  });

  it("drops a reason phrase that a Response may not have", () => {
    const made = makeReply();
    made.reply.start(200, "caf\xe9", "", 0);
    made.reply.end();
    assert.equal(answered(made).statusText, "");
  });

  for (const [status, method] of [
    [204, "POST"],
    [205, "POST"],
    [304, "GET"],
    [200, "HEAD"],
  ] as const) {
    it(`has no body with status ${status} to ${method}`, async () => {
      const made = makeReply(method);
      made.reply.start(status, "", LINES, status === 200 ? 9 : -1);
      assert.equal(made.reply.write(bytes("not wanted"), [0, 10], 1), true);
      made.reply.end();
      const answer = answered(made);
      assert.equal(answer.status, status);
      assert.equal(answer.body, null);
      assert.equal(answer.headers.get("content-length"), status === 200 ? "9" : null);
    });
  }

  it("answers with the head as soon as no body bytes come with it", () => {
    const made = makeReply();
    made.reply.start(200, "OK", LINES, 5);
    assert.equal(made.response(), undefined);
    made.reply.flush();
    assert.equal(answered(made).status, 200);
  });

  it("hands over the spans of one write in one piece, as a plain Uint8Array", async () => {
    const made = makeReply();
    made.reply.start(200, "OK", LINES, -1);
    made.reply.write(Buffer.from("5;hello;6; world;"), [2, 7, 10, 16], 2);
    made.reply.write(Buffer.from("-!-"), [1, 2], 1);
    made.reply.write(Buffer.from("nothing"), [], 0);
    made.reply.end();
    const reader = answered(made).body!.getReader();
    const parts: Uint8Array[] = [];
    for (let part = await reader.read(); !part.done; part = await reader.read()) parts.push(part.value);
    assert.deepEqual(
      parts.map((part) => Buffer.from(part).toString()),
      ["hello world", "!"],
    );
    for (const part of parts) assert.equal(Object.getPrototypeOf(part), Uint8Array.prototype);
  });

  it("asks for a pause at its high-water mark and for more once it was read", async () => {
    const made = makeReply();
    made.reply.start(200, "OK", LINES, -1);
    const chunk = new Uint8Array(40 * 1024);
    const span = [0, chunk.length];
    assert.equal(made.reply.write(chunk, span, 1), true);
    assert.equal(made.reply.write(chunk, span, 1), false);
    assert.equal(made.reply.write(chunk, span, 1), false);
    assert.deepEqual(made.told, ["full"]);
    const reader = answered(made).body!.getReader();
    await reader.read();
    assert.deepEqual(made.told, ["full"]);
    await reader.read();
    await Promise.resolve();
    assert.deepEqual(made.told, ["full", "drained"]);
    assert.equal(made.reply.write(chunk, span, 1), false);
  });

  it("fails a broken body only after everything before was read", async () => {
    const made = makeReply();
    made.reply.start(200, "OK", LINES, -1);
    made.reply.write(bytes("data: 1\n\n"), [0, 9], 1);
    made.reply.abort("data: {}\n\n");
    assert.deepEqual(made.told, ["over"]);
    const reader = answered(made).body!.getReader();
    assert.equal(Buffer.from((await reader.read()).value!).toString(), "data: 1\n\n");
    assert.equal(Buffer.from((await reader.read()).value!).toString(), "data: {}\n\n");
    await assert.rejects(reader.read(), /broke off/);
  });

  it("fails a broken body for a reader that waits already", async () => {
    const made = makeReply();
    made.reply.start(200, "OK", LINES, -1);
    made.reply.flush();
    const text = answered(made).text();
    made.reply.abort("");
    await assert.rejects(text, /broke off/);
  });

  it("fails a body of known length that broke off before its first byte", async () => {
    const made = makeReply();
    made.reply.start(200, "OK", LINES, 5);
    made.reply.abort("");
    await assert.rejects(answered(made).text(), /broke off/);
  });

  it("fails at once when nobody reads any more", async () => {
    const made = makeReply();
    made.reply.start(200, "OK", LINES, -1);
    made.reply.write(bytes("data: 1\n\n"), [0, 9], 1);
    made.reply.fail(new Error("gone"));
    await assert.rejects(answered(made).text(), /gone/);
    assert.equal(made.reply.write(bytes("x"), [0, 1], 1), true);
    made.reply.end();
    made.reply.abort("");
  });

  it("is a 499 when its request was aborted before an answer", () => {
    const made = makeReply();
    made.reply.fail(new Error("gone"));
    assert.equal(answered(made).status, 499);
    made.reply.start(200, "OK", LINES, 0);
    made.reply.end();
    assert.equal(answered(made).status, 499);
  });

  it("tells when its reader cancels, once", async () => {
    const made = makeReply();
    made.reply.start(200, "OK", LINES, -1);
    made.reply.flush();
    await answered(made).body!.cancel();
    made.reply.end();
    made.reply.abort("more");
    assert.deepEqual(made.told, ["left"]);
  });
});
