import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { after, before, describe, it } from "node:test";
import type { AdminServer } from "../../../apps/admin/server.ts";
import { readPageFiles } from "../../../apps/cli/start/open-admin.ts";
import type { Observer } from "../../../core/contract/observer.ts";
import { ADMIN_CONNECTIONS } from "../../../core/runtime/open-file-limit.ts";
import { askFor, startTestAdmin } from "../../support/admin.ts";
import { makeShownRouter } from "../../support/view.ts";

const observer: Observer = {
  finished() {},
  pages: [
    {
      path: "/hello",
      contentType: "text/plain",
      render: (view, query) => `${view.pool.endpoints.length} endpoints say ${query.get("word") ?? "nothing"}`,
    },
    {
      path: "/broken",
      contentType: "text/plain",
      render: () => {
        throw new Error("PRIVATE");
      },
    },
  ],
};

const logged: string[] = [];
const log = { info() {}, warn() {}, error: (message: string) => void logged.push(message) };
let admin: AdminServer;
before(async () => {
  admin = await startAdmin();
});
after(() => admin.close());

function startAdmin(): Promise<AdminServer> {
  const router = makeShownRouter([], { config: { observers: [{ name: "mine", type: "mine", plugin: observer }] } });
  return startTestAdmin(router, { log, hosts: ["box.example.org"] });
}

const ask = (path: string, options: Parameters<typeof askFor>[2] = {}) => askFor(admin.port, path, options);

describe("pages", () => {
  const files = readPageFiles();
  const cases: readonly (readonly [path: string, contentType: string, body: string | RegExp])[] = [
    ...[...files].map(([path, { contentType, text }]) => [path, contentType, text] as const),
    ["/status", "application/json", /^\{"time":.*"pool":"llama".*\}$/],
    ["/hello", "text/plain", "0 endpoints say nothing"],
    ["/hello?word=%C3%A9+1", "text/plain", "0 endpoints say é 1"],
    ["http://localhost/hello", "text/plain", "0 endpoints say nothing"],
  ];
  for (const [path, contentType, body] of cases) {
    it(`GET ${path}`, async () => {
      const answer = await ask(path);
      assert.equal(answer.status, 200);
      assert.match(answer.head.toLowerCase(), new RegExp(`^content-type: ${contentType}\\r?$`, "m"));
      if (typeof body === "string") assert.equal(answer.body, body);
      else assert.match(answer.body, body);
    });
  }

  it("HEAD has the length and no body", async () => {
    const answer = await ask("/hello", { method: "HEAD" });
    assert.equal(answer.status, 200);
    assert.match(answer.head, /^Content-Length: 23\r?$/m);
    assert.equal(answer.body, "");
  });

  it("loads nothing from elsewhere", () => {
    const texts = [...files.values()].map(({ text }) => text);
    for (const text of texts)
      assert.doesNotMatch(text.replaceAll("http://www.w3.org/2000/svg", ""), /https?:\/\/|\/\/[a-z]+\.[a-z]|@import/);
    assert.doesNotMatch(texts[0] ?? "", / on[a-z]+=| style=|<script>|<style>/);
    for (const text of texts.slice(1))
      assert.doesNotMatch(text, /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function/);
  });

  it("is small", () => {
    const bytes = [...files.values()].reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
    assert.ok(bytes < 68_000, `${bytes} bytes`);
  });

  it("serves every file of its folder, and each of its scripts is imported by another one or by the page", () => {
    const served = [...files.keys()].map((path) => (path === "/" ? "page.html" : path.slice("/page/".length)));
    assert.deepEqual(served.sort(), readdirSync("apps/admin/page").sort());
    const all = [...files.values()].map(({ text }) => text).join("\n");
    for (const name of served.filter((each) => each.endsWith(".js"))) assert.match(all, new RegExp(`"(\\./|page/)${name}"`));
  });
});

describe("what is refused", () => {
  const cases: readonly [name: string, path: string, options: Parameters<typeof askFor>[2], status: number, code: string][] = [
    ["an unknown page", "/nope", {}, 404, "unknown_path"],
    ["a page of the other port", "/v1/models", {}, 404, "unknown_path"],
    ["a path that leads upwards", "/../page.css", {}, 404, "unknown_path"],
    ["POST", "/status", { method: "POST" }, 405, "method_not_allowed"],
    ["DELETE", "/hello", { method: "DELETE" }, 405, "method_not_allowed"],
    [
      "a CORS preflight",
      "/status",
      { method: "OPTIONS", lines: "Host: localhost\r\nOrigin: http://evil.example\r\n" },
      405,
      "method_not_allowed",
    ],
    ["an unknown host name", "/status", { lines: "Host: evil.example\r\n" }, 421, "unknown_host"],
    ["an unknown host name, even for an unknown page", "/nope", { lines: "Host: evil.example:9090\r\n" }, 421, "unknown_host"],
    ["a page that fails", "/broken", {}, 500, "page_failed"],
  ];
  for (const [name, path, options, status, code] of cases) {
    it(name, async () => {
      const answer = await ask(path, options);
      assert.equal(answer.status, status);
      const { error } = JSON.parse(answer.body) as { error: { code: string; message: string } };
      assert.equal(error.code, code);
      assert.match(error.message, /^[A-Z].*\.$/);
      assert.doesNotMatch(answer.body, /PRIVATE|evil/);
      assert.equal(/^allow: GET, HEAD\r?$/im.test(answer.head), status === 405);
    });
  }

  it("an error while rendering a page is logged", async () => {
    logged.length = 0;
    await ask("/broken");
    assert.deepEqual(logged, ["A page of the admin port could not be rendered"]);
  });

  it("the body of a GET is ignored", async () => {
    const answer = await ask("/hello", { lines: "Host: localhost\r\nContent-Length: 0\r\n" });
    assert.equal(answer.status, 200);
  });
});

describe("every response", () => {
  for (const path of ["/", "/status", "/hello", "/nope"]) {
    it(`${path} is safe in a browser`, async () => {
      const { head } = await ask(path);
      assert.match(head, /^content-security-policy: default-src 'none'; script-src 'self'; .*frame-ancestors 'none'\r?$/m);
      assert.match(head, /^x-content-type-options: nosniff\r?$/m);
      assert.match(head, /^cross-origin-resource-policy: same-origin\r?$/m);
      assert.match(head, /^cache-control: no-store\r?$/m);
      assert.doesNotMatch(head, /access-control/i);
    });
  }
});

describe("accepted host names", () => {
  for (const host of ["localhost", `127.0.0.1:9090`, "[::1]:1", "box", "box.example.org:80"]) {
    it(host, async () => assert.equal((await ask("/hello", { lines: `Host: ${host}\r\n` })).status, 200));
  }
});

describe("connections that bring no request do not keep others out", () => {
  const rows: readonly (readonly [what: string, sent: string, address?: string])[] = [
    ["silent ones", ""],
    ["unfinished heads", "GET /status HTTP/1.1\r\nHost: "],
    ["unfinished bodies", "POST /api/v1/explain HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{"],
    ["kept ones, or some with a response under way", "HEAD /hello HTTP/1.1\r\nHost: localhost\r\n\r\n", "127.0.0.2"],
  ];
  for (const [what, sent, address] of rows)
    it(what, async () => {
      const { port, close } = await startAdmin();
      const many = await Promise.all(Array.from({ length: 2 * ADMIN_CONNECTIONS }, () => connected(port, sent, address)));
      for (let i = 0; i < 3; i++) assert.equal((await askFor(port, "/hello")).status, 200);
      for (const socket of many) socket.destroy();
      await close();
    });
});

it("who opens many connections displaces their own, not those of others", async () => {
  const { port, close } = await startAdmin();
  const own = await connected(port, "GET /hello HTTP/1.1\r\nHost: ");
  const ended = new Promise((resolve) => own.once("close", resolve));
  let received = "";
  own.on("data", (chunk) => {
    received += String(chunk);
  });
  const many = await Promise.all(Array.from({ length: 3 * ADMIN_CONNECTIONS }, () => connected(port, "", "127.0.0.2")));
  own.write("localhost\r\nConnection: close\r\n\r\n");
  await ended;
  for (const socket of many) socket.destroy();
  await close();
  assert.match(received, /^HTTP\/1\.1 200 /);
});

/** A connection that has sent these bytes, from this address. */
function connected(port: number, sent: string, localAddress = "127.0.0.1"): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1", localAddress }, () =>
      socket.write(sent === "" ? "\r\n" : sent, () => resolve(socket)),
    );
    socket.on("error", () => resolve(socket));
    socket.resume();
  });
}
