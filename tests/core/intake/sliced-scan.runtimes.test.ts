import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { intake } from "../../../core/intake/starter.ts";
import { makeEndpoint } from "../../support/endpoints.ts";
import { MemoryParts } from "../../support/memory-parts.ts";
import { RecordedResponse } from "../../support/recorded-response.ts";
import { jsonAnswer } from "../../support/scripted-replica.ts";
import { requestHead } from "../../support/wire-heads.ts";

const KIB = 1024;
const READ_BYTES = 64 * KIB;

const manyMembers = (bytes: number, end = "}") => {
  const member = ',"\\u006d":1';
  const frame = '{"messages":[{"role":"user","content":"hello"}],"model":"base"';
  return Buffer.from(frame + member.repeat(Math.ceil((bytes - frame.length) / member.length)) + end);
};

function setUp(bodyLength = -1) {
  const parts = new MemoryParts({ limits: { bodyBytes: 8 * 1024 * KIB } });
  const response = new RecordedResponse();
  const head = requestHead(["Content-Type: application/json"], "POST /v1/chat/completions HTTP/1.1");
  const receiver = intake(parts)(head, bodyLength, response, "192.0.2.1");
  /** Hands over reads until the body is whole or must wait; returns how many bytes. */
  const give = (body: Buffer, from = 0) => {
    let at = from;
    for (; at < body.length && !response.isBodyHeld; at += READ_BYTES)
      receiver.body(body, at, Math.min(body.length, at + READ_BYTES));
    return Math.min(at, body.length);
  };
  /** Turns of the event loop until nothing is left to do; returns how many. */
  const turnAll = () => {
    let turns = 0;
    for (; parts.turns.length > 0; turns++) parts.turns.shift()?.();
    return turns;
  };
  return { parts, response, receiver, give, turnAll, replica: parts.upstreamOf(makeEndpoint(0)) };
}

describe("a body", () => {
  it("of some hundred KB is scanned while it is read", () => {
    const { parts, receiver, give, replica, response } = setUp();
    give(manyMembers(200 * KIB));
    receiver.bodyEnd();
    assert.equal(parts.turns.length, 0);
    replica.send(jsonAnswer("{}"));
    assert.equal(response.status, 200);
  });

  for (const bodyLength of [-1, manyMembers(900 * KIB).length]) {
    it(`of more is scanned in turns of its own, and sent when that is done (${bodyLength < 0 ? "no " : ""}length)`, () => {
      const { parts, receiver, give, replica, response, turnAll } = setUp(bodyLength);
      const body = manyMembers(900 * KIB);
      assert.equal(give(body), body.length);
      assert.ok(parts.turns.length > 0);
      receiver.bodyEnd();
      assert.equal(replica.sockets.length, 0, "not sent yet");
      turnAll();
      replica.send(jsonAnswer("{}"));
      assert.equal(response.status, 200);
      assert.ok(replica.socket.takeWritten().toString("latin1").endsWith(body.toString("latin1")));
      assert.equal(parts.outcomes[0]?.requestBytes, body.length);
      assert.equal(parts.gate.memory.bodyBytes, 0);
    });
  }

  it("that comes faster than it is scanned has to wait, and goes on", () => {
    const { receiver, give, response, turnAll, replica } = setUp();
    const body = manyMembers(4 * 1024 * KIB);
    let at = 0;
    let waits = 0;
    while (at < body.length) {
      at = give(body, at);
      if (at === body.length) break;
      waits += 1;
      turnAll();
      assert.equal(response.isBodyHeld, false);
    }
    assert.ok(waits >= 3, `${waits} waits`);
    receiver.bodyEnd();
    turnAll();
    replica.send(jsonAnswer("{}"));
    assert.equal(response.status, 200);
  });

  it("that is wrong is refused, and the host reads on", () => {
    const { parts, receiver, give, response, turnAll } = setUp();
    give(manyMembers(2 * 1024 * KIB, "]"));
    assert.ok(response.isBodyHeld);
    receiver.body(Buffer.from("}}"), 0, 2);
    receiver.bodyEnd();
    turnAll();
    assert.equal(response.isBodyHeld, false);
    assert.equal(parts.gate.memory.bodyBytes > 0, response.status === 0);
  });

  const wrong: readonly (readonly [name: string, body: Buffer])[] = [
    ["in the middle", Buffer.concat([manyMembers(400 * KIB, ""), Buffer.from(",]"), manyMembers(100 * KIB)])],
    ["at its end", manyMembers(400 * KIB, "]")],
    ["because it breaks off", manyMembers(400 * KIB, "")],
  ];
  for (const [name, body] of wrong) {
    it(`that is wrong ${name} gets 400, once`, () => {
      const { parts, receiver, give, response, turnAll } = setUp();
      give(body);
      receiver.bodyEnd();
      turnAll();
      assert.equal(response.status, 400);
      assert.match(response.body, /"code":"invalid_json"/);
      assert.equal(parts.outcomes.length, 1);
      assert.equal(parts.gate.memory.bodyBytes, 0);
    });
  }

  it("whose client leaves meanwhile frees everything", () => {
    const { parts, receiver, give, turnAll, replica } = setUp();
    give(manyMembers(900 * KIB));
    receiver.bodyEnd();
    receiver.clientGone();
    assert.equal(parts.gate.memory.bodyBytes, 0);
    assert.equal(parts.outcomes[0]?.ending, "client-left");
    turnAll();
    assert.equal(replica.sockets.length, 0);
    assert.equal(parts.outcomes.length, 1);
  });
});
