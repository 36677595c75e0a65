/** TLS at the admin port, and the commands that ask it. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { after, describe, it } from "node:test";
import { certificateFolder, makeAuthority } from "../support/certificates.ts";
import { signalboxWith } from "../support/cli.ts";
import { openClient } from "../support/raw-client.ts";
import { waitUntil } from "../support/router.ts";
import { startRouterProcess } from "../support/router-process.ts";
import { answerOk } from "../support/scripted-pool.ts";
import { startScriptedReplica } from "../support/scripted-replica.ts";
import { askOverTls, openTls } from "../support/tls-client.ts";

describe("an admin port with TLS", () => {
  it("serves the page, the metrics and the commands, and nobody without TLS", { timeout: 60_000 }, async () => {
    const folder = certificateFolder();
    const authority = makeAuthority("authority.test");
    folder.write("admin", authority.issue({ names: ["127.0.0.1"] }));
    writeFileSync(folder.at("ca.crt"), authority.cert);
    const replica = await startScriptedReplica(answerOk);
    const router = await startRouterProcess([replica.url], {
      admin: `{ port: 0, tls: { certFile: ${folder.at("admin.crt")}, keyFile: ${folder.at("admin.key")} } }`,
    });
    after(async () => {
      router.kill("SIGTERM");
      await router.exited;
      await replica.close();
      folder.remove();
    });
    await waitUntil(() => router.printed.includes("Status page: https://"));
    const port = router.adminPort;
    const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`;
    assert.equal(await askOverTls(port, get("/"), { ca: authority.cert, rejectUnauthorized: true }), "HTTP/1.1 200 OK");
    const plain = await openClient(port);
    plain.send(get("/status"));
    assert.ok(!(await plain.closed()).includes("200"));

    const client = await openTls(port);
    client.send(get("/metrics"));
    const metrics = await client.until((received) =>
      received.includes('tls_handshake_failures_total{port="admin",reason="other"}'),
    );
    assert.match(metrics, /tls_certificate_expiry_time_seconds\{port="admin",file=".*admin\.crt"\} \d+/);
    assert.match(metrics, /tls_handshake_failures_total\{port="admin",reason="not-tls"\} 1/);

    const status = async (env: Readonly<Record<string, string>>) => {
      const { output, ended } = signalboxWith(env, "status", "--admin", `https://127.0.0.1:${port}`);
      return { code: await ended, ...output };
    };
    const trusted = await status({ NODE_EXTRA_CA_CERTS: folder.at("ca.crt") });
    assert.match(trusted.out, /1 of 1 replicas ready/);
    const distrusted = await status({});
    assert.equal(distrusted.code, 4);
    assert.match(distrusted.err, /could not be made safe: certificate of an unknown authority/);
  });
});
