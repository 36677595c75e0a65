/** Clients that show tokens of an issuer: real signatures, an issuer on a socket, and what becomes of its keys. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { exportJWK, exportSPKI, generateKeyPair, type JWK, SignJWT } from "jose";
import { systemClock } from "../../core/contract/clock.ts";
import { exchange, openClient, postBytes, readAnswer } from "../support/raw-client.ts";
import { loadTestConfig, startTestRouter, type TestRouter, waitUntil } from "../support/router.ts";
import { answerOk, CHAT, chatBody } from "../support/scripted-pool.ts";
import { type ScriptedReplica, startScriptedReplica } from "../support/scripted-replica.ts";

type Pair = Awaited<ReturnType<typeof generateKeyPair>>;

const ISSUER = "https://login.example";
let aheadMs = 0;
const clock = { ...systemClock, now: () => systemClock.now() + aheadMs, wall: () => Date.now() + aheadMs };

/** An issuer whose keys the test changes. */
class Issuer {
  readonly pairs = new Map<string, Pair>();
  published: JWK[] = [];
  asked = 0;
  answer: "keys" | "500" | "nothing" | "html" = "keys";
  readonly #server: Server;

  constructor() {
    this.#server = createServer((_request, response) => {
      this.asked += 1;
      if (this.answer === "nothing") return;
      response.statusCode = this.answer === "500" ? 500 : 200;
      response.end(this.answer === "html" ? "<html>" : JSON.stringify({ keys: this.published }));
    });
  }

  listen(): Promise<void> {
    return new Promise((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/keys`;
  }

  async add(kid: string, alg = "RS256"): Promise<void> {
    const pair = await generateKeyPair(alg, { extractable: true });
    this.pairs.set(kid, pair);
    this.published.push({ ...(await exportJWK(pair.publicKey)), kid, alg });
  }

  token(kid: string, claims: Readonly<Record<string, unknown>> = {}, alg = "RS256"): Promise<string> {
    const all = { iss: ISSUER, aud: "router", sub: "alice", exp: Math.floor(clock.wall() / 1000) + 3600, ...claims };
    return new SignJWT(JSON.parse(JSON.stringify(all))).setProtectedHeader({ alg, kid }).sign(this.pairs.get(kid)!.privateKey);
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

const STATIC = createHash("sha256").update("sk-static").digest("hex");
const jwtSpec = (where: string, more = "") =>
  `  auth: { keys: [{ name: static, sha256: ${STATIC} }] }\n  plugins:\n    - type: access-log\n    - type: jwt\n      parameters: { issuer: "${ISSUER}", audience: router, ${where}, algorithms: [RS256, ES256, EdDSA]${more} }\n`;

async function ask(router: TestRouter, token: string, body = chatBody(), path = CHAT) {
  const { status, json } = readAnswer(await exchange(router.port, postBytes(path, body, `Authorization: Bearer ${token}\r\n`)));
  return { status, error: json["error"] as { code: string; message: string } | undefined };
}

describe("a router that takes tokens", () => {
  const issuer = new Issuer();
  let replica: ScriptedReplica;
  let router: TestRouter;
  before(async () => {
    await issuer.listen();
    await Promise.all([issuer.add("r1"), issuer.add("e1", "ES256"), issuer.add("d1", "EdDSA")]);
    replica = await startScriptedReplica(answerOk);
    const claims = ", claims: { tenant: org, models: models, priority: rank }, skewSeconds: 30";
    router = await startTestRouter([replica.url], { spec: jwtSpec(`jwksUrl: "${issuer.url}"`, claims), clock });
  });
  after(async () => {
    await router.close();
    await replica.close();
    issuer.close();
  });
  const claims = { org: "search", models: ["m"], rank: 5 };
  const nowS = () => Math.floor(clock.wall() / 1000);

  it("knows who asks by each kind of signature", async () => {
    for (const [kid, alg] of [
      ["r1", "RS256"],
      ["e1", "ES256"],
      ["d1", "EdDSA"],
    ] as const) {
      const token = await issuer.token(kid, claims, alg);
      assert.equal((await ask(router, token)).status, 200, alg);
      assert.equal((await ask(router, token)).status, 200, "again");
    }
    assert.equal(issuer.asked, 1);
    const line = router.log.at(-1) as unknown as Record<string, unknown>;
    assert.deepEqual([line["key"], line["tenant"]], ["jwt:alice", "jwt:search"]);
  });

  it("knows keys beside it", async () => assert.equal((await ask(router, "sk-static")).status, 200));

  it("lets it ask for the models that it names", async () => {
    const other = chatBody().replace('"m"', '"x"');
    assert.equal((await ask(router, await issuer.token("r1", { ...claims, models: "x m" }))).status, 200);
    assert.equal((await ask(router, await issuer.token("r1", claims), other)).error?.code, "model_not_allowed");
    for (const models of [undefined, [], 7, "x"])
      assert.equal((await ask(router, await issuer.token("r1", { ...claims, models }))).status, 403);
  });

  const refused: readonly (readonly [name: string, claims: () => Readonly<Record<string, unknown>>, message: RegExp])[] = [
    ["another issuer's", () => ({ iss: "https://evil.example" }), /knows no such key/],
    ["another audience's", () => ({ aud: "other" }), /claim aud/],
    ["no audience's", () => ({ aud: undefined }), /claim aud/],
    ["one that has expired", () => ({ exp: nowS() - 31 }), /has expired/],
    ["one that never expires", () => ({ exp: undefined }), /claim exp/],
    ["one of the future", () => ({ nbf: nowS() + 60 }), /claim nbf/],
    ["nobody's", () => ({ sub: undefined }), /claim sub/],
    ["somebody's without a tenant", () => ({ org: undefined }), /does not say who asks/],
    ["a number's", () => ({ sub: 7 }), /does not say who asks/],
    ["a very long name's", () => ({ sub: "x".repeat(200) }), /does not say who asks/],
  ];
  for (const [name, changed, message] of refused) {
    it(`refuses ${name} token`, async () => {
      const { status, error } = await ask(router, await issuer.token("r1", { ...claims, ...changed() }));
      assert.deepEqual([status, error?.code], [401, "invalid_api_key"]);
      assert.match(error?.message ?? "", message);
    });
  }

  it("allows for clocks that are apart", async () => {
    assert.equal((await ask(router, await issuer.token("r1", { ...claims, exp: nowS() - 20, nbf: nowS() + 20 }))).status, 200);
  });

  it("refuses a token that nobody has signed, or somebody else", async () => {
    const token = await issuer.token("r1", claims);
    const [head = "", body = "", signature = ""] = token.split(".");
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const none = encode({ alg: "none" });
    const spki = await exportSPKI(issuer.pairs.get("r1")!.publicKey);
    const shared = await new SignJWT({ ...claims, iss: ISSUER, aud: "router", sub: "eve", exp: nowS() + 60 })
      .setProtectedHeader({ alg: "HS256", kid: "r1" })
      .sign(Buffer.from(spki));
    const stranger = await generateKeyPair("RS256");
    const forged = await new SignJWT({ ...claims, iss: ISSUER, aud: "router", sub: "eve", exp: nowS() + 60 })
      .setProtectedHeader({ alg: "RS256", kid: "r1" })
      .sign(stranger.privateKey);
    const other = encode({ ...claims, iss: ISSUER, aud: "router", sub: "eve", exp: nowS() + 60 });
    for (const bad of [
      `${none}.${body}.`,
      `${none}.${body}.${signature}`,
      `${head}.${other}.${signature}`,
      `${head}.${body}.AAAA`,
      shared,
      forged,
      "a.b.c",
      `${head}..`,
    ])
      assert.deepEqual([(await ask(router, bad)).status, (await ask(router, bad)).status], [401, 401], bad.slice(0, 20));
  });

  it("is not asked for its keys again and again for tokens that somebody makes up", async () => {
    const asked = issuer.asked;
    await issuer.add("unpublished");
    issuer.published.pop();
    aheadMs += 11_000;
    const tokens = await Promise.all(
      Array.from({ length: 50 }, (_, n) => issuer.token("unpublished", { ...claims, sub: `u${n}` })),
    );
    const statuses = await Promise.all(tokens.map(async (token) => (await ask(router, token)).status));
    assert.ok(statuses.every((status) => status === 401));
    assert.equal(issuer.asked - asked, 1);
  });

  it("follows its issuer to new keys at once, and refuses the old ones when they are withdrawn", async () => {
    const old = await issuer.token("r1", claims);
    assert.equal((await ask(router, old)).status, 200);
    aheadMs += 11_000;
    await issuer.add("r2");
    assert.equal((await ask(router, await issuer.token("r2", claims))).status, 200);
    assert.equal((await ask(router, old)).status, 200);
    issuer.published = issuer.published.filter(({ kid }) => kid !== "r1");
    aheadMs += 601_000;
    const fresh = await issuer.token("r2", claims);
    const asked = issuer.asked;
    assert.equal((await ask(router, fresh)).status, 200);
    await waitUntil(() => issuer.asked > asked);
    for (let tries = 0; tries < 100 && (await ask(router, old)).status !== 401; tries++);
    assert.equal((await ask(router, old)).status, 401);
  });

  it("goes on with the keys that it has while the issuer is down, and over a reload", async () => {
    for (const answer of ["500", "html"] as const) {
      issuer.answer = answer;
      aheadMs += 601_000;
      assert.equal((await ask(router, await issuer.token("r2", claims))).status, 200);
    }
    router.router.replace(
      await loadTestConfig([replica.url], { spec: jwtSpec(`jwksUrl: "${issuer.url}"`, ", claims: { tenant: org }") }),
    );
    assert.equal((await ask(router, await issuer.token("r2", claims))).status, 200);
    issuer.answer = "keys";
  });
});

describe("an issuer that can't be reached", () => {
  it("makes requests with tokens wait with their bodies, then get 503, and others none", async () => {
    const issuer = new Issuer();
    await issuer.listen();
    await issuer.add("r1");
    issuer.answer = "nothing";
    const replica = await startScriptedReplica(answerOk);
    const router = await startTestRouter([replica.url], { spec: jwtSpec(`jwksUrl: "${issuer.url}"`) });
    after(async () => {
      await router.close();
      await replica.close();
      issuer.close();
    });
    const token = await issuer.token("r1");
    const client = await openClient(router.port);
    client.send(
      `POST ${CHAT} HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nAuthorization: Bearer ${token}\r\nContent-Length: 9000000\r\n\r\n`,
    );
    for (let sent = 0; sent < 80; sent++) client.send(Buffer.alloc(100_000, " "));
    assert.equal((await ask(router, "sk-static")).status, 200);
    await waitUntil(() => issuer.asked === 1);
    assert.ok(router.router.gate.memory.bodyBytes < 2_000_000, `${router.router.gate.memory.bodyBytes} bytes`);
    const models = await exchange(router.port, `GET /v1/models HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer ${token}\r\n\r\n`);
    assert.equal(readAnswer(models).status, 503);
    const { status, json } = readAnswer(await client.until((text) => text.endsWith("}}")));
    assert.deepEqual([status, (json["error"] as { code: string }).code], [503, "authentication_unavailable"]);
    client.destroy();
    assert.equal((await ask(router, token)).status, 503);
    await waitUntil(() => router.router.gate.memory.bodyBytes === 0);
  });
});

describe("an issuer's keys in a file", () => {
  it("are read again when they change", async () => {
    const folder = mkdtempSync(join(tmpdir(), "signalbox-jwks-"));
    const issuer = new Issuer();
    await issuer.add("r1");
    const file = join(folder, "keys.json");
    writeFileSync(file, JSON.stringify({ keys: issuer.published }));
    const replica = await startScriptedReplica(answerOk);
    const router = await startTestRouter([replica.url], { spec: jwtSpec(`jwksFile: "${file}"`), clock });
    after(async () => {
      await router.close();
      await replica.close();
      rmSync(folder, { recursive: true });
    });
    assert.equal((await ask(router, await issuer.token("r1"))).status, 200);
    await issuer.add("r2");
    writeFileSync(file, JSON.stringify({ keys: issuer.published }));
    aheadMs += 6_000;
    assert.equal((await ask(router, await issuer.token("r2"))).status, 200);
  });
});

describe("the plugin jwt refuses", () => {
  const rows: readonly (readonly [name: string, where: string, message: RegExp])[] = [
    ["no place for keys", "skewSeconds: 1", /either jwksUrl or jwksFile/],
    ["two places", 'jwksUrl: "https://a.example", jwksFile: a', /either jwksUrl or jwksFile/],
    ["algorithms with a shared secret", "jwksFile: a, algorithms: [HS256]", /RS256.*or/],
    ["none at all", 'jwksFile: a, algorithms: ["none"]', /RS256.*or/],
    ["a URL that is none", "jwksUrl: nowhere", /jwksUrl/],
  ];
  for (const [name, where, message] of rows) {
    it(name, async () => {
      const spec = `  plugins: [{ type: jwt, parameters: { issuer: i, audience: a, ${where} } }]\n`;
      await assert.rejects(loadTestConfig(["http://127.0.0.1:9"], { spec }), message);
    });
  }
});
