import { createServer, request as httpRequest, type IncomingMessage } from "node:http";
import { Duplex } from "node:stream";

/** One message as `node:http` read it. */
interface NodeMessage {
  /** "METHOD target" of a request, "status reason" of a response. */
  readonly start: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** As latin1. */
  body: string;
}

export interface NodeVerdict {
  /** Those that were read to their end. */
  readonly messages: readonly NodeMessage[];
  readonly isRefused: boolean;
}

/** A connection in memory: the other side's bytes are pushed into it. */
class MemoryDuplex extends Duplex {
  /** What was written to the other side, as latin1. */
  written = "";

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.written += chunk.toString("latin1");
    done();
  }
}

/** What a strict `node:http` server makes of a connection's bytes. */
export async function nodeRequests(pieces: readonly Buffer[]): Promise<NodeVerdict> {
  const read: { readonly message: NodeMessage; readonly source: IncomingMessage }[] = [];
  let isRefused = false;
  const server = createServer({ insecureHTTPParser: false, requireHostHeader: true }, (source, response) => {
    read.push({ message: follow(source, `${source.method} ${source.url}`), source });
    source.on("end", () => response.end());
  });
  // With a listener of its own the server leaves the socket open, so that what was read before can still be looked at.
  server.on("clientError", () => {
    isRefused = true;
  });
  const socket = new MemoryDuplex();
  socket.on("error", () => {});
  server.emit("connection", socket);
  for (const piece of pieces) {
    if (!socket.destroyed) socket.push(piece);
    await settled();
  }
  const complete = read.filter(({ source }) => source.complete).map(({ message }) => message);
  // Without a Host the server answers by itself, in its place; a tunnel it just ends.
  const refusedAt = socket.written.indexOf("HTTP/1.1 400 ");
  const answered = socket.written.slice(0, refusedAt < 0 ? undefined : refusedAt).split("HTTP/1.1 200 ").length - 1;
  const messages = refusedAt < 0 ? complete : complete.slice(0, answered);
  isRefused ||= refusedAt >= 0 || (socket.destroyed && answered === 0);
  socket.destroy();
  server.close();
  return { messages, isRefused };
}

/** What a strict `node:http` client makes of the bytes that answer a POST, after which the connection ends. */
export async function nodeResponse(pieces: readonly Buffer[]): Promise<NodeVerdict> {
  const read: { readonly message: NodeMessage; readonly source: IncomingMessage }[] = [];
  let isRefused = false;
  const socket = new MemoryDuplex();
  const request = httpRequest({
    method: "POST",
    createConnection: () => socket,
    insecureHTTPParser: false,
    headers: { host: "test" },
  });
  request.on("error", () => {
    isRefused = true;
  });
  request.on("response", (source) => {
    source.on("error", () => {});
    read.push({ message: follow(source, `${source.statusCode} ${source.statusMessage}`), source });
  });
  request.end();
  await settled();
  for (const piece of pieces) {
    if (socket.destroyed) break;
    socket.push(piece);
    await settled();
  }
  if (!socket.destroyed) socket.push(null);
  await settled();
  const messages = read.filter(({ source }) => source.complete).map(({ message }) => message);
  request.destroy();
  socket.destroy();
  return { messages, isRefused };
}

function follow(source: IncomingMessage, start: string): NodeMessage {
  const { rawHeaders } = source;
  const headers = rawHeaders.flatMap((name, i) => (i % 2 === 0 ? [[name, rawHeaders[i + 1]!] as const] : []));
  const message = { start, headers, body: "" };
  source.on("data", (chunk: Buffer) => {
    message.body += chunk.toString("latin1");
  });
  return message;
}

/** Streams hand on what they got within a few turns. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}
