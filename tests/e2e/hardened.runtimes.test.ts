/** Attacks on examples/hardened/ as it is, but for ports and shorter times: only the right refusals, and a client with a key notices nothing. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { connect } from "node:net";
import { after, before, describe, it } from "node:test";
import { parse } from "yaml";
import { exampleText } from "../examples/example-files.ts";
import { makeHardenedFiles, openFrom, RegularClient, TOKENS, tellFrom } from "../support/hardened.ts";
import { openClient, postBytes, readAnswer } from "../support/raw-client.ts";
import { waitUntil } from "../support/router.ts";
import { type RouterProcess, startRouterProcess } from "../support/router-process.ts";
import { CHAT, chatBody, chatPost, event, OK, STREAM } from "../support/scripted-pool.ts";
import { chunkOf, LAST_CHUNK, type ScriptedReplica, STREAM_HEAD, startScriptedReplica } from "../support/scripted-replica.ts";
import { BODY, CODING_ROWS, LENGTH_ROWS } from "./smuggling-rows.ts";

const TIMEOUT = { timeout: 60_000 };
const MIB = 1024 * 1024;
const bearer = (key: string) => `Authorization: Bearer ${key}\r\n`;
const get = (path: string, lines = "") => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${lines}Connection: close\r\n\r\n`;

const files = makeHardenedFiles();
const keys = { alice: "", bob: "", late: "", leaving: "" };
/** Ends the streams that are open. */
const enders = new Set<() => void>();
let replica: ScriptedReplica;
let router: RouterProcess;
let regulars: readonly RegularClient[];
let nextAddress = 10;

before(async () => {
  replica = await startScriptedReplica(
    ({ body }, socket) => {
      if (!body.includes(STREAM)) return void socket.write(OK);
      socket.write(STREAM_HEAD + chunkOf(event(0)));
      enders.add(() => void socket.write(chunkOf(event(1)) + LAST_CHUNK));
    },
    ["m", "other"],
  );
  keys.alice = await files.newKey("alice", "--tenant", "search");
  keys.bob = await files.newKey("bob", "--tenant", "research", "--models", "other");
  keys.late = await files.newKey("late", "--expires", "2020-01-01");
  keys.leaving = await files.newKey("leaving");
  files.edit(/host: 0\.0\.0\.0/, "host: 127.0.0.1");
  files.edit(/host: 0\.0\.0\.0/, "host: 127.0.0.1");
  files.edit(/endpoints: \[.*\] #/, `endpoints: [{ url: "${replica.url}" }] #`);
  files.edit("headTimeoutMs: 10s", "headTimeoutMs: 4s");
  files.edit("bodyTimeoutMs: 30s", "bodyTimeoutMs: 2s");
  router = await startRouterProcess([], { config: files.at("signalbox.yaml"), hasAdmin: true });
  await waitUntil(() => router.adminPort > 0);
  const isServed = (answer: string) => answer.startsWith("HTTP/1.1 200 ") && answer.includes('"Hi"');
  const scraped = get("/metrics", bearer(TOKENS.prometheus)).replace("Connection: close\r\n", "");
  regulars = [
    new RegularClient(router.port, chatPost("", bearer(keys.alice)), isServed),
    new RegularClient(router.adminPort, scraped, (answer) => answer.startsWith("HTTP/1.1 200 ")),
  ];
});
after(async () => {
  await Promise.all(regulars.map((each) => each.end()));
  router.kill("SIGTERM");
  await router.exited;
  await replica.close();
});

/** Each attack comes from an address of its own, so that the bounds on one client are not those of another. */
function newAddress(): string {
  const address = `127.0.${nextAddress >> 8}.${nextAddress & 255}`;
  nextAddress += 1;
  return address;
}
const tell = async (bytes: string, port = router.port) => readAnswer(await tellFrom(newAddress(), port, bytes));
const codeOf = ({ json }: { readonly json: Record<string, unknown> }) =>
  (json["error"] as { code?: string } | undefined)?.code ?? json["code"];

describe("keys", () => {
  const rows: readonly (readonly [what: string, request: () => string, status: number, code: string])[] = [
    ["none", () => chatPost(), 401, "invalid_api_key"],
    ["a wrong one", () => chatPost("", bearer("sbx-wrong")), 401, "invalid_api_key"],
    ["one that has expired", () => chatPost("", bearer(keys.late)), 401, "invalid_api_key"],
    ["two", () => chatPost("", `${bearer(keys.alice)}X-Api-Key: ${keys.bob}\r\n`), 401, "invalid_api_key"],
    ["one in the query", () => postBytes(`${CHAT}?api_key=${keys.alice}`, chatBody()), 401, "invalid_api_key"],
    ["the replicas' own", () => chatPost("", bearer(TOKENS.replicas)), 401, "invalid_api_key"],
    ["an operator's", () => chatPost("", bearer(TOKENS.operators)), 401, "invalid_api_key"],
    ["another tenant's, for a model that it may not use", () => chatPost("", bearer(keys.bob)), 403, "model_not_allowed"],
    [
      "a good one, to have a replica load files",
      () => postBytes("/v1/load_lora_adapter", '{"lora_name":"x","lora_path":"/etc"}', bearer(keys.alice)),
      403,
      "adapters_closed",
    ],
    ["a good one, for the admin port's pages", () => get("/metrics", bearer(keys.alice)), 404, "unknown_path"],
  ];
  for (const [what, request, status, code] of rows)
    it(what, TIMEOUT, async () => {
      const answer = await tell(request());
      assert.deepEqual([answer.status, codeOf(answer)], [status, code]);
    });

  it("of two tenants share no prompt in the replicas' caches, and reach no replica", TIMEOUT, async () => {
    const asked = replica.requests.length;
    const other = chatPost("", "").replace('"m"', '"other"').replace("Content-Length: 58", "Content-Length: 62");
    const lengths = (text: string) => text.replace(/Content-Length: \d+/, `Content-Length: ${text.split("\r\n\r\n")[1]!.length}`);
    for (const key of [keys.alice, keys.bob])
      assert.equal((await tell(lengths(other.replace("Content-Type", `${bearer(key)}Content-Type`)))).status, 200);
    const seen = replica.requests.slice(asked).filter(({ body }) => body.includes('"other"'));
    const salts = seen.map(({ body }) => (JSON.parse(body.toString()) as { cache_salt: string }).cache_salt);
    assert.equal(new Set(salts).size, 2);
    for (const { head } of seen) assert.match(head, new RegExp(`^authorization: Bearer ${TOKENS.replicas}\r?$`, "im"));
    for (const { head } of replica.requests) assert.ok(!Object.values(keys).some((key) => head.includes(key)));
  });

  it("that is revoked while it streams: the stream ends well, and nothing else begins", TIMEOUT, async () => {
    const client = await openFrom(newAddress(), router.port);
    client.send(chatPost(STREAM, bearer(keys.leaving)));
    await client.until((received) => received.includes(event(0)));
    await files.revoke("leaving");
    let { status } = await tell(chatPost("", bearer(keys.leaving)));
    for (const endMs = performance.now() + 20_000; status === 200 && performance.now() < endMs; )
      ({ status } = await tell(chatPost("", bearer(keys.leaving))));
    assert.equal(status, 401);
    for (const end of enders) end();
    assert.match(await client.until((received) => received.endsWith(LAST_CHUNK)), /"n":1/);
    client.close();
  });
});

describe("what is too large", () => {
  const head = (lines: string) => `POST ${CHAT} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${lines}\r\n`;
  const own = () => bearer(keys.alice);
  const rows: readonly (readonly [what: string, request: () => string, status: number])[] = [
    ["a body, as announced", () => head(`${own()}Content-Length: ${9 * MIB}\r\n`), 413],
    [
      "a body that announces nothing",
      () => `${head(`${own()}Transfer-Encoding: chunked\r\n`)}${`100000\r\n${" ".repeat(MIB)}\r\n`.repeat(9)}`,
      413,
    ],
    ["a head", () => head(`${own()}X-A: ${"a".repeat(17 * 1024)}\r\n`), 431],
    ["many header lines", () => head(own() + "X-A: b\r\n".repeat(200)), 431],
    ["a body that is nested deeply", () => postBytes(CHAT, `{"model":"m","messages":${"[".repeat(100)}`, own()), 400],
    ["a body of nobody", () => head(`Content-Length: ${9 * MIB}\r\n`), 401],
  ];
  for (const [what, request, status] of rows) it(what, TIMEOUT, async () => assert.equal((await tell(request())).status, status));
});

describe("requests that parsers read differently", () => {
  const rows = [...LENGTH_ROWS, ...CODING_ROWS].filter(({ isClosed, statuses }) => isClosed && statuses.length === 1);
  it("are refused, with the connection, and none of their bytes reaches a replica", TIMEOUT, async () => {
    assert.ok(rows.length > 20);
    const send = async ({ name, sent, statuses }: (typeof rows)[number]) => {
      const hidden = chatPost(`,"hidden":"${name.length}"`, bearer(keys.alice));
      const client = await openFrom("127.0.0.9", router.port);
      client.send(sent.replace("Content-Type", `${bearer(keys.alice)}Content-Type`) + hidden);
      await client.until(() => false).catch(() => {});
      const seen = [...client.received.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));
      assert.deepEqual(seen, statuses, name);
    };
    await Promise.all(rows.map(send));
    assert.ok(!replica.requests.some(({ body }) => body.includes("hidden") || body.toString() === BODY));
  });
});

describe("clients that are slow, or silent", () => {
  it("are let go in their time: heads, bodies, handshakes", TIMEOUT, async () => {
    const half = await openFrom(newAddress(), router.port);
    half.send("POST /v1/chat/completions HTTP/1.1\r\nHost: ");
    const slow = await openFrom(newAddress(), router.port);
    slow.send(chatPost("", bearer(keys.alice)).slice(0, -20));
    const dripping = setInterval(() => slow.send(" "), 200);
    const silent = await openClient(router.port);
    const idle = await openFrom(newAddress(), router.port);
    const ended = await Promise.all([half, slow].map((each) => each.until((received) => received.includes("\r\n\r\n"))));
    clearInterval(dripping);
    for (const answer of ended) assert.match(answer, /^HTTP\/1\.1 408 /);
    await Promise.all([silent.closed(), assert.rejects(idle.until(() => false))]);
    for (const each of [half, slow]) each.close();
  });

  it("in numbers keep nobody out, on either port", TIMEOUT, async () => {
    const counts: number[] = [];
    for (const port of [router.port, router.adminPort]) {
      const address = newAddress();
      const sockets = Array.from({ length: 200 }, () => connect({ port, host: "127.0.0.1", localAddress: address }));
      let open = sockets.length;
      for (const socket of sockets) {
        socket.on("error", () => {});
        socket.on("close", () => {
          open -= 1;
        });
        socket.resume();
      }
      const servedBefore = regulars.map(({ served }) => served);
      await waitUntil(() => regulars.every(({ served }, index) => served >= servedBefore[index]! + 6), 30_000);
      counts.push(open);
      for (const socket of sockets) socket.destroy();
    }
    assert.ok(counts[0]! <= 128, `${counts[0]} of one client`);
    assert.ok(counts[1]! <= 32, `${counts[1]} on the admin port`);
  });
});

describe("the admin port", () => {
  const change = (path: string, lines: string, body = "{}", method = "POST") =>
    `${method} /api/v1${path} HTTP/1.1\r\nHost: localhost\r\n${lines}Connection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const JSON_LINE = "Content-Type: application/json\r\n";
  const operator = bearer(TOKENS.operators);
  const page = "Origin: https://evil.example\r\n";
  const evilHost = (request: string) => request.replace("Host: localhost", "Host: evil.example");
  const rows: readonly (readonly [what: string, request: () => string, status: number])[] = [
    ...[
      "/status",
      "/metrics",
      "/decisions",
      "/api/v1/endpoints",
      "/api/v1/config",
      "/api/v1/facts",
      "/api/v1/decisions/stream",
    ].map((path) => [`${path} without a token`, () => get(path), 401] as const),
    ["a wrong token", () => get("/status", bearer(`${TOKENS.operators}x`)), 401],
    ["a client's key", () => get("/status", bearer(keys.alice)), 401],
    ["a token in the query", () => get(`/status?token=${TOKENS.operators}`), 401],
    ["the operators' token", () => get("/status", operator), 200],
    ["work without a token", () => change("/explain", JSON_LINE), 401],
    ["a drain with a token that reads", () => change("/endpoints/gpu1/drain", JSON_LINE + operator), 403],
    ["a rewrite with it", () => change("/rewrites/m", JSON_LINE + operator, "{}", "PUT"), 403],
    ["a reload with it", () => change("/config/reload", JSON_LINE + operator), 403],
    ["a web page's form", () => change("/endpoints/gpu1/drain", `${page}Content-Type: text/plain\r\n`), 403],
    ["a web page's preflight", () => change("/endpoints/gpu1/drain", page, "", "OPTIONS"), 405],
    ["a web page that reads", () => get("/status", page), 401],
    ["a name that leads here", () => evilHost(get("/status", operator)), 421],
    ["a name that leads here, at the API", () => evilHost(change("/explain", JSON_LINE + operator)), 421],
    ["a body that is too large", () => change("/explain", `${JSON_LINE}${operator}`, " ".repeat(MIB + 1)), 413],
  ];
  for (const [what, request, status] of rows)
    it(`${what}: ${status}`, TIMEOUT, async () => {
      const { status: found, head } = await tell(request(), router.adminPort);
      assert.equal(found, status);
      assert.doesNotMatch(head, /access-control/i);
    });

  it("has the container's own check ask the clients' port, by TLS", TIMEOUT, async () => {
    const { services } = parse(exampleText("hardened/compose.yaml"), { merge: true }) as {
      readonly services: { readonly router: { readonly healthcheck: { readonly test: readonly string[] } } };
    };
    const [word, program, flag, code = ""] = services.router.healthcheck.test;
    assert.deepEqual([word, program, flag], ["CMD", "node", "-e"]);
    const check = (port: number) => spawn("node", ["-e", code.replace("8443", String(port))]);
    const ended = [router.port, 1].map((port) => new Promise((resolve) => check(port).on("exit", resolve)));
    assert.deepEqual(await Promise.all(ended), [0, 1]);
  });

  it("speaks TLS alone, and so does the clients' port", TIMEOUT, async () => {
    for (const port of [router.port, router.adminPort]) {
      const client = await openClient(port);
      client.send(get("/health"));
      assert.doesNotMatch(await client.closed(), /200/);
    }
  });
});

it(
  "meanwhile clients with a key, and the scraper, noticed nothing; no key is in any log; memory stays in the container's",
  TIMEOUT,
  async () => {
    await Promise.all(regulars.map((each) => each.end()));
    for (const { faults, served } of regulars) {
      assert.deepEqual(faults, []);
      assert.ok(served > 20, `${served} served`);
    }
    const lines = router.printed.split("\n").slice(0, -1);
    const records = lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line) as Record<string, unknown>);
    assert.ok(records.some((record) => record["key"] === "alice" && record["tenant"] === "search"));
    for (const secret of [...Object.values(keys), ...Object.values(TOKENS)])
      assert.ok(!router.printed.includes(secret) && !router.errors.includes(secret));
    assert.ok(router.residentBytes < 768 * MIB);
  },
);
