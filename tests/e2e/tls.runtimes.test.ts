/** TLS at the port for clients: who is let in, with which certificate, and what a handshake that does not end costs. */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { connect } from "node:net";
import { after, before, describe, it } from "node:test";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { certificateFolder, makeAuthority, selfSigned } from "../support/certificates.ts";
import { collectedLog } from "../support/collected-log.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { openClient } from "../support/raw-client.ts";
import { startTestRouter, type TestRouter, type TestRouterOptions, waitUntil } from "../support/router.ts";
import { answerOk, chatPost } from "../support/scripted-pool.ts";
import { type ScriptedReplica, startScriptedReplica } from "../support/scripted-replica.ts";
import { askOverTls, openTls } from "../support/tls-client.ts";

const TIMEOUT = { timeout: 30_000 };
const HEALTH = "GET /health HTTP/1.1\r\nHost: x\r\n\r\n";
const OK = "HTTP/1.1 200 OK";

const folder = certificateFolder();
const authority = makeAuthority("authority.test");
const clients = makeAuthority("clients.test");
const strangers = makeAuthority("strangers.test");
folder.write("router", authority.issue({ names: ["router.test", "127.0.0.1"] }));
folder.write("other", authority.issue({ names: ["other.test", "*.wild.test"] }));
folder.write("named", authority.issue({ names: ["whatever.test"] }));
folder.write("clients", { cert: clients.cert, key: "" });
const ROUTER = `certFile: ${folder.at("router.crt")}, keyFile: ${folder.at("router.key")}`;

let replica: ScriptedReplica;
before(async () => {
  replica = await startScriptedReplica(answerOk);
});
after(async () => {
  await replica.close();
  folder.remove();
});

async function start(more = "", options: TestRouterOptions = {}): Promise<TestRouter> {
  const router = await startTestRouter([replica.url], { tls: `{ ${ROUTER}${more} }`, ...options });
  after(() => router.close());
  return router;
}

/** Rejects when the handshake fails or no response comes. */
const health = (port: number, options = {}) => askOverTls(port, HEALTH, options);
const nameOf = (socket: TLSSocket) => socket.getPeerCertificate().subject.CN;

describe("a port with TLS", () => {
  it("serves with TLS 1.2 and 1.3 and a certificate that holds, and offers HTTP/1.1 alone", TIMEOUT, async () => {
    const router = await start();
    for (const version of ["TLSv1.2", "TLSv1.3"] as const) {
      const client = await openTls(router.port, {
        ca: authority.cert,
        servername: "router.test",
        rejectUnauthorized: true,
        minVersion: version,
        maxVersion: version,
        ALPNProtocols: ["h2", "http/1.1"],
      });
      assert.equal(client.socket.getProtocol(), version);
      assert.equal(client.socket.alpnProtocol, "http/1.1");
      client.send(chatPost());
      assert.match(await client.until((received) => received.includes('"Hi"')), /^HTTP\/1\.1 200 /);
      // The connection is kept.
      client.send(HEALTH);
      await client.until((received) => received.split(OK).length === 3);
      client.close();
    }
    await assert.rejects(health(router.port, { ALPNProtocols: ["h2"] }));
  });

  it("refuses versions that are too old", TIMEOUT, async () => {
    const router = await start();
    const client = await openClient(router.port);
    client.send(OLD_HELLO);
    // An alert, or nothing; no ServerHello.
    assert.notEqual((await client.closed()).charCodeAt(0), 0x16);
    const strict = await start(", minVersion: TLSv1.3");
    await assert.rejects(health(strict.port, { maxVersion: "TLSv1.2" }));
    assert.equal(await health(strict.port), OK);
  });

  it("has further certificates, for clients that ask for their names", TIMEOUT, async () => {
    const pair = (name: string) => `certFile: ${folder.at(`${name}.crt`)}, keyFile: ${folder.at(`${name}.key`)}`;
    const router = await start(`, sni: [{ ${pair("other")} }, { ${pair("named")}, names: [Chosen.test] }]`);
    const shown = async (servername: string) => {
      const client = await openTls(router.port, { servername });
      const name = nameOf(client.socket);
      client.close();
      return name;
    };
    const asked = ["other.test", "a.wild.test", "chosen.test", "router.test", "unknown.test", "a.b.wild.test", "whatever.test"];
    const found: string[] = [];
    for (const name of asked) found.push(String(await shown(name)));
    assert.deepEqual(found, [
      "other.test",
      "other.test",
      "whatever.test",
      "router.test",
      "router.test",
      "router.test",
      "router.test",
    ]);
  });

  it("that asks for client certificates serves nobody without a good one", TIMEOUT, async () => {
    const log = collectedLog();
    const router = await start(`, clientCaFile: ${folder.at("clients.crt")}`, { operatorLog: log });
    const served = replica.requests.length;
    const expired = clients.issue({ names: ["late"], hours: -1 });
    const refused = [{}, strangers.issue({ names: ["client"] }), selfSigned({ names: ["client"] }), expired];
    for (const version of ["TLSv1.2", "TLSv1.3"] as const) {
      const limits = { minVersion: version, maxVersion: version };
      for (const certificate of refused) await assert.rejects(askOverTls(router.port, chatPost(), { ...limits, ...certificate }));
      assert.equal(replica.requests.length, served);
      const client = clients.issue({ names: ["client"] });
      assert.equal(await health(router.port, { ...limits, ...client }), OK);
    }
    assert.equal(router.server.handshakeFailures?.["client-certificate"], 8);
    assert.equal(log.lines.filter((line) => line.includes("no certificate that this port accepts")).length, 1);
  });

  it("resumes sessions, with client certificates too", TIMEOUT, async () => {
    const router = await start(`, clientCaFile: ${folder.at("clients.crt")}`);
    const client = clients.issue({ names: ["client"] });
    const first = await openTls(router.port, { ...client, maxVersion: "TLSv1.2" });
    first.send(HEALTH);
    await first.until((received) => received.includes(OK));
    const session = first.socket.getSession();
    first.close();
    assert.ok(session);
    const second = await openTls(router.port, { ...client, maxVersion: "TLSv1.2", session });
    second.send(HEALTH);
    await second.until((received) => received.includes(OK));
    // Deno's client resumes none.
    assert.ok(second.socket.isSessionReused() || process.versions["deno"] !== undefined);
    second.close();
  });

  it("refuses sessions that began with a certificate that it refused", TIMEOUT, async () => {
    const router = await start(`, clientCaFile: ${folder.at("clients.crt")}`);
    const stranger = strangers.issue({ names: ["client"] });
    for (const maxVersion of ["TLSv1.2", "TLSv1.3"] as const) {
      const sessions: Buffer[] = [];
      const socket = connectTls({ port: router.port, host: "127.0.0.1", rejectUnauthorized: false, maxVersion, ...stranger });
      socket.on("session", (session) => void sessions.push(session));
      socket.on("error", () => {});
      socket.once("secureConnect", () => {
        const session = socket.getSession();
        if (session !== undefined) sessions.push(session);
      });
      await new Promise((resolve) => socket.resume().once("close", resolve));
      for (const session of sessions) {
        await assert.rejects(health(router.port, { maxVersion, session }));
        await assert.rejects(health(router.port, { maxVersion, session, ...stranger }));
      }
    }
  });

  it("says so when somebody speaks plain HTTP, once, and goes on", TIMEOUT, async () => {
    const log = collectedLog();
    const router = await start("", { operatorLog: log });
    for (let n = 0; n < 3; n++) {
      const client = await openClient(router.port);
      client.send(HEALTH);
      assert.ok(!(await client.closed()).includes("200"));
    }
    await waitUntil(() => router.server.handshakeFailures?.["not-tls"] === 3);
    const lines = log.lines.filter((line) => line.includes("does not speak TLS"));
    assert.equal(lines.length, 1);
    assert.equal(await health(router.port), OK);
  });

  it("lets go of handshakes that do not end when a head would be late, and counts them as connections", TIMEOUT, async () => {
    const clock = new FakeClock();
    const router = await start("", { clock, ready: 0, spec: "  limits: { perClientConnections: 4, headTimeoutMs: 20s }" });
    const silent = await openClient(router.port);
    const half = await openClient(router.port);
    half.send(OLD_HELLO.subarray(0, 20));
    const slow = await openClient(router.port);
    const idle = await openTls(router.port);
    await waitUntil(() => router.server.connections === 4);
    // A fifth connection of the same client is closed at once.
    await assert.rejects(health(router.port));
    for (const byte of OLD_HELLO.subarray(0, 18)) {
      slow.send(Uint8Array.of(byte));
      await clock.advance(1_000);
    }
    assert.deepEqual([silent.isClosed, half.isClosed, slow.isClosed], [false, false, false]);
    await clock.advance(3_000);
    await Promise.all([silent.closed(), half.closed(), slow.closed(), assert.rejects(idle.until(() => false))]);
    await waitUntil(() => router.server.connections === 0);
    assert.equal(await health(router.port), OK);
  });

  it("lives through whatever comes instead of a handshake, and inside of a connection", TIMEOUT, async () => {
    const router = await start();
    const starts: readonly Uint8Array[] = [
      Buffer.alloc(0),
      Buffer.alloc(70_000, 0x16),
      Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
      Buffer.from([0x16, 0x03, 0x01, 0xff, 0xff, ...new Array<number>(300).fill(1)]), // a record that is too long
      Buffer.from([0x16, 0x03, 0x03, 0, 0]), // an empty one
      Buffer.from([0x15, 0x03, 0x03, 0, 2, 2, 40]), // an alert
      Buffer.from([0x18, 0x03, 0x03, 0, 3, 1, 0xff, 0xff]), // a heartbeat
      Buffer.concat([OLD_HELLO.subarray(0, 30), Buffer.alloc(200, 0xff)]),
      randomBytes(5_000),
      OLD_HELLO.subarray(0, 40),
    ];
    for (const bytes of [...starts, ...starts]) {
      const client = await openClient(router.port);
      client.send(bytes);
      await new Promise((resolve) => setImmediate(resolve));
      client.destroy();
    }
    for (const garbage of starts.slice(1)) {
      const below = connect({ port: router.port, host: "127.0.0.1" });
      const client = await openTls(router.port, { socket: below });
      client.send(HEALTH);
      await client.until((received) => received.includes(OK));
      below.write(garbage);
      client.close();
    }
    await waitUntil(() => router.server.connections === 0);
    assert.equal(await health(router.port), OK);
  });

  it("cuts a stream visibly when its replica breaks off", TIMEOUT, async () => {
    const breaking = await startScriptedReplica((_request, socket) => {
      socket.write("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{", () =>
        setTimeout(() => socket.destroy(), 20),
      );
    });
    after(() => breaking.close());
    const router = await startTestRouter([breaking.url], { tls: `{ ${ROUTER} }` });
    after(() => router.close());
    const client = await openTls(router.port);
    client.send(chatPost());
    await assert.rejects(client.until((received) => received.length > 1_000));
    assert.ok(!client.received.endsWith("}"));
  });

  it("refuses renegotiation", TIMEOUT, async (context) => {
    if (spawnSync("openssl", ["version"]).status !== 0) return context.skip("there is no openssl");
    const router = await start();
    const said = await openssl(["s_client", "-connect", `127.0.0.1:${router.port}`, "-tls1_2"], "R\n");
    assert.match(said, /RENEGOTIATING/);
    assert.match(said, /no renegotiation|handshake failure|unexpected eof/i);
    assert.equal(await health(router.port), OK);
  });
});

/** A ClientHello of TLS 1.1. */
const OLD_HELLO = oldHello();

function oldHello(): Buffer {
  const suites = [0xc0, 0x13, 0xc0, 0x09, 0x00, 0x2f];
  const hello = [0x03, 0x02, ...new Array<number>(32).fill(7), 0, 0, suites.length, ...suites, 1, 0];
  const handshake = [1, 0, 0, hello.length, ...hello];
  return Buffer.from([0x16, 0x03, 0x01, 0, handshake.length, ...handshake]);
}

/** What it prints, given this input after the handshake. */
function openssl(args: readonly string[], input: string): Promise<string> {
  return new Promise((resolve) => {
    const child = spawn("openssl", args);
    let printed = "";
    let isTold = false;
    const read = (chunk: Buffer) => {
      printed += chunk.toString();
      if (isTold || !printed.includes("Verify return code")) return;
      isTold = true;
      child.stdin.write(input);
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.stdin.on("error", () => {});
    child.on("close", () => resolve(printed));
    setTimeout(() => child.kill(), 3_000).unref();
  });
}
