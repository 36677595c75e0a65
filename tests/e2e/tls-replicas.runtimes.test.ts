/** Replicas at https:// addresses: which certificates are accepted, which are shown, and how what is wrong is said. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { after, before, describe, it } from "node:test";
import { certificateFolder, makeAuthority, selfSigned } from "../support/certificates.ts";
import { collectedLog } from "../support/collected-log.ts";
import { exchange, readAnswer } from "../support/raw-client.ts";
import { startTestRouter, type TestRouter, type TestRouterOptions, waitUntil } from "../support/router.ts";
import { answerOk, chatPost } from "../support/scripted-pool.ts";
import { type ScriptedReplica, startScriptedReplica } from "../support/scripted-replica.ts";
import { startTlsFront, type TlsFront } from "../support/tls-front.ts";

const TIMEOUT = { timeout: 30_000 };

const folder = certificateFolder();
const authority = makeAuthority("authority.test");
const clients = makeAuthority("clients.test");
const named = authority.issue({ names: ["replica.test"] });
const addressed = authority.issue({ names: ["127.0.0.1"] });
const expired = authority.issue({ names: ["replica.test"], hours: -1 });
const own = selfSigned({ names: ["replica.test"] });
writeFileSync(folder.at("ca.crt"), authority.cert);
folder.write("own", own);
folder.write("client", clients.issue({ names: ["router"] }));
folder.write("stranger", makeAuthority("strangers.test").issue({ names: ["router"] }));
const CA = `caFile: ${folder.at("ca.crt")}`;
const NAME = "serverName: replica.test";
const pairOf = (name: string) => `certFile: ${folder.at(`${name}.crt`)}, keyFile: ${folder.at(`${name}.key`)}`;

let replica: ScriptedReplica;
before(async () => {
  replica = await startScriptedReplica(answerOk);
});
after(async () => {
  await replica.close();
  folder.remove();
});

async function front(options: Parameters<TlsFront["use"]>[0]): Promise<TlsFront> {
  const started = await startTlsFront(replica.url, options);
  after(() => started.close());
  return started;
}

async function start(url: string, tls: string, options: TestRouterOptions = {}): Promise<TestRouter> {
  const router = await startTestRouter([url], { spec: `  pool: { tls: { ${tls} } }\n`, ...options });
  after(() => router.close());
  return router;
}

const ask = async ({ port }: TestRouter) => readAnswer(await exchange(port, chatPost("", "Connection: close\r\n")));

describe("a replica with a certificate", () => {
  const accepted: readonly (readonly [name: string, tls: string, shown: Parameters<TlsFront["use"]>[0]])[] = [
    ["of an authority, for the name that is set", `${CA}, ${NAME}`, named],
    ["of an authority, for its address", CA, addressed],
    ["that is itself the authority", `caFile: ${folder.at("own.crt")}, ${NAME}`, own],
    ["that is wrong in all ways, where every one is accepted", "insecure: true", selfSigned({ names: ["x"], hours: -1 })],
    ["that asks for one of the router's", `${CA}, ${pairOf("client")}`, { ...addressed, ca: clients.cert }],
    [
      "that asks for one of the router's, with TLS 1.2",
      `${CA}, ${pairOf("client")}`,
      { ...addressed, ca: clients.cert, maxVersion: "TLSv1.2" },
    ],
  ];
  for (const [name, tls, shown] of accepted)
    it(`${name} serves`, TIMEOUT, async () => {
      const router = await start((await front(shown)).url, tls);
      for (let n = 0; n < 3; n++) assert.equal((await ask(router)).status, 200);
    });

  // Deno does not tell that a certificate has expired from that its authority is unknown.
  const lateOn = process.versions["deno"] === undefined ? "certificate expired" : "certificate of an unknown authority";
  const refused: readonly (readonly [failure: string, tls: string, shown: Parameters<TlsFront["use"]>[0]])[] = [
    [lateOn, `${CA}, ${NAME}`, expired],
    ["certificate for another name", CA, named],
    ["certificate self-signed", `${CA}, ${NAME}`, own],
    ["certificate of an unknown authority", `caFile: ${folder.at("own.crt")}, ${NAME}`, named],
    ["certificate of an unknown authority", NAME, named],
    ["client certificate refused", CA, { ...addressed, ca: clients.cert }],
    // A server of node:tls closes without a word.
    ["reset", `${CA}, ${pairOf("stranger")}`, { ...addressed, ca: clients.cert }],
  ];
  for (const [index, [failure, tls, shown]] of refused.entries())
    it(`gets no request: ${failure} (${index})`, TIMEOUT, async () => {
      const router = await start((await front(shown)).url, tls, { ready: 0 });
      const told = () => router.router.control.probeFailure(router.router.pool.facts.endpoints[0]!);
      await waitUntil(() => told() !== "");
      assert.equal(told(), failure);
      assert.equal((await ask(router)).status, 503);
    });

  it("and one without TLS are told apart", TIMEOUT, async () => {
    const plain = createServer(
      (socket) => void socket.on("error", () => {}).once("data", () => socket.end("HTTP/1.1 400 \r\n\r\n")),
    );
    await new Promise<void>((resolve) => plain.listen(0, "127.0.0.1", resolve));
    after(() => void plain.close());
    const { port } = plain.address() as AddressInfo;
    const router = await start(`https://127.0.0.1:${port}`, CA, { ready: 0 });
    const told = () => router.router.control.probeFailure(router.router.pool.facts.endpoints[0]!);
    await waitUntil(() => told() !== "");
    assert.equal(told(), "no TLS there");
  });

  it("has its own section where it is set, instead of the pool's", TIMEOUT, async () => {
    const good = await front(named);
    const other = await front(own);
    const router = await startTestRouter([], {
      ready: 2,
      spec: `  pool:
    tls: { ${CA}, ${NAME} }
    endpoints:
      - { url: "${good.url}" }
      - { url: "${other.url}", tls: { caFile: ${folder.at("own.crt")}, ${NAME} } }
`,
    });
    after(() => router.close());
    assert.equal((await ask(router)).status, 200);
  });

  it("that becomes wrong: 502 in the API's dialect, and the log says what it is", TIMEOUT, async () => {
    const changing = await front(named);
    const log = collectedLog();
    const router = await start(changing.url, `${CA}, ${NAME}`, { operatorLog: log });
    assert.equal((await ask(router)).status, 200);
    changing.use(own);
    const { status, json } = await ask(router);
    assert.equal(status, 502);
    assert.equal((json["error"] as Record<string, unknown>)["code"], "upstream_unreachable");
    assert.ok(log.lines.some((line) => /no safe connection to a replica .*"certificate self-signed"/.test(line)));
    const told = () => router.router.control.probeFailure(router.router.pool.facts.endpoints[0]!);
    await waitUntil(() => told() === "certificate self-signed");
    // And right again.
    changing.use(named);
    await waitUntil(() => router.router.pool.facts.endpoints.some(({ isAvailable }) => isAvailable), 20_000);
    assert.equal((await ask(router)).status, 200);
  });

  it("keeps its connections: requests one after the other need one handshake", TIMEOUT, async () => {
    const counted = await front(addressed);
    const router = await start(counted.url, CA);
    await ask(router);
    const before = counted.opened;
    for (let n = 0; n < 5; n++) assert.equal((await ask(router)).status, 200);
    assert.ok(counted.opened - before <= 2, String(counted.opened - before));
  });
});
