import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { startMockReplica } from "../../apps/lab/mock/replica.ts";
import { killAll, run, signalbox, until } from "../support/cli.ts";
import { startTestRouter } from "../support/router.ts";

const folder = mkdtempSync(join(tmpdir(), "signalbox-replay-"));
let replicas: Awaited<ReturnType<typeof startMockReplica>>[];
let router: Awaited<ReturnType<typeof startTestRouter>>;
let url: string;

before(async () => {
  replicas = await Promise.all([1, 2].map(() => startMockReplica({ model: "base", timeScale: 0 })));
  router = await startTestRouter(replicas.map((replica) => replica.url));
  url = `http://127.0.0.1:${router.port}`;
});
after(async () => {
  killAll();
  await router.close();
  await Promise.all(replicas.map((replica) => replica.close()));
  rmSync(folder, { recursive: true });
});

let files = 0;
function write(lines: readonly object[]): string {
  const file = join(folder, `trace-${++files}.jsonl`);
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  return file;
}

/** A line of the access log. */
const logged = (second: number, more: object = {}) => ({
  time: new Date(Date.UTC(2030, 0, 1, 0, 0, second)).toISOString(),
  ...{
    method: "POST",
    path: "/v1/chat/completions",
    status: 200,
    model: "base",
    endpoint: "gone",
    durationMs: 0,
    firstByteMs: 80,
  },
  ...{ requestBytes: 400, responseBytes: 900, stream: true, promptTokens: 64, outputTokens: 4 },
  ...more,
});
const mooncake = (timestamp: number) => ({ timestamp, input_length: 600, output_length: 2, hash_ids: [0, timestamp + 1] });

interface Report {
  readonly sent: number;
  readonly good: number;
  readonly statuses: Readonly<Record<string, number>>;
  readonly firstByteMs: { readonly p99: number } | null;
  readonly recordedFirstByteMs: { readonly p50: number } | null;
  readonly placed: number;
  readonly samePlace: number;
  readonly endpoints: Readonly<Record<string, { readonly recorded: number; readonly now: number }>>;
}

async function replays(lines: readonly object[], ...argv: string[]) {
  const { code, out, err } = await run("replay", write(lines), "--url", url, "--speed", "1000", "--json", ...argv);
  return { code, err, report: JSON.parse(out || "{}") as Report };
}

describe("signalbox replay", { timeout: 60_000 }, () => {
  it("sends an access log's requests to the API that they asked, and compares with what is recorded", async () => {
    const paths = ["/v1/chat/completions", "/v1/completions", "/v1/messages", "/v1/responses", "/own/path"];
    const lines = paths.flatMap((path, index) => [logged(index, { path }), logged(index, { path, stream: false })]);
    const { code, report, err } = await replays([...lines, logged(9, { status: 503 })]);
    assert.deepEqual([code, report.sent, report.statuses], [0, 10, { 200: 10 }], err);
    assert.ok(report.firstByteMs !== null && report.recordedFirstByteMs?.p50 === 80);
    assert.deepEqual([report.placed, report.samePlace, report.endpoints["gone"]], [10, 0, { recorded: 10, now: 0 }]);
    const now = Object.values(report.endpoints).reduce((sum, each) => sum + each.now, 0);
    assert.equal(now, 10);
  });

  it("sends prompts of the recorded lengths that begin alike where those did", async () => {
    const { report } = await replays([mooncake(0), mooncake(5_000)]);
    assert.deepEqual([report.good, report.placed], [2, 0]);
    const cached = await replays([
      { ...mooncake(0), hash_ids: [7, 8] },
      { ...mooncake(9_000), hash_ids: [7, 8] },
    ]);
    assert.equal(cached.code, 0);
  });

  it("has no more under way than it may: the others are late, and none is lost", async () => {
    const { report, code } = await replays(
      Array.from({ length: 60 }, (_, index) => mooncake(index)),
      "--connections",
      "2",
    );
    assert.deepEqual([code, report.good], [0, 60]);
  });

  it("counts what is refused, and ends with 1", async () => {
    const { code, report } = await replays([logged(0), logged(1)], "--model", "nobody");
    assert.deepEqual([code, report.statuses], [1, { 404: 2 }]);
  });

  it("gives up what is silent for longer than --timeout, before the response and within it", async () => {
    const silent = createServer((request, response) => {
      if (request.method === "GET") return void response.end('{"data":[{"id":"base"}]}');
      request.resume().once("end", () => request.headers["x-begin"] === "yes" && response.write("data: 1\n\n"));
    });
    await once(silent.listen(0, "127.0.0.1"), "listening");
    const words = ["--url", `http://127.0.0.1:${(silent.address() as AddressInfo).port}`, "--timeout", "0.1"];
    const none = await replays([mooncake(0)], ...words);
    const broken = await replays([mooncake(0)], ...words, "--header", "x-begin:yes");
    silent.closeAllConnections();
    await once(silent.close(), "close");
    assert.deepEqual([none.code, none.report.statuses], [1, { "no response (silent)": 1 }], none.err);
    assert.deepEqual([broken.code, broken.report.statuses], [1, { "200, silent": 1 }], broken.err);
  });

  it("prints tables for people", async () => {
    const { out } = await run("replay", write([logged(0), logged(1)]), "--url", url, "--speed", "1000");
    assert.match(out, /^trace-\d+\.jsonl: 2 of 2 requests sent at 1000 times the recorded pace\nsent late \(p99\): /);
    assert.match(out, /^200 +2$/m);
    assert.match(out, /^as recorded +80 ms +80 ms/m);
    assert.match(out, /^0 of 2 went where they went then\nendpoint/m);
  });

  it("stopped by Ctrl-C, prints how it went so far", async () => {
    const file = write([mooncake(0), mooncake(3_600_000)]);
    const { child, output, ended } = signalbox("replay", file, "--url", url, "--header", "x-request-id: stopped");
    await until(() => router.log.some(({ path, id }) => path === "/v1/completions" && id === "stopped"));
    process.kill(child.pid!, "SIGINT");
    assert.equal(await ended, 1);
    assert.match(output.out, /: 1 of 2 requests sent .*; stopped with 1 not sent and [01] under way/, output.err);
  });

  const REFUSED = [
    { name: "no trace", words: [], code: 2, says: /Name the log to replay/ },
    { name: "a file that is not there", words: ["nowhere.jsonl"], code: 1, says: /There is no file nowhere\.jsonl/ },
    { name: "a speed of 0", words: ["x", "--speed", "0"], code: 2, says: /--speed wants a number/ },
    { name: "an address that is none", words: ["x", "--url", "ftp://a"], code: 2, says: /--url wants the address/ },
    { name: "a header that is none", words: ["x", "--header", "a b"], code: 2, says: /--header wants a name and a value/ },
    { name: "a key's file that is not there", words: ["x", "--key-file", "nowhere"], code: 2, says: /--key-file names a file/ },
  ];
  for (const { name, words, code, says } of REFUSED)
    it(`with ${name} says what to write`, async () => {
      const ended = await run("replay", ...words);
      assert.equal(ended.code, code);
      assert.match(ended.err, says);
    });

  it("says so where nobody listens, and where a file is no trace", async () => {
    const nobody = await run("replay", write([logged(0)]), "--url", "http://127.0.0.1:9");
    assert.deepEqual([nobody.code, /name its address with --url/.test(nobody.err)], [4, true]);
    const none = await run("replay", write([{ a: 1 }]), "--url", url);
    assert.deepEqual([none.code, /a trace has lines like/.test(none.err)], [1, true]);
  });
});
