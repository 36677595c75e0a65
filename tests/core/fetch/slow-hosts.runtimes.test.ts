/** Hosts that send or read slowly, by a clock that the test moves. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { RouterError } from "../../../core/contract/errors.ts";
import { respondWithError } from "../../../core/errors/error-response.ts";
import { exchange, type FetchShared } from "../../../core/fetch/fetch-exchange.ts";
import type { ResponseWriter } from "../../../core/host/response-writer.ts";
import { DEFAULT_LIMITS } from "../../../core/settings.ts";
import { Deadlines } from "../../../core/wire/deadlines.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { postRequest } from "../../support/fetch-router.ts";

const LIMIT_MS = DEFAULT_LIMITS.writeTimeoutMs;

/** The fetch face over a receiver that notes what it is told; the test writes the response. */
function setUpFace() {
  const clock = new FakeClock();
  const told: string[] = [];
  const responses: ResponseWriter[] = [];
  const shared: FetchShared = {
    nextRequestId: () => "not a request's id",
    limits: DEFAULT_LIMITS,
    cors: undefined,
    clock,
    memory: { unreadBytes: 0 },
    deadlines: new Deadlines(clock, 250),
    open: new Set(),
    isClosed: false,
    start(_head, _bodyLength, response) {
      responses.push(response);
      return {
        body: () => {},
        bodyEnd: () => void told.push("bodyEnd"),
        refuse(error: RouterError) {
          told.push(`refuse ${error.code}`);
          respondWithError(response, error, "anthropic", "the request's id");
        },
        clientGone: () => void told.push("clientGone"),
        drained: () => void told.push("drained"),
        stop: () => {},
      };
    },
  };
  return { clock, told, responses, shared };
}

describe("a host that reads a response slowly", () => {
  /** Writes more than the reader may have before it, in ten chunks. */
  async function openStream() {
    const face = setUpFace();
    const pending = exchange(postRequest("/v1/messages", "{}"), face.shared);
    await face.clock.advance(0);
    const writer = face.responses[0]!;
    writer.start(200, "OK", "", -1);
    const chunk = new Uint8Array(30 * 1024);
    for (let n = 0; n < 10; n++) writer.write(chunk, [0, chunk.length], 1, false);
    return { ...face, writer, reader: (await pending).body!.getReader() };
  }

  it("is waited for as long as it takes something within the limit", async () => {
    const { clock, told, reader } = await openStream();
    for (let n = 0; n < 9; n++) {
      await clock.advance(LIMIT_MS - 2_000);
      assert.equal((await reader.read()).value?.length, 30 * 1024);
    }
    assert.deepEqual(told, ["bodyEnd", "drained"]);
  });

  it("is given up once it has taken nothing for the limit, and its read fails", async () => {
    const { clock, told, reader } = await openStream();
    await reader.read();
    await clock.advance(LIMIT_MS - 250);
    assert.deepEqual(told, ["bodyEnd"]);
    await clock.advance(2_000);
    assert.deepEqual(told, ["bodyEnd", "clientGone"]);
    await assert.rejects(reader.read(), /for too long/);
  });
});

describe("a host whose body does not come to its end", () => {
  for (const { name, body, code } of [
    { name: "late", body: () => new ReadableStream<Uint8Array<ArrayBuffer>>(), code: "request_timeout" },
    {
      name: "never",
      body: () =>
        new ReadableStream<Uint8Array<ArrayBuffer>>({
          start: (controller) => controller.error(new Error("the disk is gone")),
        }),
      code: "bad_request",
    },
  ]) {
    it(`${name}: its receiver responds, in its own shape and under its own id`, async () => {
      const { clock, told, shared } = setUpFace();
      const pending = exchange(postRequest("/v1/messages", body()), shared);
      await clock.advance(DEFAULT_LIMITS.bodyTimeoutMs + 1_000);
      const response = await pending;
      assert.equal(response.headers.get("x-request-id"), "the request's id");
      assert.equal(((await response.json()) as { type: string }).type, "error");
      assert.deepEqual(told, [`refuse ${code}`]);
    });
  }

  it("for it was read already: its receiver responds", async () => {
    const { told, shared } = setUpFace();
    const request = postRequest("/v1/messages", "{}");
    await request.text();
    const response = await exchange(request, shared);
    assert.equal(response.headers.get("x-request-id"), "the request's id");
    assert.deepEqual(told, ["refuse internal_error"]);
  });

  it("nor has a head that can be read: there is no receiver, and the response has an id of its own", async () => {
    const { told, shared } = setUpFace();
    const headers = { "x-long": "a".repeat(DEFAULT_LIMITS.headBytes) };
    const response = await exchange(postRequest("/v1/messages", "{}", { headers }), shared);
    assert.equal(response.status, 431);
    assert.equal(response.headers.get("x-request-id"), "not a request's id");
    assert.deepEqual(told, []);
  });
});
