/**
 * The fixed upstream: model servers that answer with the same bytes each time, without looking into a body, so that they cost
 * far less than any proxy in front of them. Started by main.ts, which sets the pace of streams; ends when main.ts is gone.
 */
import { Buffer } from "node:buffer";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { readAccepted } from "../../core/runtime/accepted-socket.ts";
import { ASKED_MODEL, EVENT_MARK, type Pace, TARGETS } from "./traffic.ts";

const UPSTREAM_COUNT = 8;
const HEAD_LIMIT_BYTES = 64 * 1024;
/** Only a body this small is asked whether it wants a stream. */
const STREAM_REQUEST_BYTES = 8 * 1024;
const UNSIZED = "A proxy sent a body without content-length; the upstream of the bench wants one.";
/** As JSON.stringify writes it, and as Python's json does. */
const STREAM_FLAGS = ['"stream":true', '"stream": true'].map((text) => Buffer.from(text));
const HEAD_END = Buffer.from("\r\n\r\n");

let pace: Pace = { events: 100, intervalMs: 10 };

const unary = answer(
  JSON.stringify({
    id: "chatcmpl-0123456789",
    object: "chat.completion",
    model: TARGETS[0],
    choices: [
      { index: 0, message: { role: "assistant", content: "A fair place with good soup. ".repeat(28) }, finish_reason: "stop" },
    ],
    usage: { prompt_tokens: 1000, completion_tokens: 200, total_tokens: 1200 },
  }),
);
const models = answer(
  JSON.stringify({
    object: "list",
    data: [ASKED_MODEL, ...TARGETS].map((id) => ({ id, root: id, object: "model", owned_by: "vllm", max_model_len: 1_000_000 })),
  }),
);
const pages: readonly (readonly [path: string, page: Buffer])[] = [
  ["/v1/models", models],
  ["/health", answer("{}")],
  ["/version", answer('{"version":"0.11.0"}')],
  ["/load", answer('{"server_load":0}')],
  ["/v1/loads", answer('{"loads":[]}')],
];
const missing = answer('{"error":"not here"}', "404 Not Found");

const event = chunk(
  `data: {"id":"chatcmpl-0123456789","object":"chat.completion.chunk","model":"${TARGETS[0]}","choices":[{"index":0,"delta":{"content":" word${String.fromCharCode(EVENT_MARK)}"},"finish_reason":null}]}\n\n`,
);
const firstEvent = Buffer.concat([
  Buffer.from(
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nCache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n\r\n",
  ),
  event,
]);
const lastEvent = Buffer.concat([event, chunk("data: [DONE]\n\n"), Buffer.from("0\r\n\r\n")]);

function answer(body: string, status = "200 OK"): Buffer {
  return Buffer.from(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

function chunk(data: string): Buffer {
  return Buffer.from(`${Buffer.byteLength(data).toString(16)}\r\n${data}\r\n`);
}

/** Reads the requests of one connection, a head and then so many bytes of body, and answers each. */
class Connection {
  readonly #socket: Socket;
  #head = "";
  #isInBody = false;
  #bodyLeft = 0;
  #isSmall = false;
  #wantsStream = false;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  receive(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length) at = this.#isInBody ? this.#readBody(bytes, at) : this.#readHead(bytes, at);
  }

  #readHead(bytes: Buffer, at: number): number {
    const heldBytes = this.#head.length;
    const whole = heldBytes === 0 ? bytes.subarray(at) : Buffer.from(this.#head + bytes.toString("latin1", at), "latin1");
    const end = whole.indexOf(HEAD_END);
    if (end < 0 && whole.length > HEAD_LIMIT_BYTES) this.#socket.destroy();
    this.#head = whole.toString("latin1", 0, end < 0 ? whole.length : end);
    if (end < 0) return bytes.length;
    if (/\r\ntransfer-encoding:/i.test(this.#head)) throw new Error(UNSIZED);
    this.#bodyLeft = Number(/\r\ncontent-length: *(\d+)/i.exec(this.#head)?.[1] ?? 0);
    this.#isSmall = this.#bodyLeft <= STREAM_REQUEST_BYTES;
    this.#wantsStream = false;
    this.#isInBody = this.#bodyLeft > 0;
    if (!this.#isInBody) this.#answer();
    return at + end + HEAD_END.length - heldBytes;
  }

  #readBody(bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + this.#bodyLeft);
    if (this.#isSmall && hasStreamFlag(bytes.subarray(at, end))) this.#wantsStream = true;
    this.#bodyLeft -= end - at;
    this.#isInBody = this.#bodyLeft > 0;
    if (!this.#isInBody) this.#answer();
    return end;
  }

  #answer(): void {
    if (this.#wantsStream) stream(this.#socket);
    else this.#socket.write(this.#head.startsWith("POST ") ? unary : page(this.#head));
    this.#head = "";
  }
}

const hasStreamFlag = (body: Buffer) => STREAM_FLAGS.some((flag) => body.includes(flag));

/** Read as the router reads its clients: an upstream that costs much would leave every proxy waiting for it. */
function serve(accepted: Socket): void {
  const socket: Socket = readAccepted(accepted, (bytes) => connection.receive(bytes));
  const connection = new Connection(socket);
  socket.on("error", () => socket.destroy());
}

function page(head: string): Buffer {
  const path = head.split(" ", 2)[1]?.split("?", 1)[0];
  return pages.find(([known]) => known === path)?.[1] ?? missing;
}

/** An interval that has fallen behind doesn't catch up: each event stays a write of its own. */
function stream(socket: Socket): void {
  let left = pace.events - 1;
  const stop = () => {
    clearInterval(timer);
    socket.off("close", stop);
  };
  const timer = setInterval(() => {
    left--;
    socket.write(left === 0 ? lastEvent : event);
    if (left === 0) stop();
  }, pace.intervalMs);
  socket.on("close", stop);
  socket.write(firstEvent);
}

async function listen(): Promise<number> {
  const server = createServer({ noDelay: true, pauseOnConnect: true }, serve);
  await new Promise<void>((resolve) => server.listen({ host: "127.0.0.1", port: 0, backlog: 4096 }, resolve));
  return (server.address() as AddressInfo).port;
}

process.on("disconnect", () => process.exit());
process.on("message", (message: Pace) => {
  pace = message;
});
process.send?.(await Promise.all(Array.from({ length: UPSTREAM_COUNT }, listen)));
