import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { RequestReceiver } from "../../../core/contract/slots/decode.ts";
import { intake } from "../../../core/intake/starter.ts";
import { EndpointRecords } from "../../../plugins/features/ejection/endpoint-records.ts";
import { TrafficWatch } from "../../../plugins/features/ejection/traffic-watch.ts";
import { makeEndpoint } from "../../support/endpoints.ts";
import { MemoryParts } from "../../support/memory-parts.ts";
import { RecordedResponse } from "../../support/recorded-response.ts";
import { chunkOf, jsonAnswer, LAST_CHUNK, STREAM_HEAD } from "../../support/scripted-replica.ts";
import { requestHead } from "../../support/wire-heads.ts";

const KIB = 1024;
const EVENT = "data: 1\n\n";
/** All of an error response but its last byte. */
const PARTIAL_ERROR = jsonAnswer('{"error":1}', "500 No").slice(0, -1);
const textBody = (bytes: number) => {
  const frame = '{"model":"base","messages":[{"role":"user","content":""}]}';
  return Buffer.from(frame.replace('""', `"${"x".repeat(bytes - frame.length)}"`));
};
/** Only an error may come before its request is there. */
const REFUSAL_HEAD = "HTTP/1.1 413 Payload Too Large\r\nTransfer-Encoding: chunked\r\n\r\n";
const LARGE = textBody(100 * KIB);

/** Requests over one replica in memory. */
function setUp(memoryBytes = 2 ** 20, endpoints = [makeEndpoint(0)]) {
  const parts = new MemoryParts({ limits: { memoryBytes }, endpoints });
  const start = (bodyLength: number) => {
    const response = new RecordedResponse();
    const head = requestHead(["Content-Type: application/json"], "POST /v1/chat/completions HTTP/1.1");
    return { response, receiver: intake(parts)(head, bodyLength, response, "192.0.2.1") };
  };
  const send = (body = LARGE) => {
    const request = start(body.length);
    give(request.receiver, body);
    request.receiver.bodyEnd();
    return request;
  };
  return { parts, start, send, replica: parts.upstreamOf(endpoints[0]!) };
}

const give = (receiver: RequestReceiver, bytes: Buffer) => receiver.body(bytes, 0, bytes.length);

function assertOverloaded({ status, body, lines }: RecordedResponse): void {
  assert.equal(status, 503);
  assert.match(body, /"code":"overloaded"/);
  assert.match(lines, /retry-after: 1\r\n/);
}

describe("the memory of bodies", () => {
  it("is refused to a body that is announced too large for what is left, before a byte of it", () => {
    const { parts, start } = setUp(1_500 * KIB);
    const first = start(900 * KIB);
    give(first.receiver, textBody(900 * KIB).subarray(0, 800 * KIB));
    assertOverloaded(start(600 * KIB).response);
    assert.equal(start(4 * KIB).response.status, 0);
    first.receiver.clientGone();
    assert.equal(start(600 * KIB).response.status, 0);
    assert.equal(parts.outcomes.at(-1)?.ending, "client-left");
  });

  it("is taken from an upload that stalls", async () => {
    const { parts, start, send } = setUp();
    const stalled = start(900 * KIB);
    give(stalled.receiver, textBody(900 * KIB).subarray(0, 800 * KIB));
    await parts.clock.advance(2_000);
    const next = send(textBody(600 * KIB));
    assertOverloaded(stalled.response);
    assert.equal(parts.outcomes[0]?.error?.code, "overloaded");
    assert.equal(next.response.status, 0);
  });

  it("is refused to a body of unknown length once it has grown too large", () => {
    const { start, parts } = setUp();
    const { receiver, response } = start(-1);
    const bytes = textBody(700 * KIB);
    for (let at = 0; at < bytes.length; at += 64 * KIB) give(receiver, bytes.subarray(at, at + 64 * KIB));
    const other = start(-1);
    for (let at = 0; at < bytes.length; at += 64 * KIB) give(other.receiver, bytes.subarray(at, at + 64 * KIB));
    assert.equal(response.status, 0);
    assertOverloaded(other.response);
    receiver.clientGone();
    assert.equal(parts.gate.memory.bodyBytes, 0);
  });

  it("is free once a body is delivered and the response is under way", () => {
    const { parts, send, replica } = setUp();
    const { response } = send();
    assert.ok(parts.gate.memory.bodyBytes >= LARGE.length);
    replica.send(STREAM_HEAD + chunkOf(EVENT));
    assert.equal(parts.gate.memory.bodyBytes, 0);
    replica.send(chunkOf(EVENT) + LAST_CHUNK);
    assert.equal(response.ending, "end");
    assert.equal(parts.outcomes[0]?.requestBytes, LARGE.length);
    assert.equal(parts.gate.memory.bodyBytes, 0);
  });

  it("of a small body stays until the request ends", () => {
    const { parts, send, replica } = setUp();
    send(textBody(KIB));
    replica.send(STREAM_HEAD + chunkOf(EVENT));
    assert.equal(parts.gate.memory.bodyBytes, 4 * KIB);
    replica.send(LAST_CHUNK);
    assert.equal(parts.gate.memory.bodyBytes, 0);
  });

  it("stays while another replica may get the body", () => {
    const endpoints = [makeEndpoint(0), makeEndpoint(1)];
    const { parts, send, replica } = setUp(2 ** 20, endpoints);
    const { response } = send();
    replica.send(jsonAnswer("{}", "503 No"));
    assert.ok(parts.gate.memory.bodyBytes >= LARGE.length);
    const second = parts.upstreamOf(endpoints[1]!);
    second.send(jsonAnswer("{}"));
    assert.ok(second.socket.takeWritten().toString("latin1").endsWith(LARGE.toString("latin1")));
    assert.equal(response.status, 200);
    assert.equal(parts.gate.memory.bodyBytes, 0);
  });

  it("is free once another replica responds with an error", () => {
    const endpoints = [makeEndpoint(0), makeEndpoint(1)];
    const { parts, send, replica } = setUp(2 ** 20, endpoints);
    send();
    replica.send(jsonAnswer("{}", "503 No"));
    const second = parts.upstreamOf(endpoints[1]!);
    second.send(PARTIAL_ERROR);
    assert.equal(parts.gate.memory.bodyBytes, 0);
    second.send("}");
    assert.equal(parts.gate.memory.bodyBytes, 0);
    assert.equal(parts.outcomes[0]?.status, 500);
  });

  it("is free while a 5xx response is under way", () => {
    const { parts, send, replica } = setUp();
    send();
    replica.send(PARTIAL_ERROR);
    assert.equal(parts.gate.memory.bodyBytes, 0);
  });

  it("stays until the connection of an earlier try is closed", async () => {
    const endpoints = [makeEndpoint(0), makeEndpoint(1)];
    const { parts, send, replica } = setUp(2 ** 20, endpoints);
    send();
    replica.accept();
    replica.socket.unsentBytes = 10;
    replica.send(jsonAnswer("{}", "503 No"));
    const second = parts.upstreamOf(endpoints[1]!);
    second.send(STREAM_HEAD + chunkOf(EVENT));
    assert.ok(parts.gate.memory.bodyBytes >= LARGE.length);
    // A socket says that it is closed in a later turn.
    await Promise.resolve();
    second.send(chunkOf(EVENT));
    assert.equal(parts.gate.memory.bodyBytes, 0);
  });

  it("is free once the rest of the body is sent, although the response began before", () => {
    const { parts, send, replica } = setUp();
    send();
    replica.accept();
    replica.socket.unsentBytes = 10;
    replica.send(REFUSAL_HEAD + chunkOf(EVENT));
    assert.ok(parts.gate.memory.bodyBytes >= LARGE.length);
    replica.socket.unsentBytes = 0;
    replica.send(chunkOf(EVENT));
    assert.equal(parts.gate.memory.bodyBytes, 0);
  });

  it("is free although the client left in the middle", () => {
    const { parts, send } = setUp();
    send().receiver.clientGone();
    assert.equal(parts.gate.memory.bodyBytes, 0);
  });
});

it("a stream that breaks off after its body was freed is still told from another request's", () => {
  const blamed: string[] = [];
  const endpoints = [makeEndpoint(0), makeEndpoint(1)];
  const { parts, send } = setUp(2 ** 20, endpoints);
  const ejector = {
    sent() {},
    ended() {},
    failed: ({ name }: { name: string }) => void blamed.push(name),
    succeeded() {},
    cleared() {},
  };
  const records = new EndpointRecords();
  const traffic = new TrafficWatch({ records, ejector, poolRate: () => 1, endpoints: () => endpoints });
  Object.assign(parts.pool.control, { traffic });
  // The same bytes fail on both endpoints: the second failure is the request's own.
  for (const endpoint of endpoints) {
    parts.config = { ...parts.config, profile: { ...parts.config.profile, picker: onlyPick(endpoint.name) } };
    send();
    parts.upstreamOf(endpoint).send(STREAM_HEAD + chunkOf(EVENT));
    assert.equal(parts.gate.memory.bodyBytes, 0);
    parts.upstreamOf(endpoint).socket.receiveEnd();
  }
  assert.deepEqual(blamed, ["e0"]);
});

function onlyPick(name: string) {
  return {
    name: "p",
    type: "p",
    plugin: { pick: (candidates: readonly { name: string }[]) => candidates.filter((each) => each.name === name) as never },
  };
}
