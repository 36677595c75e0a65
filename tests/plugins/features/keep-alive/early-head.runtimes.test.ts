import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { RouterError } from "../../../../core/contract/errors.ts";
import { respondWithError } from "../../../../core/errors/error-response.ts";
import { stopping } from "../../../../core/errors/upstream-errors.ts";
import { Deadlines } from "../../../../core/wire/deadlines.ts";
import { EarlyHead } from "../../../../plugins/features/keep-alive/early-head.ts";
import { refusalEvent } from "../../../../plugins/features/keep-alive/refusal-event.ts";
import { MemoryParts, makeRun } from "../../../support/memory-parts.ts";
import type { RecordedResponse } from "../../../support/recorded-response.ts";

const COMMENT = ": keep-alive\n\n";
const SETTINGS = { beforeHeadMs: 100, periodMs: 1_000, paths: [] };
const STREAM = "Content-Type: text/event-stream\r\n";

function setUp() {
  const parts = new MemoryParts();
  const run = makeRun(parts, "{}");
  const response = run.response as RecordedResponse;
  const deadlines = new Deadlines(parts.clock, 10);
  const failed: RouterError[] = [];
  const owner = {
    admitted() {},
    failed(thrown: unknown) {
      failed.push(thrown as RouterError);
      respondWithError(early, thrown as RouterError, run.dialect, run.ticket.id);
    },
  };
  const early = new EarlyHead(run, owner, SETTINGS, deadlines);
  const write = (text: string) => early.write(Buffer.from(text), [0, Buffer.byteLength(text)], 1, false);
  return { clock: parts.clock, response, early, write, failed };
}

describe("the head before a response", () => {
  it("is sent when the time is over, and comments each period, and nobody sees a start", async () => {
    const { clock, response, early } = setUp();
    await clock.advance(99);
    assert.equal(response.hasStarted, false);
    await clock.advance(21);
    assert.deepEqual([response.status, response.length, response.body], [200, -1, COMMENT]);
    await clock.advance(3 * 1_020);
    assert.equal(response.body, COMMENT.repeat(4));
    assert.equal(early.hasStarted, false);
  });

  it("is not sent any more once a response has started, or the request has ended", async () => {
    for (const end of ["start", "close"] as const) {
      const { clock, response, early } = setUp();
      if (end === "close") early.close();
      else early.start(429, "Too Many", "retry-after: 1\r\n", 0);
      await clock.advance(5_000);
      assert.equal(response.body, "");
      assert.deepEqual([response.status, response.lines], end === "close" ? [0, ""] : [429, "retry-after: 1\r\n"]);
    }
  });

  it("is followed by a stream without further comments", async () => {
    const { clock, response, early, write } = setUp();
    await clock.advance(200);
    early.start(200, "OK", STREAM, -1);
    assert.equal(early.hasStarted, true);
    assert.equal(write("data: 1\n\n"), true);
    response.hasRoom = false;
    assert.equal(write("data: 2\n\n"), false, "a client that takes nothing holds the replica up");
    await clock.advance(5_000);
    early.end();
    assert.equal(response.body, `${COMMENT}data: 1\n\ndata: 2\n\n`);
    assert.equal(response.ending, "end");
  });

  it("is followed by an error that comes in pieces, and by none twice", async () => {
    const { clock, response, early, write } = setUp();
    await clock.advance(200);
    early.start(400, "Bad", "Content-Type: application/json\r\n", 30);
    for (const piece of ['{"error":{"mess', 'age":"no"}}']) write(piece);
    early.start(500, "No", "", 0);
    early.end();
    assert.deepEqual([response.ending, response.lastWords], ["abort", 'data: {"error":{"message":"no"}}\n\n']);
  });

  it("turns what is no stream into a failure of the request, once all of it has come", async () => {
    const { clock, response, early, write, failed } = setUp();
    await clock.advance(200);
    early.start(200, "OK", "Content-Type: application/json\r\n", 2);
    write("{}");
    assert.equal(failed.length, 0);
    early.end();
    assert.deepEqual(
      failed.map(({ code }) => code),
      ["upstream_invalid"],
    );
    assert.match(response.lastWords, /^data: \{"error":\{.*"code":"upstream_invalid"\}\}\n\n$/);
    assert.equal(response.body, COMMENT);
  });

  it("tells the router's own error", async () => {
    const { clock, response, early } = setUp();
    await clock.advance(200);
    respondWithError(early, stopping(), "openai", "a");
    assert.match(response.lastWords, /"code":"shutting_down"/);
  });

  it("gives a client that takes nothing no more than a thousand comments", async () => {
    const { clock, response } = setUp();
    response.hasRoom = false;
    await clock.advance(2_000 * 1_020);
    assert.equal(response.body, COMMENT.repeat(1_000));
  });
});

describe("an error's body as an event", () => {
  const said = '{"error":{"message":"no","type":"t","param":"p","code":7}}';
  const own = '"type":"api_error","param":null,"code":"upstream_invalid"';
  const rows: readonly (readonly [dialect: Parameters<typeof refusalEvent>[2], body: string, event: string])[] = [
    ["openai", said, `data: ${said}\n\n`],
    ["openai", '{ "message" : "no\\n" }', 'data: {"error":{"message":"no\\n"}}\n\n'],
    ["openai", '{"error":"no"}', 'data: {"error":{"message":"no","type":"api_error","param":null,"code":null}}\n\n'],
    [
      "openai",
      "[1]",
      `data: {"error":{"message":"The replica answered with status 500; look for the cause in its log.",${own}}}\n\n`,
    ],
    ["responses", said, `event: error\ndata: {"type":"error","code":7,"message":"no","param":"p",${said.slice(1)}\n\n`],
    [
      "anthropic",
      '{"type":"error","error":{"type":"t","message":"no"}}',
      'event: error\ndata: {"type":"error","error":{"type":"t","message":"no"},"request_id":"a"}\n\n',
    ],
  ];
  for (const [dialect, body, event] of rows)
    it(`${dialect}: ${body}`, () => assert.equal(refusalEvent(500, body, dialect, "a"), event));
});
