/** A client that does not read, with TLS on both sides of the router. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { after, describe, it } from "node:test";
import { certificateFolder, makeAuthority } from "../support/certificates.ts";
import { type Flood, flood, floodEvent, standstill } from "../support/flood.ts";
import { startTestRouter, waitUntil } from "../support/router.ts";
import { assertIdle, chatPost, STREAM } from "../support/scripted-pool.ts";
import { startScriptedReplica } from "../support/scripted-replica.ts";
import { openTls } from "../support/tls-client.ts";
import { startTlsFront } from "../support/tls-front.ts";
import { wholeAnswer } from "../support/whole-answer.ts";

const EVENTS = 4_000;

/** Passes bytes between clients and this port, and can leave unread what comes from there. */
async function startRelay(port: number) {
  const links: { readonly near: Socket; readonly far: Socket }[] = [];
  const server = createServer((near) => {
    const far = connect(port, "127.0.0.1");
    links.push({ near, far });
    near.pipe(far).pipe(near);
    near.on("error", () => {}).on("close", () => far.destroy());
    far.on("error", () => {}).on("close", () => near.end());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  after(() => void server.close());
  return {
    port: (server.address() as AddressInfo).port,
    stop() {
      for (const { near, far } of links) far.unpipe(near).pause();
    },
    goOn() {
      for (const { near, far } of links) far.pipe(near);
    },
  };
}

describe("a client that does not read, over TLS", () => {
  it("stops the replica, and gets every byte once it reads on", { timeout: 60_000 }, async () => {
    const folder = certificateFolder();
    const authority = makeAuthority("authority.test");
    const pair = authority.issue({ names: ["127.0.0.1"] });
    folder.write("router", pair);
    writeFileSync(folder.at("ca.crt"), authority.cert);
    const floods: Flood[] = [];
    const replica = await startScriptedReplica(flood(floods, EVENTS));
    const front = await startTlsFront(replica.url, pair);
    const router = await startTestRouter([front.url], {
      tls: `{ certFile: ${folder.at("router.crt")}, keyFile: ${folder.at("router.key")} }`,
      spec: `  pool: { tls: { caFile: ${folder.at("ca.crt")} } }\n`,
    });
    after(async () => {
      await router.close();
      await front.close();
      await replica.close();
      folder.remove();
    });
    const relay = await startRelay(router.port);
    const client = await openTls(relay.port);
    client.send(chatPost(STREAM, "Connection: close\r\n"));
    await client.until((received) => received.length > 0);
    relay.stop();
    await waitUntil(() => floods.length === 1);
    assert.ok((await standstill(floods)) < EVENTS * floodEvent(0).length);
    relay.goOn();
    await assert.rejects(client.until(() => false));
    const { body, isComplete } = wholeAnswer(client.received);
    assert.ok(isComplete);
    assert.ok(body === Array.from({ length: EVENTS }, (_, n) => floodEvent(n)).join(""));
    client.close();
    await assertIdle(router);
  });
});
