import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import { refusedBy } from "../../../core/forward/unlisted-try.ts";
import { makeEndpoint, makeRequest } from "../../support/endpoints.ts";
import { beginForward, shownTries } from "../../support/forward.ts";
import { chunkOf, jsonAnswer, LAST_CHUNK } from "../../support/scripted-replica.ts";

describe("what a replica does not have, by the body of its 404", () => {
  const PATH = "/v1/completions";
  const rows: readonly (readonly [text: string, target: string, refused: string | undefined])[] = [
    ['{"error":{"message":"The model `v1` does not exist. Valid aliases: tiny.","code":404}}', "v1", "v1"],
    ['{"type":"error","error":{"type":"NotFoundError","message":"The model `v1` does not exist."}}', "v1", "v1"],
    ['{"detail":"No such model: v1."}', "v1", "v1"],
    ['{"message":"v1"}', "v1", "v1"],
    ["no model v1", "v1", "v1"],
    ['{"error":"no model v1"}', "v1", "v1"],
    ['{"error":{"message":"The model `\\u00e9t\\u00e9\\"1\\"` does not exist."}}', 'été"1"', 'été"1"'],
    ['{"error":{"message":"The model `org/v1` does not exist."}}', "org/v1", "org/v1"],
    ['{"error":{"message":"The model `v11` does not exist, nor does v1"}}', "v1", "v1"],
    ['{"error":{"message":"The model `v11` does not exist."}}', "v1", undefined],
    ['{"error":{"message":"The model `my-v1` does not exist."}}', "v1", undefined],
    ['{"error":{"message":"Response with id resp_1 not found."}}', "v1", undefined],
    ['{"detail":"Not Found"}', "detail", PATH],
    ['{"detail":"Not Found"}', "v1", PATH],
    ["<html>Not Found</html>", "v1", PATH],
    ['{"error":null}', "v1", PATH],
    ["null", "v1", PATH],
    ["7", "v1", PATH],
    ["", "v1", PATH],
  ];
  for (const [text, target, refused] of rows)
    it(`${text}: ${refused ?? "none of both"}`, () =>
      assert.equal(refusedBy(text, makeRequest({ target, path: PATH })), refused));
});

const MISSING = '{"error":{"message":"The model `v1` does not exist."}}';
const OTHER = '{"error":{"message":"Response with id resp_1 not found."}}';

/** A try at an endpoint that lists "base" only; a refusal is passed on if `isRelayed`. */
function begin(isRelayed: boolean, endpoint: Endpoint = makeEndpoint(0)) {
  const onDemand = isRelayed ? "asked" : "configured";
  const request = makeRequest({ target: "v1", rule: "food", onDemand, isStream: true });
  const begun = beginForward({ endpoints: [endpoint], request, limits: { retries: 0 } });
  const { load } = begun.parts.pool;
  return { ...begun, standing: () => load.unlisted.at(0, "v1", begun.parts.clock.now())?.standing };
}

const CHUNKED_404 = "HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n";

describe("a try at an endpoint that does not list the target", () => {
  it("counts as a load until its response comes, and then as a sign that the list is out of date", async () => {
    const { parts, upstream, standing, ends } = begin(true);
    assert.equal(standing(), "loading");
    await parts.clock.advance(300);
    upstream.send(jsonAnswer("{}"));
    assert.equal(standing(), "served");
    assert.deepEqual(ends, ["complete"]);
    assert.deepEqual(parts.pool.modelChecks, ["e0"]);
    assert.ok(parts.pool.load.unlisted.adapterLoadMs < 2_000);
  });

  it("with 404 for the target makes it rest there; nothing is passed on, and the connection is kept", () => {
    const { parts, upstream, response, standing, ends } = begin(false);
    upstream.send(jsonAnswer(MISSING, "404 Not Found"));
    assert.equal(standing(), "refused");
    assert.deepEqual(ends, ["missed the target"]);
    assert.equal(response.hasStarted, false);
    assert.deepEqual(parts.pool.modelChecks, []);
    assert.equal(parts.pool.load.inFlight[0], 0);
    assert.equal(upstream.sockets.filter(({ destroyed }) => !destroyed).length, 1);
  });

  it("with 404 for the path makes the path rest there, not the target", () => {
    const { parts, upstream, standing, ends } = begin(false);
    upstream.send(jsonAnswer('{"detail":"Not Found"}', "404 Not Found"));
    assert.deepEqual(ends, ["missed the target"]);
    assert.equal(standing(), undefined);
    assert.equal(parts.pool.load.unlisted.at(0, "/v1/chat/completions", 0)?.standing, "refused");
  });

  const passedOn: readonly (readonly [name: string, pieces: readonly string[], body: string, status?: number])[] = [
    ["404 for the target, and no retry is left", [jsonAnswer(MISSING, "404 Not Found")], MISSING],
    ["404 for something else", [jsonAnswer(OTHER, "404 Not Found")], OTHER],
    ["404 without a body, and no retry is left", ["HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"], ""],
    ["404 in chunks that come one by one", [CHUNKED_404, chunkOf(OTHER.slice(0, 9)), chunkOf(OTHER.slice(9)), LAST_CHUNK], OTHER],
    [
      "404 with more than a message, though it names the target",
      [CHUNKED_404, chunkOf("v1 ".repeat(2_000)), chunkOf("v1 ".repeat(2_000)), chunkOf("end"), LAST_CHUNK],
      `${"v1 ".repeat(4_000)}end`,
    ],
    ["500", [jsonAnswer("{}", "500 Oh")], "{}", 500],
  ];
  for (const [name, pieces, body, status = 404] of passedOn) {
    it(`${name}: passed on as it is`, () => {
      const { upstream, response, ticket, standing, ends } = begin(true);
      for (const piece of pieces) upstream.send(piece);
      assert.deepEqual([response.status, response.body, response.ending], [status, body, "end"]);
      assert.deepEqual([shownTries(ticket), ends], [[`e0 ${status}`], ["complete"]]);
      assert.notEqual(standing(), "served");
    });
  }

  it("that breaks off inside its 404 has failed", () => {
    const { upstream, response, ends, standing } = begin(true);
    upstream.send(CHUNKED_404);
    upstream.accept().receiveReset();
    assert.deepEqual(ends, ["upstream_reset"]);
    assert.equal(response.hasStarted, false);
    assert.equal(standing(), undefined);
  });

  it("whose client leaves while a 404 is kept back leaves nothing behind", () => {
    const { parts, upstream, forward, standing } = begin(true);
    upstream.send(CHUNKED_404);
    forward.close();
    assert.equal(standing(), undefined);
    assert.equal(parts.pool.load.inFlight[0], 0);
  });

  it("at an endpoint whose replica was replaced meanwhile teaches nothing", () => {
    const { parts, upstream, standing } = begin(true);
    parts.pool.load.replaced(0, false);
    upstream.send(jsonAnswer(MISSING, "404 Not Found"));
    assert.equal(standing(), undefined);
  });

  it("404 for a target that the endpoint lists: the list is out of date, and the client gets the 404", () => {
    const { parts, upstream, response } = begin(true, makeEndpoint(0, { models: ["v1"] }));
    upstream.send(jsonAnswer(MISSING, "404 Not Found"));
    assert.deepEqual(parts.pool.modelChecks, ["e0"]);
    assert.deepEqual([response.status, response.body], [404, MISSING]);
  });
});
