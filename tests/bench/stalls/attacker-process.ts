/**
 * A hostile client or replica as a process of its own: sends what it is told at full speed. Started by ../stalls.ts; ends when that
 * is gone.
 */
import { Buffer } from "node:buffer";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { type Attack, CLIENT_ATTACKS, REPLICA_ATTACKS, repeated } from "./patterns.ts";

/** What the parent asks for: to attack a port over so many connections, to attack as a replica, or to stop. */
export type Order =
  | { readonly client: string; readonly port: number; readonly connections: number }
  | { readonly replica: string }
  | { readonly stop: true };

const WRITE_BYTES = 256 * 1024;
const sockets = new Set<Socket>();
let sent = 0;
let target: { readonly port: number; readonly attack: Attack } | undefined;
let answer: Attack | undefined;

const models = JSON.stringify({
  object: "list",
  data: ["food-review", "food-review-v1", "food-review-v2"].map((id) => ({ id })),
});
const whole = (body: string) =>
  `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

/** Writes as fast as the socket takes it. */
function pour(socket: Socket, { head, pattern, end, segmentBytes }: Attack): void {
  const block = repeated(pattern, end?.afterBytes ?? segmentBytes ?? WRITE_BYTES);
  const round = end === undefined ? block : Buffer.concat([block, Buffer.from(end.bytes), Buffer.from(head)]);
  const size = segmentBytes ?? round.length;
  let at = 0;
  const more = () => {
    let hasRoom = true;
    while (hasRoom && !socket.destroyed && socket.writable) {
      hasRoom = socket.write(round.subarray(at, at + size));
      sent += Math.min(size, round.length - at);
      at = at + size >= round.length ? 0 : at + size;
      if (segmentBytes !== undefined && at % 512 === 0) return void setImmediate(more);
    }
  };
  socket.on("drain", more);
  socket.write(head);
  more();
}

function attack(): void {
  if (target === undefined) return;
  const { port, attack: what } = target;
  const socket = connect({ port, host: "127.0.0.1", noDelay: what.segmentBytes !== undefined });
  sockets.add(socket);
  socket.on("connect", () => pour(socket, what));
  socket.on("data", () => {});
  socket.on("end", () => socket.destroy());
  socket.on("error", () => socket.destroy());
  socket.on("close", () => {
    sockets.delete(socket);
    attack();
  });
}

const server = createServer((socket) => {
  socket.on("error", () => socket.destroy());
  socket.on("data", (bytes: Buffer) => {
    const text = bytes.toString("latin1");
    if (answer !== undefined && text.startsWith("POST")) pour(socket, answer);
    else for (const _ of text.matchAll(/(GET|POST) \S+ HTTP/g)) socket.write(whole(models));
  });
});

process.on("disconnect", () => process.exit());
process.on("message", (order: Order) => {
  if ("stop" in order) {
    target = undefined;
    answer = undefined;
    for (const socket of sockets) socket.destroy();
    process.send?.(sent);
    sent = 0;
  } else if ("replica" in order) answer = REPLICA_ATTACKS[order.replica];
  else {
    target = { port: order.port, attack: CLIENT_ATTACKS[order.client]! };
    for (let i = 0; i < order.connections; i++) attack();
  }
});
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
