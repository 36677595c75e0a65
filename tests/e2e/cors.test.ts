/** Web pages of other origins: what browsers ask before a request, and what they want on every response. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { startFetchRouter } from "../support/fetch-router.ts";
import { openClient } from "../support/raw-client.ts";
import { startTestRouter } from "../support/router.ts";
import { CHAT, chatBody } from "../support/scripted-pool.ts";
import { jsonAnswer, type ScriptedReplica, startScriptedReplica } from "../support/scripted-replica.ts";

const PAGE = "https://chat.example";
const JSON_TYPE = { "content-type": "application/json" };

interface Face {
  send(path: string, init: RequestInit): Promise<Response>;
  close(): Promise<void> | void;
}

/** Each way in, with the given `listen.cors`. */
const FACES: Readonly<Record<string, (url: string, cors: string | undefined) => Promise<Face>>> = {
  async wire(url, cors) {
    const router = await startTestRouter([url], cors === undefined ? {} : { cors });
    return { send: (path, init) => sendRaw(router.port, path, init), close: () => router.close() };
  },
  async fetch(url, cors) {
    const router = await startFetchRouter([url], { spec: cors === undefined ? "" : `  listen: { cors: ${cors} }` });
    return { send: (path, init) => router.fetch(new Request(`http://router${path}`, init)), close: () => router.close() };
  },
};

/** Over a socket, because some runtimes' own clients leave out the headers that only browsers may set. */
async function sendRaw(port: number, path: string, { method = "GET", headers = {}, body = "" }: RequestInit): Promise<Response> {
  const client = await openClient(port);
  const lines = Object.entries(headers as Record<string, string>).map(([name, value]) => `${name}: ${value}\r\n`);
  client.send(
    `${method} ${path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n${lines.join("")}Content-Length: ${String(body).length}\r\n\r\n${body}`,
  );
  const text = await client.closed();
  const [head = "", ...rest] = text.split("\r\n\r\n");
  const [status = "", ...headerLines] = head.split("\r\n");
  const pairs = headerLines.map((line): [string, string] => [
    line.slice(0, line.indexOf(":")),
    line.slice(line.indexOf(":") + 1).trim(),
  ]);
  const code = Number(status.split(" ")[1]);
  return new Response(code === 204 ? null : rest.join("\r\n\r\n"), { status: code, headers: pairs });
}

/** As vLLM with its own CORS answers. */
const THEIRS = "Access-Control-Allow-Origin: *\r\nAccess-Control-Allow-Credentials: true\r\nVary: Origin\r\n";

let replica: ScriptedReplica;
before(async () => {
  replica = await startScriptedReplica((_request, socket) => {
    const answer = jsonAnswer('{"choices":[{"index":0}],"ok":true}').toString();
    socket.write(answer.replace("\r\n", `\r\n${THEIRS}`));
  });
});
after(() => replica.close());

const corsOf = ({ headers }: Response) =>
  Object.fromEntries(
    ["allow-origin", "allow-credentials", "expose-headers", "allow-methods", "allow-headers", "max-age"].flatMap((name) => {
      const value = headers.get(`access-control-${name}`);
      return value === null ? [] : [[name, value]];
    }),
  );

const preflight = (origin: string, asked = "authorization, content-type"): RequestInit => ({
  method: "OPTIONS",
  headers: { origin, "access-control-request-method": "POST", "access-control-request-headers": asked },
});
const chat = (headers: Record<string, string>): RequestInit => ({
  method: "POST",
  headers: { ...JSON_TYPE, ...headers },
  body: chatBody(),
});

it("an error before there is a head has them for pages of every origin", async () => {
  const router = await startTestRouter([replica.url], { cors: '{ origins: ["*"] }' });
  const client = await openClient(router.port);
  client.send("no request\r\n\r\n");
  assert.match(await client.closed(), /^HTTP\/1\.1 400 (?:.*\r\n)*access-control-allow-origin: \*\r\n/);
  await router.close();
});

for (const [face, start] of Object.entries(FACES)) {
  describe(`CORS, ${face}`, () => {
    const withRouter = async (cors: string | undefined, run: (router: Face) => Promise<void>) => {
      const router = await start(replica.url, cors);
      try {
        await run(router);
      } finally {
        await router.close();
      }
    };

    it("is off by default: preflights get 405, and responses are as the replica made them", () =>
      withRouter(undefined, async (router) => {
        const asked = await router.send(CHAT, preflight(PAGE));
        assert.deepEqual([asked.status, corsOf(asked)], [405, {}]);
        const answer = await router.send(CHAT, chat({ origin: PAGE }));
        assert.deepEqual(corsOf(answer), { "allow-origin": "*", "allow-credentials": "true" });
        assert.deepEqual(corsOf(await router.send("/health", { headers: { origin: PAGE } })), {});
      }));

    it("answers preflights of a listed origin itself", () =>
      withRouter(`{ origins: [${PAGE}] }`, async (router) => {
        const before = replica.requests.length;
        for (const path of [CHAT, "/v1/models", "/nowhere"]) {
          const answer = await router.send(path, preflight(PAGE));
          const methods = { [CHAT]: "POST", "/v1/models": "GET, HEAD", "/nowhere": "GET, HEAD, POST" }[path]!;
          assert.equal(answer.status, 204);
          assert.deepEqual(corsOf(answer), {
            "allow-origin": PAGE,
            "expose-headers": "*",
            "allow-methods": methods,
            "allow-headers": "authorization, content-type",
            "max-age": "600",
          });
          assert.equal(answer.headers.get("vary"), "origin");
          assert.equal(await answer.text(), "");
        }
        assert.equal(replica.requests.length, before);
      }));

    it("refuses those of another origin, and says where to list it", () =>
      withRouter(`{ origins: [${PAGE}] }`, async (router) => {
        for (const origin of ["https://other.example", "http://chat.example", "https://chat.example:444", "null"]) {
          const answer = await router.send(CHAT, preflight(origin));
          assert.deepEqual([answer.status, corsOf(answer), answer.headers.get("vary")], [403, {}, "origin"]);
          const { error } = (await answer.json()) as { error: { code: string; message: string } };
          assert.equal(error.code, "origin_not_allowed");
          assert.match(error.message, /spec\.listen\.cors\.origins/);
        }
      }));

    it("has its headers on answers of every kind, once", () =>
      withRouter(`{ origins: [${PAGE}, "http://localhost:3000"] }`, async (router) => {
        const requests: readonly (readonly [path: string, init: RequestInit, status: number])[] = [
          [CHAT, chat({ origin: PAGE }), 200],
          ["/v1/models", { headers: { origin: PAGE } }, 200],
          ["/health", { headers: { origin: PAGE } }, 200],
          ["/ready", { headers: { origin: PAGE } }, 200],
          ["/nowhere", { headers: { origin: PAGE } }, 404],
          [CHAT, { headers: { origin: PAGE } }, 405],
          [CHAT, { ...chat({ origin: PAGE }), body: "{" }, 400],
          [CHAT, { ...chat({ origin: PAGE }), body: '{"model":"unknown","messages":[]}' }, 404],
          ["/v1/messages", { ...chat({ origin: PAGE }), body: '{"model":"m"' }, 400],
        ];
        for (const [path, init, status] of requests) {
          const answer = await router.send(path, init);
          assert.equal(answer.status, status, path);
          assert.deepEqual(corsOf(answer), { "allow-origin": PAGE, "expose-headers": "*" }, `${path} ${status}`);
          assert.equal(answer.headers.get("vary"), "origin");
        }
        for (const headers of [{}, { origin: "https://other.example" }] as Record<string, string>[]) {
          const answer = await router.send(CHAT, chat(headers));
          assert.deepEqual([answer.status, corsOf(answer), answer.headers.get("vary")], [200, {}, "origin"]);
        }
      }));

    it("lets pages of every origin in, with the headers and the time that the config gives", () =>
      withRouter('{ origins: ["*"], headers: [Authorization, Content-Type], maxAgeS: 5 }', async (router) => {
        const asked = await router.send(CHAT, preflight("null", "x-anything"));
        assert.deepEqual(corsOf(asked), {
          "allow-origin": "*",
          "expose-headers": "*",
          "allow-methods": "POST",
          "allow-headers": "Authorization, Content-Type",
          "max-age": "5",
        });
        const answer = await router.send(CHAT, chat({}));
        assert.deepEqual([corsOf(answer), answer.headers.get("vary")], [{ "allow-origin": "*", "expose-headers": "*" }, null]);
      }));

    it("takes OPTIONS without a page's question for what it is", () =>
      withRouter(`{ origins: [${PAGE}] }`, async (router) => {
        assert.equal((await router.send(CHAT, { method: "OPTIONS", headers: { origin: PAGE } })).status, 405);
        assert.equal((await router.send(CHAT, { method: "OPTIONS" })).status, 405);
      }));

    it("repeats only header names", () =>
      withRouter('{ origins: ["*"] }', async (router) => {
        const bad = await router.send(CHAT, preflight(PAGE, "x-a; y <b>"));
        assert.deepEqual([bad.status, bad.headers.get("access-control-allow-headers")], [204, null]);
      }));
  });
}
