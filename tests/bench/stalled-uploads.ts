/**
 * The memory of `signalbox start` with a budget of 256 MiB while thirty clients each announce a body of 32 MiB, send 31 and stop,
 * whether others are served meanwhile, and what is left when the clients have gone:
 *
 *     node --import tsx tests/bench/stalled-uploads.ts     deno run -A tests/bench/stalled-uploads.ts     bun tests/bench/stalled-uploads.ts
 */
import { exchange, openClient, type RawClient, readAnswer } from "../support/raw-client.ts";
import { startRouterProcess } from "../support/router-process.ts";
import { answerOk, CHAT, chatPost } from "../support/scripted-pool.ts";
import { startScriptedReplica } from "../support/scripted-replica.ts";

const CLIENTS = 30;
const MIB = 2 ** 20;
const ANNOUNCED = 32 * MIB;
const SENT = 31 * MIB;
const ROUND_MS = 250;

const isChunked = process.argv.includes("--chunked");
const piece = Buffer.alloc(MIB, "a");

/** Sends the bulk of a body as fast as the router reads; resolves when it is sent or the connection has ended. */
async function upload(port: number): Promise<RawClient> {
  const client = await openClient(port);
  const framing = isChunked ? "Transfer-Encoding: chunked" : `Content-Length: ${ANNOUNCED}`;
  client.send(`POST ${CHAT} HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n${framing}\r\n\r\n`);
  const data = (bytes: string | Buffer) => {
    if (isChunked) client.send(`${bytes.length.toString(16)}\r\n`);
    client.send(bytes);
    if (isChunked) client.send("\r\n");
  };
  data('{"model":"m","messages":[{"role":"user","content":"');
  for (let sent = 0; sent < SENT && !client.isClosed && client.received === ""; sent += piece.length) {
    data(piece);
    while (client.socket.writableLength > 4 * MIB && !client.isClosed && client.received === "") await pause(5);
  }
  return client;
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const replica = await startScriptedReplica(answerOk);
const router = await startRouterProcess([replica.url], { spec: "  limits: { memoryBytes: 268435456 }" });
let mostBytes = 0;
let served = 0;
let slowestMs = 0;
let isOver = false;

/** One small request after the other, and a look at the memory. */
async function watch(): Promise<void> {
  while (!isOver) {
    const fromMs = performance.now();
    const { status } = readAnswer(await exchange(router.port, chatPost()));
    slowestMs = Math.max(slowestMs, performance.now() - fromMs);
    if (status === 200) served += 1;
    else console.log(`a small request got ${status}`);
    mostBytes = Math.max(mostBytes, router.residentBytes);
    await pause(20);
  }
}

const mib = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`;
for (let i = 0; i < 50; i++) await exchange(router.port, chatPost());
const before = router.residentBytes;
const watching = watch();
const fromMs = performance.now();
const clients = await Promise.all(Array.from({ length: CLIENTS }, () => upload(router.port)));
const uploadMs = performance.now() - fromMs;
await pause(4_000);
const refused = clients.filter(({ received }) => received.startsWith("HTTP/1.1 503 ")).length;
const kept = clients.filter(({ isClosed, received }) => !isClosed && received === "").length;
for (const client of clients) client.destroy();
let after = router.residentBytes;
for (let round = 0; round < 40 && after > before + 64e6; round++) {
  await pause(ROUND_MS);
  after = router.residentBytes;
}
isOver = true;
await watching;
const runtime = Object.keys(process.versions).find((name) => name === "deno" || name === "bun") ?? `node ${process.version}`;
console.log(
  `${runtime}: before ${mib(before)}, most ${mib(mostBytes)}, after ${mib(after)}; refused with 503: ${refused}, kept: ${kept}, ` +
    `uploads took ${uploadMs.toFixed(0)} ms, small requests served ${served}, the slowest in ${slowestMs.toFixed(0)} ms`,
);
router.kill("SIGKILL");
await replica.close();
process.exit(0);
