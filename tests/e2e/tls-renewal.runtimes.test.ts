/** Certificates that are renewed while requests are under way, and files that can't be used. */
import assert from "node:assert/strict";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import { askFor } from "../support/admin.ts";
import { type MadeCertificate, makeAuthority } from "../support/certificates.ts";
import { exchange, readAnswer } from "../support/raw-client.ts";
import { configOver, type ReloadingRouter, startReloadingRouter } from "../support/reloading.ts";
import { waitUntil } from "../support/router.ts";
import { answerOk, chatPost, event, STREAM } from "../support/scripted-pool.ts";
import { chunkOf, LAST_CHUNK, type ScriptedReplica, STREAM_HEAD, startScriptedReplica } from "../support/scripted-replica.ts";
import { askOverTls, openTls } from "../support/tls-client.ts";
import { startTlsFront } from "../support/tls-front.ts";

const TIMEOUT = { timeout: 60_000 };
const HEALTH = "GET /health HTTP/1.1\r\nHost: x\r\n\r\n";
const LISTEN = "  listen: { tls: { certFile: router.crt, keyFile: router.key } }\n";
const authority = makeAuthority("authority.test");

let replica: ScriptedReplica;
let isOver = false;
before(async () => {
  // Streams last until the test is over.
  replica = await startScriptedReplica((request, socket) => {
    if (!request.body.includes("stream")) return answerOk(request, socket);
    socket.write(STREAM_HEAD);
    let n = 0;
    const timer = setInterval(() => {
      socket.write(chunkOf(event(n++)));
      if (!isOver) return;
      clearInterval(timer);
      socket.write(LAST_CHUNK);
    }, 20);
    socket.on("close", () => clearInterval(timer));
  });
});
after(() => replica.close());

/** As whoever renews certificates does: one file after the other, each renamed into place. */
function put(router: Pick<ReloadingRouter, "at">, { cert, key }: Partial<MadeCertificate>): void {
  for (const [name, text] of Object.entries({ crt: cert, key })) {
    if (text === undefined) continue;
    writeFileSync(router.at(`new.${name}`), text);
    renameSync(router.at(`new.${name}`), router.at(`router.${name}`));
  }
}

describe("a certificate that is renewed", () => {
  it("is shown to new connections; those that are open go on, and a broken pair changes nothing", TIMEOUT, async () => {
    const pair = (name: string) => authority.issue({ names: [name] });
    const router = await startReloadingRouter(
      { "signalbox.yaml": configOver({ a: replica.url }, LISTEN) },
      { prepare: (at) => put({ at }, pair("first.test")) },
    );
    const { port, adminPort } = router.process;
    const shown = async () => {
      const client = await openTls(port);
      const { CN } = client.socket.getPeerCertificate().subject;
      client.close();
      return CN;
    };
    const metric = async (name: string) =>
      new RegExp(`^signalbox_tls_${name}{port="listen",file=".*router.crt"} (.*)$`, "m").exec(
        (await askFor(adminPort, "/metrics")).body,
      )?.[1];
    const untilGeneration = async (wanted: number) => (await router.untilGeneration(wanted)).warnings;
    assert.equal(await shown(), "first.test");
    assert.ok(Math.abs(Number(await metric("certificate_expiry_time_seconds")) * 1000 - Date.now() - 86_400_000) < 3_600_000);

    const stream = await openTls(port);
    stream.send(chatPost(STREAM));
    await stream.until((received) => received.includes('"n":1'));
    // New connections all the time.
    let asked = 0;
    const load = (async () => {
      for (; !isOver; asked++) assert.equal(await askOverTls(port, HEALTH), "HTTP/1.1 200 OK");
    })();

    put(router, pair("second.test"));
    assert.deepEqual(await untilGeneration(2), []);
    assert.equal(await shown(), "second.test");

    // The key of another certificate; then no key at all; a changed config meanwhile is no matter.
    put(router, { key: pair("other.test").key });
    const [warning = ""] = await untilGeneration(3);
    assert.match(warning, /can't be used.*router\.key", whose key does not belong to the certificate/);
    assert.equal(await metric("certificate_stale"), "1");
    assert.match(router.process.errors + router.process.printed, /A renewed certificate can't be used/);
    rmSync(router.at("router.key"));
    assert.match((await untilGeneration(4))[0] ?? "", /no file .*router\.key/);
    router.write("signalbox.yaml", configOver({ a: replica.url }, `${LISTEN}  limits: { retries: 1 }\n`));
    await untilGeneration(5);
    assert.equal(await shown(), "second.test");

    put(router, pair("third.test"));
    await waitUntil(() => isOver || asked > 0);
    assert.deepEqual(await untilGeneration(6), []);
    assert.equal(await shown(), "third.test");
    assert.equal(await metric("certificate_stale"), "0");

    isOver = true;
    await load;
    const received = await stream.until((text) => text.endsWith(LAST_CHUNK));
    const events = [...received.matchAll(/"n":(\d+)/g)].map(([, n]) => Number(n));
    assert.deepEqual(
      events,
      events.map((_, index) => index),
    );
    stream.close();
  });
});

describe("authorities and a certificate for replicas that are renewed", () => {
  it("hold for connections that begin then, without a restart", TIMEOUT, async () => {
    const [first, second] = [makeAuthority("first.test"), makeAuthority("second.test")];
    const [ofFirst, ofSecond] = [first, second].map((one) => one.issue({ names: ["127.0.0.1"] }));
    const front = await startTlsFront(replica.url, { ...ofFirst, ca: first.cert });
    after(() => front.close());
    const router = await startReloadingRouter(
      {
        "signalbox.yaml": `apiVersion: signalbox/v1
kind: Router
spec:
  pool:
    tls: { caFile: ca.crt, certFile: router.crt, keyFile: router.key }
    endpoints: [ { url: "${front.url}" } ]
    probes: { startup: { periodSeconds: 1 }, readiness: { periodSeconds: 1 } }
`,
      },
      {
        prepare(at) {
          writeFileSync(at("ca.crt"), first.cert);
          put({ at }, ofFirst!);
        },
      },
    );
    const status = async () => readAnswer(await exchange(router.process.port, chatPost("", "Connection: close\r\n"))).status;
    assert.equal(await status(), 200);
    front.use({ ...ofSecond, ca: second.cert });
    put(router, ofSecond!);
    router.write("ca.crt", second.cert);
    await router.untilReload(({ generation, lastReload }) => generation > 1 && lastReload?.isApplied === true);
    const startMs = performance.now();
    while ((await status()) !== 200) {
      assert.ok(performance.now() - startMs < 20_000);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  });
});
