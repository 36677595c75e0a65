import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { FetchResponse } from "../../../core/fetch/fetch-response.ts";

const LINES = "Content-Type: text/plain\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nX-Name: caf\xe9\r\nX-Empty:\r\n";
const bytes = (text: string) => new Uint8Array(Buffer.from(text));

/** A writer, what it told its owner, and the Response once there is one. */
function makeWriter(method = "POST") {
  const told: string[] = [];
  let response: Response | undefined;
  const owner = {
    drained: () => told.push("drained"),
    left: () => told.push("left"),
    over: () => told.push("over"),
    holdBody() {},
    later: (run: () => void) => setImmediate(run),
  };
  const writer = new FetchResponse(method, owner, (made) => {
    response = made;
  });
  return { writer, told, response: () => response };
}

function responseOf({ response }: ReturnType<typeof makeWriter>): Response {
  const made = response();
  assert.ok(made, "there must be a Response by now");
  return made;
}

describe("a writer of the fetch face", () => {
  it("is a Response with the same status, reason and headers", async () => {
    const made = makeWriter();
    made.writer.start(418, "I'm a teapot", LINES, 2);
    made.writer.write(bytes("..hi.."), [2, 4], 1);
    made.writer.end();
    const response = responseOf(made);
    assert.equal(response.status, 418);
    assert.equal(response.statusText, "I'm a teapot");
    assert.deepEqual(response.headers.getSetCookie(), ["a=1", "b=2"]);
    assert.equal(response.headers.get("x-name"), "caf\xe9");
    assert.equal(response.headers.get("x-empty"), "");
    assert.equal(response.headers.get("content-length"), "2");
    assert.equal(await response.text(), "hi");
    assert.deepEqual(made.told, ["over"]);
  });

  it("drops a reason phrase that a Response may not have", () => {
    const made = makeWriter();
    made.writer.start(200, "caf\xe9", "", 0);
    made.writer.end();
    assert.equal(responseOf(made).statusText, "");
  });

  for (const [status, method] of [
    [204, "POST"],
    [205, "POST"],
    [304, "GET"],
    [200, "HEAD"],
  ] as const) {
    it(`has no body with status ${status} to ${method}`, async () => {
      const made = makeWriter(method);
      made.writer.start(status, "", LINES, status === 200 ? 9 : -1);
      assert.equal(made.writer.write(bytes("not wanted"), [0, 10], 1), true);
      made.writer.end();
      const response = responseOf(made);
      assert.equal(response.status, status);
      assert.equal(response.body, null);
      assert.equal(response.headers.get("content-length"), status === 200 ? "9" : null);
    });
  }

  it("responds with the head as soon as no body bytes come with it", () => {
    const made = makeWriter();
    made.writer.start(200, "OK", LINES, 5);
    assert.equal(made.response(), undefined);
    made.writer.flush();
    assert.equal(responseOf(made).status, 200);
  });

  it("hands over the spans of one write in one piece, as a plain Uint8Array", async () => {
    const made = makeWriter();
    made.writer.start(200, "OK", LINES, -1);
    made.writer.write(Buffer.from("5;hello;6; world;"), [2, 7, 10, 16], 2);
    made.writer.write(Buffer.from("-!-"), [1, 2], 1);
    made.writer.write(Buffer.from("nothing"), [], 0);
    made.writer.end();
    const reader = responseOf(made).body!.getReader();
    const parts: Uint8Array[] = [];
    for (let part = await reader.read(); !part.done; part = await reader.read()) parts.push(part.value);
    assert.deepEqual(
      parts.map((part) => Buffer.from(part).toString()),
      ["hello world", "!"],
    );
    for (const part of parts) assert.equal(Object.getPrototypeOf(part), Uint8Array.prototype);
  });

  it("asks for a pause at its high-water mark and for more once it was read", async () => {
    const made = makeWriter();
    made.writer.start(200, "OK", LINES, -1);
    const chunk = new Uint8Array(40 * 1024);
    const span = [0, chunk.length];
    assert.equal(made.writer.write(chunk, span, 1), true);
    assert.equal(made.writer.waitingBytes, 0);
    assert.equal(made.writer.write(chunk, span, 1), false);
    assert.equal(made.writer.write(chunk, span, 1), false);
    assert.equal(made.writer.waitingBytes, 3 * chunk.length);
    const reader = responseOf(made).body!.getReader();
    await reader.read();
    assert.equal(made.writer.waitingBytes, 2 * chunk.length);
    assert.deepEqual(made.told, []);
    await reader.read();
    await Promise.resolve();
    assert.deepEqual(made.told, ["drained"]);
    assert.equal(made.writer.waitingBytes, 0);
    assert.equal(made.writer.write(chunk, span, 1), false);
  });

  it("fails a broken body only after everything before was read", async () => {
    const made = makeWriter();
    made.writer.start(200, "OK", LINES, -1);
    made.writer.write(bytes("data: 1\n\n"), [0, 9], 1);
    made.writer.abort("data: {}\n\n");
    assert.deepEqual(made.told, ["over"]);
    const reader = responseOf(made).body!.getReader();
    assert.equal(Buffer.from((await reader.read()).value!).toString(), "data: 1\n\n");
    assert.equal(Buffer.from((await reader.read()).value!).toString(), "data: {}\n\n");
    await assert.rejects(reader.read(), /broke off/);
  });

  it("fails a broken body for a reader that waits already", async () => {
    const made = makeWriter();
    made.writer.start(200, "OK", LINES, -1);
    made.writer.flush();
    const text = responseOf(made).text();
    made.writer.abort("");
    await assert.rejects(text, /broke off/);
  });

  it("fails a body of known length that broke off before its first byte", async () => {
    const made = makeWriter();
    made.writer.start(200, "OK", LINES, 5);
    made.writer.abort("");
    await assert.rejects(responseOf(made).text(), /broke off/);
  });

  it("fails at once when nobody reads any more", async () => {
    const made = makeWriter();
    made.writer.start(200, "OK", LINES, -1);
    made.writer.write(bytes("data: 1\n\n"), [0, 9], 1);
    made.writer.fail(new Error("gone"));
    await assert.rejects(responseOf(made).text(), /gone/);
    assert.equal(made.writer.write(bytes("x"), [0, 1], 1), true);
    made.writer.end();
    made.writer.abort("");
  });

  it("is a 499 when its request was aborted before a response", () => {
    const made = makeWriter();
    made.writer.fail(new Error("gone"));
    assert.equal(responseOf(made).status, 499);
    made.writer.start(200, "OK", LINES, 0);
    made.writer.end();
    assert.equal(responseOf(made).status, 499);
  });

  it("tells when its reader cancels, once", async () => {
    const made = makeWriter();
    made.writer.start(200, "OK", LINES, -1);
    made.writer.flush();
    await responseOf(made).body!.cancel();
    made.writer.end();
    made.writer.abort("more");
    assert.deepEqual(made.told, ["left"]);
  });
});
