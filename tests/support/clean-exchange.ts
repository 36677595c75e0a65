import assert from "node:assert/strict";
import { type CleanRequest, takeCleanRequest } from "./clean-request.ts";
import { exchange, readAnswer } from "./raw-client.ts";
import type { TestRouter } from "./router.ts";
import type { ScriptedReplica } from "./scripted-replica.ts";

/** A POST to the chat path with these header lines (as latin1), framed by a length. */
export function chatRequest(lines: readonly string[], body: Buffer | string): Buffer {
  const bytes = Buffer.from(body);
  const head = ["POST /v1/chat/completions HTTP/1.1", "Host: test", ...lines, `Content-Length: ${bytes.length}`, "", ""];
  return Buffer.concat([Buffer.from(head.join("\r\n"), "latin1"), bytes]);
}

/** Sends one request over sockets and returns the answer with what came of it at the replica. */
export async function exchangeCleanly(router: TestRouter, replica: ScriptedReplica, request: Buffer) {
  const before = replica.requests.length;
  const answer = readAnswer(await exchange(router.port, request));
  return { answer, received: cleanRequests(replica, before) };
}

/** The requests a replica got since it had `from` of them, put through the strict parser byte for byte. */
export function cleanRequests(replica: ScriptedReplica, from: number): CleanRequest[] {
  assert.equal(replica.unreadBytes, 0, "bytes beyond the last request");
  return replica.requests.slice(from).map(({ head, body }) => {
    const taken = takeCleanRequest(Buffer.concat([Buffer.from(head, "latin1"), body]));
    assert.ok(taken !== undefined && taken.rest.length === 0, "not exactly one clean request");
    return taken.request;
  });
}
