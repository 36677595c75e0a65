import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Socket } from "node:net";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { type LogReader, makeLogReader } from "../support/log-reader.ts";
import { onThisRuntime } from "../support/own-runtime.ts";
import { exchange, openClient, readAnswer } from "../support/raw-client.ts";
import { waitUntil } from "../support/router.ts";
import { type RouterProcess, startRouterProcess } from "../support/router-process.ts";
import { chatPost, event, OK, STREAM } from "../support/scripted-pool.ts";
import { chunkOf, LAST_CHUNK, STREAM_HEAD, startScriptedReplica } from "../support/scripted-replica.ts";

const TIMEOUT = { timeout: 90_000 };
/** Each makes a line of more than 560 bytes: together more than 2 MiB. */
const REQUESTS = 4_000;
const PIPELINED = 100;
const LONG_REQUEST = `GET /${"p".repeat(250)} HTTP/1.1\r\nHost: test\r\nx-request-id: ${"i".repeat(64)}\r\n\r\n`;
/** A busy loop takes all of a second, or half of it on a busy machine; a router without requests a few hundredths. */
const MOST_IDLE_CPU_MS = 250;

interface SetUp {
  readonly router: RouterProcess;
  readonly stdout: LogReader;
  readonly stderr: LogReader;
  readonly streams: readonly Socket[];
  /** What /metrics says of dropped lines. */
  dropped(): Promise<number>;
}

const PRINTING = join(import.meta.dirname ?? ".", "..", "support", "printing-scorer.ts");

/** A router whose two outputs the test reads, or does not. */
async function setUp(spec = ""): Promise<SetUp> {
  const streams: Socket[] = [];
  const replica = await startScriptedReplica((request, socket) => {
    if (!request.body.includes(STREAM)) return void socket.write(OK);
    socket.write(STREAM_HEAD + chunkOf(event(1)));
    streams.push(socket);
  });
  const [stdout, stderr] = [makeLogReader(), makeLogReader()];
  let greeting = "";
  const noted: LogReader = {
    ...stderr,
    read() {
      const text = stderr.read();
      greeting += text;
      return text;
    },
  };
  const router = await startRouterProcess([replica.url], { admin: "{ port: 0 }", spec, stdout, stderr: noted });
  after(async () => {
    router.kill("SIGKILL");
    await router.exited;
    stdout.close();
    stderr.close();
    await replica.close();
  });
  await waitUntil(() => noted.read() === "" && greeting.includes('/metrics"}\n'));
  const adminPort = Number(/Metrics: http:\/\/[^ ]+:(\d+)\/metrics/.exec(greeting)?.[1]);
  const dropped = async () => {
    const page = await exchange(adminPort, "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    return Number(/^signalbox_log_dropped_total (\d+)$/m.exec(page)?.[1]);
  };
  return { router, stdout, stderr, streams, dropped };
}

/** Makes more access log than a pipe and the router's own queue hold. */
async function fillLog({ port }: RouterProcess): Promise<void> {
  for (let sent = 0; sent < REQUESTS; sent += PIPELINED) {
    const client = await openClient(port);
    client.send(LONG_REQUEST.repeat(PIPELINED));
    await client.until((text) => text.split("HTTP/1.1 404 ").length > PIPELINED);
    assert.ok(!client.isClosed);
    client.destroy();
  }
}

async function assertServes({ port }: RouterProcess): Promise<void> {
  for (let i = 0; i < 5; i++) assert.equal(readAnswer(await exchange(port, chatPost())).status, 200);
}

async function assertIdle(router: RouterProcess): Promise<void> {
  const before = router.cpuMs;
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const used = router.cpuMs - before;
  assert.ok(used < MOST_IDLE_CPU_MS, `${used} ms of CPU time in a second without requests`);
}

async function assertStops(router: RouterProcess): Promise<void> {
  router.kill("SIGTERM");
  assert.equal((await router.exited).code, 0);
}

/** Reads on until `isEnough`. */
async function readUntil(reader: LogReader, isEnough: (text: string) => boolean): Promise<string> {
  let text = "";
  await waitUntil(() => {
    for (let more = reader.read(); more !== ""; more = reader.read()) text += more;
    return isEnough(text);
  });
  return text;
}

describe("the reader of the standard output", () => {
  it("stalls: requests are served, lines are dropped and counted; when it reads again, lines are whole", TIMEOUT, async () => {
    const { router, stdout, dropped } = await setUp();
    await fillLog(router);
    await waitFor(dropped, (count) => count > 0);
    await assertServes(router);
    await assertIdle(router);
    const count = await dropped();
    assert.ok(count > 1_000 && count < REQUESTS, `${count} lines were dropped`);

    const text = await readUntil(stdout, (read) => read.includes("Lines are missing here"));
    const lines = text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { message?: string; lines?: number });
    const notices = lines.filter(({ message }) => message !== undefined);
    assert.equal(notices.length, 1);
    assert.equal(notices[0]?.lines, await dropped());
    assert.equal(lines.length - 1 + count, REQUESTS + 5);

    await assertServes(router);
    await readUntil(stdout, (read) => read.split("\n").filter((line) => line.includes('"status":200')).length === 5);
    assert.equal(await dropped(), notices[0]?.lines);
    await assertStops(router);
  });

  it("stalls to the end: SIGTERM ends the program all the same", TIMEOUT, async () => {
    const { router } = await setUp();
    await fillLog(router);
    await assertStops(router);
  });

  it("goes away: that is logged once, requests are served, lines are counted", TIMEOUT, async () => {
    const { router, stdout, stderr, dropped } = await setUp();
    stdout.close();
    await assertServes(router);
    await waitFor(dropped, (count) => count === 5);
    const log = await readUntil(stderr, (text) => text.includes("access log lines are lost"));
    await assertServes(router);
    await waitFor(dropped, (count) => count === 10);
    await assertIdle(router);
    await assertStops(router);
    assert.equal((log + stderr.read()).split("\n").filter((line) => line.includes('"level":"error"')).length, 1);
  });
});

it(
  "a plugin that prints itself to readers that have stalled stops nobody, and what it prints is dropped and counted",
  TIMEOUT,
  async () => {
    const spec = `  plugins: [ { from: "${PRINTING}" } ]\n  profiles: [ { name: default, plugins: [ { pluginRef: printing } ] } ]`;
    const { router, stdout, stderr, dropped } = await setUp(spec);
    for (let round = 0; round < 8; round++) await assertServes(router);
    await waitFor(dropped, (count) => count > 100);
    const errors = await readUntil(stderr, (text) => text.includes("Lines are missing here"));
    for (const words of ["log ppp", "┌──", "stdout ppp", "error ppp", "stderr ppp"])
      assert.ok(Buffer.from(errors, "latin1").toString().includes(words), words);
    await assertServes(router);
    // The standard output is for whoever reads the access log as JSON.
    const out = await readUntil(stdout, (text) => text.split("\n").length > 45);
    for (const line of out.trimEnd().split("\n")) assert.equal((JSON.parse(line) as { status: number }).status, 200);
    await assertStops(router);
  },
);

describe("the reader of the standard error", () => {
  it("goes away: requests are served", TIMEOUT, async () => {
    const { router, stdout, stderr, dropped } = await setUp();
    stderr.close();
    router.kill("SIGHUP");
    await waitFor(dropped, (count) => count > 0);
    router.kill("SIGHUP");
    await assertServes(router);
    await readUntil(stdout, (text) => text.includes('"status":200'));
    await assertIdle(router);
    await assertStops(router);
  });

  it("goes away, and that of the standard output too: requests are served", TIMEOUT, async () => {
    const { router, stdout, stderr, dropped } = await setUp();
    stdout.close();
    stderr.close();
    await assertServes(router);
    // The access log lines and the message that they are lost.
    await waitFor(dropped, (count) => count === 6);
    await assertServes(router);
    await assertIdle(router);
    await assertStops(router);
  });
});

it("a full disk behind the standard output is logged once, and SIGTERM still ends the program", TIMEOUT, async () => {
  const { command, args } = onThisRuntime(join(import.meta.dirname ?? ".", "..", "..", "apps", "cli", "main.ts"));
  const words = [command, ...args, "start", "--port", "0", "--admin-port", "0", "http://127.0.0.1:9"];
  const router = spawn("/bin/sh", ["-c", 'exec "$0" "$@" >/dev/full', ...words], { stdio: ["ignore", "ignore", "pipe"] });
  after(() => router.kill("SIGKILL"));
  let log = "";
  router.stderr.on("data", (chunk: Buffer) => {
    log += chunk.toString();
  });
  await waitUntil(() => log.includes("listening on"));
  await exchange(
    Number(/listening on http:\S+:(\d+)/.exec(log)?.[1]),
    "GET / HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n",
  );
  await waitUntil(() => log.includes("is full"));
  // The router tries again every 50 ms.
  await new Promise((resolve) => setTimeout(resolve, 300));
  process.kill(router.pid!, "SIGTERM");
  const [code] = (await once(router, "exit")) as [number | null];
  assert.equal(code, 0);
  assert.equal(log.split("The disk of the standard output is full").length, 2);
  assert.match(log, /ENOSPC|No space left/);
});

it("SIGHUP, SIGUSR1, SIGUSR2, SIGQUIT and SIGPIPE change nothing for an open stream", TIMEOUT, async () => {
  const { router, stderr, streams } = await setUp();
  const client = await openClient(router.port);
  client.send(chatPost(STREAM));
  await client.until((text) => text.includes(event(1)));
  let n = 1;
  const told = {
    SIGHUP: "The config was read again: nothing in it is different",
    // Deno opens a debugger before it calls who listens, so there the system throws the signal away.
    SIGUSR1: "deno" in process.versions ? "" : "SIGUSR1 is ignored",
    SIGUSR2: "SIGUSR2 is ignored",
    SIGQUIT: "SIGQUIT is ignored",
  } as const;
  for (const signal of ["SIGHUP", "SIGUSR1", "SIGUSR2", "SIGQUIT"] as const) {
    for (let i = 0; i < 2; i++) {
      router.kill(signal);
      await readUntil(stderr, (text) => text.includes(told[signal]));
      n += 1;
      streams[0]!.write(chunkOf(event(n)));
      await client.until((text) => text.includes(event(n)));
      assert.ok(!client.isClosed);
    }
  }
  router.kill("SIGPIPE");
  await assertServes(router);
  streams[0]!.write(LAST_CHUNK);
  assert.ok((await client.until((text) => text.endsWith(LAST_CHUNK))).endsWith(LAST_CHUNK));
  await assertStops(router);
});

async function waitFor(count: () => Promise<number>, isEnough: (count: number) => boolean): Promise<void> {
  for (let round = 0; round < 200; round++) {
    if (isEnough(await count())) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.fail(`It stays at ${await count()}`);
}
