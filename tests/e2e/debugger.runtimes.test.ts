import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { after, it } from "node:test";
import { programOnThisRuntime } from "../support/own-runtime.ts";
import { exchange, openClient } from "../support/raw-client.ts";
import { waitUntil } from "../support/router.ts";
import { startRouterProcess } from "../support/router-process.ts";

const TIMEOUT = { timeout: 60_000 };
const DEBUGGER_PORT = 9229;
/** Deno listens for the signal half a second after its start, and opens the debugger some milliseconds after the signal. */
const POLLING_MS = 700;
const ROUNDS = 3;

it("SIGUSR1 lets no process of the machine run code in the router", TIMEOUT, async () => {
  const router = await startRouterProcess(["http://127.0.0.1:9"]);
  after(() => router.kill("SIGKILL"));
  await new Promise((resolve) => setTimeout(resolve, POLLING_MS));
  for (let round = 0; round < ROUNDS; round++) {
    router.kill("SIGUSR1");
    assert.ok(!(await runsCode(router.pid, POLLING_MS)), "the debugger was open");
  }
  router.kill("SIGTERM");
  assert.equal((await router.exited).code, 0);
});

it("a Deno that may not call the system says so, and closes the debugger", TIMEOUT, async (t) => {
  if (!("deno" in process.versions)) return t.skip("only Deno opens a debugger whoever listens for SIGUSR1");
  const { command, args } = programOnThisRuntime();
  const [run = "", ...rest] = args;
  const router = spawn(command, [run, "--deny-ffi", ...rest, "start", "--port", "0", "--admin-port", "0", "http://127.0.0.1:9"]);
  after(() => process.kill(router.pid!, "SIGKILL"));
  let log = "";
  router.stderr.on("data", (chunk: Buffer) => {
    log += chunk.toString();
  });
  await waitUntil(() => log.includes("listening on"));
  assert.match(log, /SIGUSR1 opens Deno's debugger for a moment.* with -A, or with --allow-ffi too/);
  await new Promise((resolve) => setTimeout(resolve, POLLING_MS));
  process.kill(router.pid!, "SIGUSR1");
  await waitUntil(() => log.includes("SIGUSR1 is ignored"));
  while (await runsCode(router.pid!, 1));
});

/** Whether code that is sent to a debugger, as soon as one listens, runs in the process with this number. */
async function runsCode(pid: number, forMs: number): Promise<boolean> {
  const end = performance.now() + forMs;
  do {
    const id = await runtimeAtPort().catch(() => undefined);
    if (id === pid) return true;
    if (id === undefined) await new Promise((resolve) => setTimeout(resolve, 1));
  } while (performance.now() < end);
  return false;
}

/** The number of the process that listens for debuggers: it is asked to evaluate it. Sends upgrade and code in one write. */
async function runtimeAtPort(): Promise<number | undefined> {
  const list = await exchange(DEBUGGER_PORT, `GET /json/list HTTP/1.1\r\nHost: 127.0.0.1:${DEBUGGER_PORT}\r\n\r\n`);
  const path = /"webSocketDebuggerUrl": ?"ws:\/\/[^/]+(\/[^"]+)"/.exec(list)?.[1];
  if (path === undefined) return undefined;
  const client = await openClient(DEBUGGER_PORT);
  const code = Buffer.from(JSON.stringify({ id: 1, method: "Runtime.evaluate", params: { expression: "process.pid" } }));
  const lines = `Host: 127.0.0.1:${DEBUGGER_PORT}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13`;
  const head = `GET ${path} HTTP/1.1\r\n${lines}\r\nSec-WebSocket-Key: ${randomBytes(16).toString("base64")}\r\n\r\n`;
  // A text frame with a mask of zeros.
  client.send(Buffer.concat([Buffer.from(head), Buffer.from([0x81, 0x80 | code.length, 0, 0, 0, 0]), code]));
  const answer = await client.until((text) => text.includes('"id":1'));
  client.destroy();
  return Number(/"value":(\d+)/.exec(answer)?.[1]);
}
