/** Metrics at another port of the replica's host, as with a side-car on the port that serves, and TLS to the metrics alone. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, describe, it } from "node:test";
import { certificateFolder, makeAuthority } from "../support/certificates.ts";
import { collectedLog } from "../support/collected-log.ts";
import { startTestRouter, waitUntil } from "../support/router.ts";
import { answerOk } from "../support/scripted-pool.ts";
import { startScriptedReplica } from "../support/scripted-replica.ts";
import { startTlsFront } from "../support/tls-front.ts";

const TIMEOUT = { timeout: 30_000 };
process.env["SIGNALBOX_TEST_KEY"] = "replica-key";

const folder = certificateFolder();
const authority = makeAuthority("authority.test");
writeFileSync(folder.at("ca.crt"), authority.cert);
writeFileSync(folder.at("other.crt"), makeAuthority("other.test").cert);
const shown = authority.issue({ names: ["127.0.0.1"] });
const clients = makeAuthority("clients.test");
folder.write("client", clients.issue({ names: ["router.test"] }));
after(() => folder.remove());

const STATS = 'vllm:num_requests_waiting{engine="0"} 7\n';

/** An engine's own port for metrics; it notes the keys that it is shown. */
async function startMetrics() {
  const keys = new Set<string | undefined>();
  const server = createServer((request, response) => {
    keys.add(request.headers.authorization);
    response.end(request.url === "/stats" ? STATS : "");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { keys, port: (server.address() as AddressInfo).port };
}

/** A replica that has its numbers at its own port, and notes the keys that it is shown there. */
async function startReplica() {
  const keys = new Set<string | undefined>();
  const replica = await startScriptedReplica((request, socket) => {
    if (!request.startLine.startsWith("GET /stats ")) return answerOk(request, socket);
    keys.add(request.headers.get("authorization"));
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${STATS.length}\r\n\r\n${STATS}`);
  });
  after(() => replica.close());
  return { keys, url: replica.url };
}

async function startPool(source: string, pool = "", url?: string) {
  const operatorLog = collectedLog();
  const plugins = `  plugins: [ { type: metrics, parameters: { path: /stats, periodMs: 50, idlePeriodMs: 50, ${source} } } ]\n`;
  const spec = `  pool: { auth: { bearer: env:SIGNALBOX_TEST_KEY }${pool} }\n${plugins}`;
  const router = await startTestRouter([url ?? (await startReplica()).url], { spec, operatorLog });
  after(() => router.close());
  return { waiting: () => router.router.pool.load.waiting[0], operatorLog };
}

describe("a metrics source with a port", () => {
  it("reads that port, and shows it no key", TIMEOUT, async () => {
    const metrics = await startMetrics();
    const { waiting } = await startPool(`port: ${metrics.port}`);
    await waitUntil(() => waiting() === 7);
    assert.deepEqual([...metrics.keys], [undefined]);
  });

  it("speaks TLS to it as to the replica", TIMEOUT, async () => {
    const metrics = await startMetrics();
    const front = await startTlsFront(`http://127.0.0.1:${metrics.port}`, shown);
    after(() => front.close());
    const source = `port: ${new URL(front.url).port}, scheme: https`;
    const trusting = await startPool(source, `, tls: { caFile: ${folder.at("ca.crt")} }`);
    await waitUntil(() => trusting.waiting() === 7);
    const wary = await startPool(source, `, tls: { caFile: ${folder.at("other.crt")} }`);
    await waitUntil(() => wary.operatorLog.lines.some((line) => JSON.stringify(line).includes("numbers can't be read")));
    assert.notEqual(wary.waiting(), 7);
  });
});

describe("a metrics source with TLS settings of its own", () => {
  const ca = (name: string) => `caFile: ${folder.at(name)}`;
  const pair = `certFile: ${folder.at("client.crt")}, keyFile: ${folder.at("client.key")}`;
  const refusals = ({ operatorLog }: Awaited<ReturnType<typeof startPool>>) =>
    operatorLog.lines.filter((line) => line.includes("numbers can't be read"));

  const cases: readonly (readonly [name: string, tls: string, wanted: RegExp | 7, asksClients?: boolean])[] = [
    ["trusts its own authority", ca("ca.crt"), 7],
    ["refuses a certificate of another one, and says so", ca("other.crt"), /certificate of an unknown authority/],
    ["refuses a certificate for another name", `${ca("ca.crt")}, serverName: gpu.test`, /certificate for another name/],
    ["accepts any certificate where it is told to", "insecure: true", 7],
    ["shows its certificate where one is asked for", `${ca("ca.crt")}, ${pair}`, 7, true],
    ["says that its certificate is missing", ca("ca.crt"), /client certificate refused|reset/, true],
  ];
  for (const [name, tls, wanted, asksClients] of cases)
    it(name, TIMEOUT, async () => {
      const metrics = await startMetrics();
      const front = await startTlsFront(`http://127.0.0.1:${metrics.port}`, {
        ...shown,
        ...(asksClients && { ca: clients.cert }),
      });
      after(() => front.close());
      // What the pool says is of the replicas alone.
      const pool = await startPool(`port: ${new URL(front.url).port}, tls: { ${tls} }`, `, tls: { ${ca("other.crt")} }`);
      await waitUntil(() => pool.waiting() === 7 || refusals(pool).length > 0);
      if (wanted === 7) assert.deepEqual([pool.waiting(), [...metrics.keys]], [7, [undefined]]);
      else {
        assert.match(refusals(pool).join("\n"), wanted);
        assert.notEqual(pool.waiting(), 7);
      }
    });

  it("needs no port: the replica's own then gets no key for its numbers", TIMEOUT, async () => {
    const replica = await startReplica();
    const front = await startTlsFront(replica.url, shown);
    after(() => front.close());
    const { waiting } = await startPool(`tls: { ${ca("ca.crt")} }`, ", tls: { insecure: true }", front.url);
    await waitUntil(() => waiting() === 7);
    assert.deepEqual([...replica.keys], [undefined]);
    const wary = await startPool(`tls: { ${ca("other.crt")} }`, ", tls: { insecure: true }", front.url);
    await waitUntil(() => refusals(wary).length > 0);
    assert.match(refusals(wary).join("\n"), /certificate of an unknown authority/);
  });

  it("says what to write where the replica has no TLS", TIMEOUT, async () => {
    const pool = await startPool("tls: { insecure: true }");
    await waitUntil(() => refusals(pool).length > 0);
    assert.match(refusals(pool).join("\n"), /has no TLS: write the metrics' port beside tls, or leave tls out/);
  });
});
