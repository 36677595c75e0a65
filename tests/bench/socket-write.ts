/**
 * What it costs to pass a small chunk on, read and write together, where the write goes through the socket's stream and where it
 * goes past it (`PlainSocket.send`): `node --import tsx tests/bench/socket-write.ts`, `deno run -A tests/bench/socket-write.ts` or
 * `bun tests/bench/socket-write.ts`. The two ways take turns; printed are the median and the fastest of the rounds.
 */
import { Buffer } from "node:buffer";
import { type AddressInfo, createServer } from "node:net";
import { readAccepted } from "../../core/runtime/accepted-socket.ts";
import { PlainSocket } from "../../core/runtime/plain-socket.ts";
import { median } from "./median.ts";

/** Short rounds: on a busy machine some of them are undisturbed. */
const ROUNDS = 300;
const TURNS = 100;
/** As many streams get a chunk in one turn of the event loop. */
const STREAMS = 16;
const CHUNK = Buffer.from(`data: {"id":"cmpl-1","choices":[{"index":0,"delta":{"content":" word"}}]}`.padEnd(160, " "));

let unread = 0;
let allRead = () => {};
const server = createServer({ pauseOnConnect: true }, (socket) => {
  readAccepted(socket, (bytes) => {
    unread -= bytes.length;
    if (unread === 0) allRead();
  });
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const { port } = server.address() as AddressInfo;
const sockets = await Promise.all(Array.from({ length: STREAMS }, open));

const ways = [
  { name: "through the stream", times: [] as number[], write: (socket: PlainSocket) => void socket.write(CHUNK) },
  { name: "past it", times: [] as number[], write: (socket: PlainSocket) => void socket.send(CHUNK) },
];
for (let round = 0; round < ROUNDS; round++)
  for (const { times, write } of ways) times.push(await microseconds(() => sockets.forEach(write)));
for (const { name, times } of ways)
  console.log(`${median(times).toFixed(2).padStart(7)} us  (fastest ${Math.min(...times).toFixed(2)})  ${name}`);
for (const socket of sockets) socket.destroy();
server.close();

function open(): Promise<PlainSocket> {
  const socket = new PlainSocket();
  return new Promise((resolve) => socket.setNoDelay(true).connect(port, "127.0.0.1", () => resolve(socket)));
}

/** Time per chunk. */
async function microseconds(writeAll: () => void): Promise<number> {
  const startMs = performance.now();
  for (let turn = 0; turn < TURNS; turn++) {
    unread = STREAMS * CHUNK.length;
    const read = new Promise<void>((resolve) => {
      allRead = resolve;
    });
    writeAll();
    await read;
  }
  return ((performance.now() - startMs) * 1000) / (TURNS * STREAMS);
}
