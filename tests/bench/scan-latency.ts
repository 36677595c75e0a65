/**
 * How long GET /health waits while bodies of 32 MiB are scanned that are slow to scan, and how long each of them takes:
 *
 *     node --import tsx tests/bench/scan-latency.ts     deno run -A tests/bench/scan-latency.ts     bun tests/bench/scan-latency.ts
 */

import { quantile } from "../../core/simulate/metrics.ts";
import { exchange, openClient } from "../support/raw-client.ts";
import { startRouterProcess } from "../support/router-process.ts";
import { answerOk, CHAT } from "../support/scripted-pool.ts";
import { startScriptedReplica } from "../support/scripted-replica.ts";

const BYTES = 32 * 2 ** 20;
const MEMBER = ',"\\u006d":1';
/** Wrong at its end, so that the replica does not get it: what is measured is the scan. */
const body = Buffer.from(`{"messages":[]${MEMBER.repeat(Math.floor((BYTES - 64) / MEMBER.length))}]`);
const atOnce = Number(process.argv[2] ?? 1);

const replica = await startScriptedReplica(answerOk);
const router = await startRouterProcess([replica.url]);
let isOver = false;
const waitsMs: number[] = [];

async function watch(): Promise<void> {
  const client = await openClient(router.port);
  for (let count = 1; !isOver; count++) {
    const fromMs = performance.now();
    client.send("GET /health HTTP/1.1\r\nHost: test\r\n\r\n");
    await client.until((received) => received.split("HTTP/1.1 200").length > count);
    waitsMs.push(performance.now() - fromMs);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  client.destroy();
}

async function upload(): Promise<string> {
  const head = `POST ${CHAT} HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
  const client = await openClient(router.port);
  client.send(head);
  client.send(body);
  const received = await client.until((text) => text.includes("}}"));
  client.destroy();
  return received.slice(0, 12);
}

await exchange(router.port, "GET /health HTTP/1.1\r\nHost: test\r\n\r\n");
const watching = watch();
for (const round of ["cold", "warm", "warm"]) {
  waitsMs.length = 0;
  const fromMs = performance.now();
  const statuses = await Promise.all(Array.from({ length: atOnce }, upload));
  const tookMs = performance.now() - fromMs;
  const sorted = waitsMs.toSorted((a, b) => a - b);
  const runtime = ["deno", "bun"].find((name) => process.versions[name] !== undefined) ?? `node ${process.version}`;
  console.log(
    `${runtime} ${round}: ${atOnce} at once, ${[...new Set(statuses)].join()} after ${tookMs.toFixed(0)} ms; /health waited ` +
      `${quantile(sorted, 0.5).toFixed(1)} ms (median), ${quantile(sorted, 0.99).toFixed(1)} (p99), ${(sorted.at(-1) ?? 0).toFixed(1)} (longest)`,
  );
}
isOver = true;
await watching;
router.kill("SIGKILL");
await replica.close();
process.exit(0);
