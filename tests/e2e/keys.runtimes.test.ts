/** Clients that show keys: who comes in, and for what. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { askFor } from "../support/admin.ts";
import { setUpFetch } from "../support/fetch-router.ts";
import { exchange, openClient, postBytes, readAnswer } from "../support/raw-client.ts";
import { waitUntil } from "../support/router.ts";
import { answerOk, CHAT, chatBody, setUp } from "../support/scripted-pool.ts";

const digest = (key: string) => createHash("sha256").update(key).digest("hex");
const entry = (name: string, key: string, more = "") => `      - { name: ${name}, sha256: "${digest(key)}"${more} }\n`;

const KEYS =
  `  auth:\n    keys:\n${entry("alice", "sk-alice", ", tenant: search")}` +
  entry("bob", "sk-bob", ", models: [m, gone]") +
  entry("carol", "sk-carol", ", models: [other]") +
  entry("late", "sk-late", ', expires: "2020-01-31"') +
  entry("later", "sk-later", ', expires: "2999-01-31T12:00:00+01:00"') +
  entry("umlaut", "sk-ü€");

const latin1 = (text: string) => Buffer.from(text, "utf8").toString("latin1");

const { router, replica } = await setUp([answerOk], { spec: KEYS, models: ["m", "other"] });

describe("a router that asks for keys", () => {
  /** The status and the error's code of one request with these header lines. */
  const ask = async (lines: string, path = CHAT, body = chatBody()) => {
    const answer = await exchange(router.port, Buffer.from(postBytes(path, body, lines), "latin1"));
    const { status, head, json } = readAnswer(answer);
    return { status, head, error: json["error"] as { code: string; type: string; message: string } | undefined, json };
  };
  const bearer = (key: string) => `Authorization: Bearer ${key}\r\n`;

  const rows: readonly (readonly [name: string, lines: string, status: number])[] = [
    ["a key as a bearer", bearer("sk-alice"), 200],
    ["the scheme in another case", "authorization: bearer sk-alice\r\n", 200],
    ["more than one space", "Authorization: Bearer   sk-alice  \r\n", 200],
    ["a key as X-Api-Key", "X-Api-Key: sk-alice\r\n", 200],
    ["the same key in both", `${bearer("sk-alice")}X-Api-Key: sk-alice\r\n`, 200],
    ["a key that expires later", bearer("sk-later"), 200],
    ["a key of other characters, by its bytes", bearer(latin1("sk-ü€")), 200],
    ["a key beside an unknown one", `${bearer("left-over")}X-Api-Key: sk-alice\r\n`, 200],
    ["an unknown one beside a key", `X-Api-Key: left-over\r\n${bearer("sk-alice")}`, 200],
    ["a key beside one that has expired", `${bearer("sk-late")}X-Api-Key: sk-alice\r\n`, 200],
    ["two unknown ones", `${bearer("left")}X-Api-Key: over\r\n`, 401],
    ["no key", "", 401],
    ["an empty one", "Authorization: Bearer \r\n", 401],
    ["an empty one beside a good one", `X-Api-Key: \r\n${bearer("sk-alice")}`, 401],
    ["a wrong one", bearer("sk-alicf"), 401],
    ["one that is longer", bearer("sk-alice1"), 401],
    ["a digest instead of its key", bearer(digest("sk-alice")), 401],
    ["a name instead of its key", bearer("alice"), 401],
    ["another scheme", "Authorization: Basic c2stYWxpY2U=\r\n", 401],
    ["no scheme", "Authorization: sk-alice\r\n", 401],
    ["two keys", `${bearer("sk-alice")}X-Api-Key: sk-bob\r\n`, 401],
    ["two Authorization lines", bearer("sk-alice") + bearer("sk-bob"), 401],
    ["the key of another header", "Api-Key: sk-alice\r\n", 401],
    ["a key that has expired", bearer("sk-late"), 401],
    ["a very long one", bearer("k".repeat(20_000)), 401],
  ];
  for (const [name, lines, status] of rows) {
    it(`${status} for ${name}`, async () => {
      const before = replica.requests.length;
      const answer = await ask(lines);
      assert.equal(answer.status, status);
      assert.equal(replica.requests.length - before, status === 200 ? 1 : 0);
      if (status === 200) return;
      assert.deepEqual([answer.error?.code, answer.error?.type], ["invalid_api_key", "authentication_error"]);
      assert.match(answer.head, /\r\nwww-authenticate: Bearer\r\n/i);
      assert.match(answer.head, /\r\nx-should-retry: false\r\n/i);
      assert.doesNotMatch(JSON.stringify(answer.json), /sk-/);
    });
  }

  it("takes no key out of the query", async () => {
    assert.equal((await ask("", `${CHAT}?api_key=sk-alice&key=sk-alice&access_token=sk-alice`)).status, 401);
  });

  it("refuses with the shape of the API that is called", async () => {
    const { status, json } = await ask("", "/v1/messages", '{"model":"m","max_tokens":1,"messages":[]}');
    assert.equal(status, 401);
    assert.equal(json["type"], "error");
    assert.equal((json["error"] as { type: string }).type, "authentication_error");
  });

  it("refuses before it has taken a byte of the body", async () => {
    const head = `POST ${CHAT} HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nContent-Length: 9999999\r\n\r\n`;
    assert.equal(readAnswer(await exchange(router.port, head)).status, 401);
    assert.equal(router.router.gate.memory.bodyBytes, 0);
  });

  it("lets a key ask for its models only, whatever others there are", async () => {
    assert.equal((await ask(bearer("sk-bob"))).status, 200);
    for (const model of ["m", "nobody's"]) {
      const { status, error } = await ask(bearer("sk-carol"), CHAT, chatBody().replace('"m"', JSON.stringify(model)));
      assert.deepEqual([status, error?.code, error?.type], [403, "model_not_allowed", "permission_error"]);
    }
    const { status, error } = await ask(bearer("sk-bob"), CHAT, chatBody().replace('"m"', '"gone"'));
    assert.deepEqual([status, error?.code], [404, "model_not_found"]);
    assert.doesNotMatch(error?.message ?? "", /other/);
    const unknown = await ask(bearer("sk-alice"), CHAT, chatBody().replace('"m"', '"gone"'));
    assert.deepEqual([unknown.status, unknown.error?.code], [404, "model_not_found"]);
  });

  it("shows each key the models that it may use", async () => {
    const models = async (key: string) => {
      const answer = await askFor(router.port, "/v1/models", { lines: `Host: test\r\n${bearer(key)}` });
      return [answer.status, (JSON.parse(answer.body) as { data?: { id: string }[] }).data?.map(({ id }) => id)];
    };
    assert.deepEqual(await models("sk-alice"), [200, ["m", "other"]]);
    assert.deepEqual(await models("sk-bob"), [200, ["m"]]);
    assert.deepEqual(await models("sk-carol"), [200, ["other"]]);
    assert.equal((await models("wrong"))[0], 401);
    const one = await askFor(router.port, "/v1/models/other", { lines: `Host: test\r\n${bearer("sk-bob")}` });
    assert.equal(one.status, 404);
    assert.doesNotMatch(one.body, /"other"|other"/);
  });

  it("answers health checks without a key, and nothing else", async () => {
    const status = async (path: string) => (await askFor(router.port, path)).status;
    assert.deepEqual(await Promise.all(["/health", "/ready"].map(status)), [200, 200]);
    assert.deepEqual(
      await Promise.all(["/v1/models", "/v1/models/m", "/unknown", "/", CHAT].map(status)),
      [401, 401, 401, 401, 401],
    );
    assert.equal((await ask("", "/v1/load_lora_adapter", '{"lora_name":"a","lora_path":"/a"}')).status, 401);
  });

  it("lets a key of some models load no other adapter", async () => {
    const { status, error } = await ask(bearer("sk-carol"), "/v1/load_lora_adapter", '{"lora_name":"m","lora_path":"/a"}');
    assert.deepEqual([status, error?.code], [403, "model_not_allowed"]);
  });

  it("keeps the client's key from replicas", async () => {
    assert.equal((await ask(`${bearer("sk-alice")}X-Api-Key: sk-alice\r\nCookie: sk-alice\r\n`)).status, 200);
    assert.doesNotMatch(replica.requests.at(-1)!.head, /sk-alice|authorization|api-key|cookie/i);
  });

  it("takes the next request of a connection after a refusal", async () => {
    const refusedThenServed =
      postBytes(CHAT, chatBody()) + postBytes(CHAT, chatBody(), `${bearer("sk-alice")}Connection: close\r\n`);
    const client = await openClient(router.port);
    client.send(refusedThenServed);
    assert.match(await client.closed(), /^HTTP\/1\.1 401 .*HTTP\/1\.1 200 /s);
  });

  it("keeps nothing of a flood without keys", async () => {
    const before = router.log.length;
    const head = `POST ${CHAT} HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nAuthorization: Bearer `;
    const floods = Array.from({ length: 200 }, (_, n) =>
      exchange(router.port, `${head}made-up-${n}\r\nContent-Length: 1000000\r\n\r\n${"x".repeat(500)}`),
    );
    for (const answer of await Promise.all(floods)) assert.equal(readAnswer(answer).status, 401);
    assert.equal(router.router.gate.memory.bodyBytes, 0);
    assert.equal(router.log.length - before, 200);
    assert.doesNotMatch(JSON.stringify(router.log), /made-up/);
    assert.equal((await ask(bearer("sk-alice"))).status, 200);
  });
});

describe("the fetch face", () => {
  it("asks for keys as the wire does", async () => {
    const { router } = await setUpFetch(answerOk, { spec: KEYS });
    const post = (headers: Readonly<Record<string, string>>) =>
      router.fetch(
        new Request(`http://router${CHAT}`, {
          method: "POST",
          headers: { "content-type": "application/json", ...headers },
          body: chatBody(),
        }),
      );
    assert.equal((await post({ authorization: "Bearer sk-alice" })).status, 200);
    assert.equal((await post({ "x-api-key": "sk-bob" })).status, 200);
    for (const headers of [{}, { authorization: "Bearer wrong" }, { authorization: "Bearer sk-alice", "x-api-key": "sk-bob" }])
      assert.equal((await post(headers)).status, 401);
    assert.equal((await router.fetch(new Request("http://router/health"))).status, 200);
    assert.equal((await router.fetch(new Request("http://router/v1/models"))).status, 401);
  });
});

describe("keys of ten thousand clients", () => {
  it("are told apart", async () => {
    const names = Array.from({ length: 10_000 }, (_, n) => `team-${n}`);
    const folder = mkdtempSync(join(tmpdir(), "signalbox-many-"));
    writeFileSync(
      join(folder, "keys.yaml"),
      names.map((name) => `- name: ${name}\n  sha256: "${digest(`sk-${name}`)}"\n`).join(""),
    );
    const { router: many } = await setUp([answerOk], { spec: `  auth: { keysFile: "${join(folder, "keys.yaml")}" }\n` });
    rmSync(folder, { recursive: true });
    for (const name of ["team-0", "team-5000", "team-9999"]) {
      const answer = await exchange(many.port, postBytes(CHAT, chatBody(), `Authorization: Bearer sk-${name}\r\n`));
      assert.equal(readAnswer(answer).status, 200);
      await waitUntil(() => (many.log.at(-1) as unknown as Record<string, unknown>)?.["key"] === name);
    }
    const answer = await exchange(many.port, postBytes(CHAT, chatBody(), "Authorization: Bearer sk-team-10000\r\n"));
    assert.equal(readAnswer(answer).status, 401);
  });
});
