import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { Status } from "../../apps/admin/status.ts";
import type { ShownWorker } from "../../apps/cli/start/workers/group-status.ts";
import { askFor } from "../support/admin.ts";
import { hitShare } from "../support/hit-share.ts";
import { type LogReader, makeLogReader } from "../support/log-reader.ts";
import { poolDocument, rewriteDocument } from "../support/pools.ts";
import { exchange, openClient, postBytes } from "../support/raw-client.ts";
import { type RouterProcess, startRouterProcess } from "../support/router-process.ts";
import { CHAT, OK, STREAM } from "../support/scripted-pool.ts";
import {
  chunkOf,
  LAST_CHUNK,
  type Script,
  type ScriptedReplica,
  STREAM_HEAD,
  startScriptedReplica,
} from "../support/scripted-replica.ts";

type Shown = Status & { readonly workers: readonly ShownWorker[]; readonly shared: { readonly routers: readonly unknown[] } };

const WORKERS = 2;
const STREAMS = 12;

const post = (extra = "", model = "food") =>
  postBytes(CHAT, `{"model":"${model}","messages":[{"role":"user","content":"hello"}]${extra}}`, "Connection: close\r\n");

const targetOf = (answer: string) => /x-signalbox-model: (\S+)/.exec(answer)?.[1] ?? "";

/** A config of these replicas, with a rewrite of "food" to this target. */
const configText = (urls: readonly string[], target: string) => `apiVersion: signalbox/v1
kind: Router
spec:
  admin: { port: 0 }
  pool:
    endpoints: [${urls.map((url, at) => `{ name: r${at}, url: "${url}" }`).join(", ")}]
${rewriteDocument("food", "food", `{ modelRewrite: ${target}, weight: 1 }, { modelRewrite: m, weight: 0 }`)}`;

describe("the workers of one program", { timeout: 170_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-workers-"));
  const file = join(folder, "signalbox.yaml");
  const streams: (() => void)[] = [];
  let replicas: ScriptedReplica[];
  let router: RouterProcess;
  let accessLog: LogReader;

  const script: Script = ({ body }, socket) => {
    if (!body.includes(STREAM)) return void socket.write(OK);
    socket.write(`${STREAM_HEAD}${chunkOf('data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n')}`);
    streams.push(() => void socket.write(`${chunkOf("data: [DONE]\n\n")}${LAST_CHUNK}`));
  };
  const shown = async (worker?: number) => {
    const { status, body } = await askFor(router.adminPort, worker === undefined ? "/status" : `/status?worker=${worker}`);
    assert.equal(status, 200, body);
    return JSON.parse(body) as Shown;
  };
  const each = () => Promise.all(Array.from({ length: WORKERS }, (_, index) => shown(index + 1)));
  const until = async <Value>(read: () => Promise<Value>, isSo: (value: Value) => boolean): Promise<Value> => {
    for (const start = performance.now(); ; ) {
      // A worker that is being started says 404.
      const value = await read().catch(() => undefined);
      if (value !== undefined && isSo(value)) return value;
      await new Promise(setImmediate);
      if (performance.now() - start > 30_000) assert.fail(`${JSON.stringify(value)}\n${router.errors}`);
    }
  };
  const agree = () => until(each, (all) => all.every(({ shared }) => shared.routers.length === WORKERS - 1));
  const change = (method: string, path: string, body: string) =>
    exchange(
      router.adminPort,
      `${method} /api/v1${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
    );
  const counted = async () => {
    const { body } = await askFor(router.adminPort, "/metrics");
    return [...body.matchAll(/^signalbox_requests_total\{.*status="2xx"\} (\d+)$/gm)].reduce(
      (sum, [, count]) => sum + Number(count),
      0,
    );
  };

  before(async () => {
    replicas = await Promise.all([0, 1, 2].map(() => startScriptedReplica(script, ["m", "v1", "v2"])));
    writeFileSync(
      file,
      configText(
        replicas.map(({ url }) => url),
        "v1",
      ),
    );
    accessLog = makeLogReader();
    router = await startRouterProcess([], { config: file, stdout: accessLog, words: ["--workers", String(WORKERS)] });
    await agree();
  });
  after(async () => {
    router.kill("SIGTERM");
    const { code } = await router.exited;
    accessLog.close();
    await Promise.all(replicas.map((replica) => replica.close()));
    rmSync(folder, { recursive: true });
    assert.equal(code, 0);
  });

  it("share the requests, and are shown as one router", async () => {
    const answers = await Promise.all(Array.from({ length: 40 }, () => exchange(router.port, post())));
    const ids = answers.map((answer) => /x-request-id: (\S+)/.exec(answer)?.[1] ?? "");
    const parts = await until(each, (all) => all.reduce((sum, { traffic }) => sum + traffic.requests, 0) === 40);
    assert.ok(parts.every(({ traffic }) => traffic.requests > 0));
    const all = await shown();
    assert.equal(all.traffic.requests, 40);
    assert.equal(
      all.endpoints.reduce((sum, { figures }) => sum + figures.requests, 0),
      40,
    );
    assert.deepEqual(
      all.workers.map(({ state, restarts }) => [state, restarts]),
      [
        ["serving", 0],
        ["serving", 0],
      ],
    );
    assert.equal(await counted(), 40);
    for (const id of ids) assert.equal((await askFor(router.adminPort, `/api/v1/explain/${id}`)).status, 200);
    const { decisions } = JSON.parse((await askFor(router.adminPort, "/decisions")).body) as { decisions: { id: string }[] };
    assert.deepEqual(decisions.map(({ id }) => id).sort(), [...ids].sort());
    let lines = "";
    await until(
      async () => {
        lines += accessLog.read();
        return lines;
      },
      (text) => text.split("\n").length === 41,
    );
    assert.deepEqual(
      lines
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line).id as string)
        .sort(),
      [...ids].sort(),
    );
  });

  it("are drained as one, and tell whoever listens of all requests", async () => {
    const listener = await openClient(router.adminPort);
    listener.send("GET /api/v1/decisions/stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await listener.until((received) => received.split(": listening").length === WORKERS + 1);
    assert.match(await change("POST", "/endpoints/r0/drain", "{}"), /^HTTP\/1\.1 200 /);
    await until(each, (all) => all.every(({ endpoints }) => endpoints[0]?.phase === "draining"));
    await Promise.all(Array.from({ length: 20 }, () => exchange(router.port, post())));
    const told = await listener.until((received) => received.split("data: {").length === 21);
    assert.ok(!told.includes('"endpoint":"r0"'));
    listener.destroy();
    assert.match(await change("POST", "/endpoints/r0/undrain", "{}"), /^HTTP\/1\.1 200 /);
    await until(each, (all) => all.every(({ endpoints }) => endpoints[0]?.phase === "ready"));
  });

  it("take other files together or not at all, without an error of a request", async () => {
    const urls = replicas.map(({ url }) => url);
    let isOver = false;
    const targets = new Set<string>();
    const clients = Array.from({ length: 4 }, async () => {
      while (!isOver) {
        const answer = await exchange(router.port, post());
        assert.match(answer, /^HTTP\/1\.1 200 /);
        targets.add(targetOf(answer));
      }
    });
    const generations = async () => (await each()).map(({ config }) => config.generation);
    const [before = 0] = await generations();
    writeFileSync(file, configText(urls, "v2"));
    router.kill("SIGHUP");
    await until(generations, (all) => all.every((generation) => generation === before + 1));
    await until(
      async () => targets,
      (seen) => seen.has("v2"),
    );
    writeFileSync(file, configText(urls, "v1").replace("weight: 1", "weight: much"));
    const broken = await change("POST", "/config/reload", "{}");
    assert.match(broken, /^HTTP\/1\.1 422 /);
    assert.match(broken, /signalbox\.yaml:\d+:\d+/);
    // It loads, but what it asks for can't be made here.
    writeFileSync(file, configText(urls, "v1").replace("spec:", "spec:\n  conversations: {}"));
    assert.match(await change("POST", "/config/reload", "{}"), /^HTTP\/1\.1 422 (?:.|\r|\n)*start the router without --workers/);
    writeFileSync(file, configText(urls, "v1") + poolDocument("more", [urls[0]!]));
    assert.match(
      await change("POST", "/config/reload", "{}"),
      /^HTTP\/1\.1 422 (?:.|\r|\n)*Pool documents \(more\); wanted none/,
    );
    const all = await until(each, (shown) => shown.every(({ config }) => config.lastReload?.isApplied === false));
    assert.ok(all.every(({ config }) => config.generation === before + 1));
    assert.ok((await shown()).workers.every(({ restarts }) => restarts === 0));
    isOver = true;
    await Promise.all(clients);
  });

  it("keep each other's changes, also in the place of one that is killed, whose connections alone end", async () => {
    assert.match(
      await change("PATCH", "/rewrites/food", '{"targets":[{"modelRewrite":"v2","weight":0},{"modelRewrite":"m","weight":1}]}'),
      /^HTTP\/1\.1 200 /,
    );
    await until(each, (all) => all.every(({ config }) => config.overlay.length === 1));
    streams.length = 0;
    const clients = await Promise.all(Array.from({ length: STREAMS }, () => openClient(router.port)));
    for (const client of clients) client.send(post(STREAM));
    await Promise.all(clients.map((client) => client.until((received) => received.includes("Hi"))));
    const countedBefore = await counted();
    const [first, second] = (await each()).map(({ clientConnections }) => clientConnections) as [number, number];
    assert.equal(first + second, STREAMS);
    const { workers } = await shown();
    process.kill(workers[0]!.pid!, "SIGKILL");
    await until(shown, ({ workers: now }) => now[0]!.restarts === 1 && now[0]!.state === "serving");
    await until(
      async () => clients.filter(({ isClosed }) => isClosed).length,
      (closed) => closed === first,
    );
    // The file on disk can't run: what runs is what ran.
    assert.equal(targetOf(await exchange(router.port, post())), "m");
    await until(each, (all) => all.every(({ config }) => config.overlay.length === 1));
    for (const end of streams) end();
    const answers = await Promise.all(clients.filter(({ isClosed }) => !isClosed).map((client) => client.closed()));
    assert.equal(answers.length, second);
    for (const answer of answers) assert.ok(answer.includes("[DONE]"));
    assert.ok((await counted()) > countedBefore);
  });

  it("find what is cached as one router does", async () => {
    await agree();
    const alone = await startRouterProcess(replicas.map(({ url }) => url));
    const ofOne = await hitShare(replicas, [alone.port], 1);
    alone.kill("SIGTERM");
    await alone.exited;
    const ofAll = await hitShare(replicas, [router.port], 2);
    assert.ok(ofAll >= 0.95 * ofOne, `${ofAll} of all, ${ofOne} of one`);
  });
});
