/**
 * What the HTTP/1.1 codec costs, in nanoseconds per call: `node --import tsx tests/bench/wire-codec.ts`,
 * `deno run -A tests/bench/wire-codec.ts` or `bun tests/bench/wire-codec.ts`. Prints the median and the fastest of the rounds.
 */
import { Buffer } from "node:buffer";
import { ChunkedDecoder } from "../../core/wire/chunked.ts";
import { requestLines, responseLines } from "../../core/wire/forwarded-headers.ts";
import { isKeptAlive, requestFraming, responseFraming } from "../../core/wire/framing.ts";
import { HeadParser } from "../../core/wire/head-parser.ts";
import { checkHost } from "../../core/wire/request-target.ts";

const ROUNDS = 15;
const CALLS = 20_000;
const LIMITS = { headBytes: 32 * 1024, headerCount: 128 };

const REQUEST = Buffer.from(
  [
    "POST /v1/chat/completions HTTP/1.1",
    "Host: 127.0.0.1:8080",
    "Connection: keep-alive",
    "Content-Type: application/json",
    "Accept: application/json",
    "User-Agent: OpenAI/JS 6.30.1",
    "X-Stainless-Lang: js",
    "X-Stainless-Retry-Count: 0",
    "Authorization: Bearer sk-0123456789abcdef0123456789abcdef",
    "Accept-Encoding: gzip, deflate",
    "Content-Length: 4096",
    "",
    "",
  ].join("\r\n"),
);
const RESPONSE = Buffer.from(
  [
    "HTTP/1.1 200 OK",
    "date: Fri, 20 Nov 2026 10:00:00 GMT",
    "server: uvicorn",
    "content-type: text/event-stream; charset=utf-8",
    "x-request-id: 0b9f1f3a0b9f1f3a",
    "transfer-encoding: chunked",
    "",
    "",
  ].join("\r\n"),
);
const EVENT = `data: {"id":"cmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":" word"}}]}\n\n`;
const CHUNK = `${EVENT.length.toString(16)}\r\n${EVENT}\r\n`;
const ONE_EVENT = Buffer.from(CHUNK);
const TEN_EVENTS = Buffer.from(CHUNK.repeat(10));
const BIG_DATA = Buffer.from(`10000\r\n${"x".repeat(0x10000)}\r\n`);

const requests = new HeadParser("request", LIMITS);
const responses = new HeadParser("response", LIMITS);
const decoder = new ChunkedDecoder();
/** Keeps results in use, so that no engine drops the work. */
let sink = 0;

const cases: readonly (readonly [name: string, call: () => void])[] = [
  [`request head, ${REQUEST.length} bytes, 10 headers: parse`, () => parse(requests, REQUEST)],
  ["request head: parse, Host, framing, keep-alive, forwarded lines", wholeRequest],
  [`response head, ${RESPONSE.length} bytes, 5 headers: parse`, () => parse(responses, RESPONSE)],
  ["response head: parse, framing, keep-alive, forwarded lines", wholeResponse],
  ["request head in two pieces: parse", () => parseSplit(requests, REQUEST, 200)],
  [`chunked, one event of ${EVENT.length} bytes per read`, () => decode(ONE_EVENT)],
  ["chunked, ten events per read", () => decode(TEN_EVENTS)],
  ["chunked, 64 KiB of data in one chunk", () => decode(BIG_DATA)],
];

function parse(parser: HeadParser, bytes: Buffer): void {
  parser.reset();
  sink += parser.push(bytes, 0) + parser.head.count;
}

function parseSplit(parser: HeadParser, bytes: Buffer, at: number): void {
  parser.reset();
  sink += parser.push(bytes.subarray(0, at), 0) + parser.push(bytes.subarray(at), 0);
}

function wholeRequest(): void {
  parse(requests, REQUEST);
  const { head } = requests;
  checkHost(head);
  sink += requestFraming(head).length + (isKeptAlive(head) ? 1 : 0) + requestLines(head).length;
}

function wholeResponse(): void {
  parse(responses, RESPONSE);
  const { head } = responses;
  sink += responseFraming(head, "POST").length + (isKeptAlive(head) ? 1 : 0) + responseLines(head).length;
}

function decode(bytes: Buffer): void {
  decoder.push(bytes, 0);
  sink += decoder.dataBytes;
}

function nanoseconds(call: () => void): number {
  const startMs = performance.now();
  for (let i = 0; i < CALLS; i++) call();
  return ((performance.now() - startMs) * 1e6) / CALLS;
}

for (const [name, call] of cases) {
  nanoseconds(call);
  const times = Array.from({ length: ROUNDS }, () => nanoseconds(call)).sort((a, b) => a - b);
  console.log(`${times[ROUNDS >> 1]!.toFixed(0).padStart(7)} ns  (fastest ${times[0]!.toFixed(0)})  ${name}`);
}
if (sink === 0) console.log("nothing was read");
