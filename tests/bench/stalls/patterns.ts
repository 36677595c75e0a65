import { Buffer } from "node:buffer";

/** What a hostile client sends at full speed: `head` once for each connection, then `pattern` until it is cut off. */
export interface Attack {
  readonly head: string;
  readonly pattern: string;
  /** Sent once behind so many bytes of the pattern; then the head comes again. */
  readonly end?: { readonly afterBytes: number; readonly bytes: string };
  /** So many bytes go out in one segment; by default as many as the kernel takes. */
  readonly segmentBytes?: number;
}

const POST = "POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n";
const CHUNKED = `${POST}Transfer-Encoding: chunked\r\n\r\n`;
const JSON_HEAD = '2d\r\n{"model":"food-review","messages":[{"role":"u\r\n';
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;

export const CLIENT_ATTACKS: Readonly<Record<string, Attack>> = {
  "chunks of one byte": { head: CHUNKED + JSON_HEAD, pattern: "1\r\nx\r\n" },
  "chunks of one byte to a path that is not there": { head: CHUNKED.replace("chat/", "none/"), pattern: "1\r\nx\r\n" },
  "chunks of 16 bytes": { head: CHUNKED + JSON_HEAD, pattern: `10\r\n${"x".repeat(16)}\r\n` },
  "chunks with extensions": { head: CHUNKED + JSON_HEAD, pattern: "1;a\r\nx\r\n" },
  "sizes with zeros in front": { head: CHUNKED + JSON_HEAD, pattern: "0000000000000001\r\nx\r\n" },
  trailers: {
    head: `${CHUNKED}${JSON_HEAD}`,
    pattern: "1\r\nx\r\n",
    end: { afterBytes: 6_000, bytes: `0\r\n${"a:\r\n".repeat(4_000)}\r\n` },
  },
  "short members": { head: `${POST}Content-Length: 33000000\r\n\r\n{"model":"food-review","x":[`, pattern: "{},1," },
  "empty lines": { head: "", pattern: "\r\n" },
  "short header lines": {
    head: `GET /health HTTP/1.1\r\nHost: a\r\n${"a:\r\n".repeat(90)}\r\n`,
    pattern: `GET /health HTTP/1.1\r\nHost: a\r\n${"a:\r\n".repeat(90)}\r\n`,
  },
  "pipelined /health": { head: "", pattern: get("/health") },
  "pipelined lists of models": { head: "", pattern: get("/v1/models") },
  "pipelined requests of no path": { head: "", pattern: get("/none") },
  "pipelined bodies that are no JSON": { head: "", pattern: `${POST}Content-Length: 1\r\n\r\nx` },
  "pipelined chunked bodies": { head: "", pattern: `${CHUNKED}1\r\n{\r\n1\r\n}\r\n0\r\n\r\n` },
  "segments of one byte": { head: CHUNKED + JSON_HEAD, pattern: "1\r\nx\r\n", segmentBytes: 1 },
};

const answer = (type: string) => `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\nTransfer-Encoding: chunked\r\n\r\n`;
const EVENT = 'data: {"choices":[]}\n\n';
const split = (text: string) => [...text].map((byte) => `1\r\n${byte}\r\n`).join("");

export const REPLICA_ATTACKS: Readonly<Record<string, Attack>> = {
  "an answer in chunks of one byte": { head: answer("application/json"), pattern: "1\r\nx\r\n" },
  "events in chunks of one byte": { head: answer("text/event-stream"), pattern: split(EVENT) },
  "an event without end in chunks of one byte": { head: answer("text/event-stream"), pattern: "1\r\nx\r\n" },
  "lines of one byte": { head: answer("text/event-stream"), pattern: `1000\r\n${"a\n".repeat(2048)}\r\n` },
  "empty lines": { head: answer("text/event-stream"), pattern: `1000\r\n${"\n".repeat(4096)}\r\n` },
  "comments of one byte": { head: answer("text/event-stream"), pattern: `1000\r\n${":\n".repeat(2048)}\r\n` },
  "chunks with extensions": { head: answer("application/json"), pattern: "1;a\r\nx\r\n" },
  "whole events": { head: answer("text/event-stream"), pattern: `16\r\n${EVENT}\r\n` },
};

/** The pattern so often that the sender has little to do. */
export function repeated(pattern: string, bytes: number): Buffer {
  return Buffer.from(pattern.repeat(Math.max(1, Math.floor(bytes / pattern.length))), "latin1");
}
