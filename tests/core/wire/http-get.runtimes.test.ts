import assert from "node:assert/strict";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { after, before, describe, test } from "node:test";
import { parseEndpointUrl } from "../../../core/contract/endpoint-url.ts";
import { GetError, type GetFailure } from "../../../core/wire/get-error.ts";
import { httpGet, httpSend } from "../../../core/wire/http-get.ts";
import type { GetOptions } from "../../../core/wire/http-get-result.ts";
import { settle } from "../../support/fake-clock.ts";

/** What the server does with a connection once it has read a whole request. */
type Script = (socket: Socket, request: string) => void;

const silent: Script = () => {};
let script: Script = silent;
let server: Server;
const sockets = new Set<Socket>();

before(async () => {
  server = createServer((socket) => {
    sockets.add(socket);
    let request = "";
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    socket.on("data", (chunk) => {
      request += chunk.toString("latin1");
      if (isWhole(request)) script(socket, request);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
});

after(() => {
  for (const socket of sockets) socket.destroy();
  server.close();
});

function isWhole(request: string): boolean {
  const headEnd = request.indexOf("\r\n\r\n");
  const bodyBytes = Number(/^content-length: (\d+)/im.exec(request)?.[1] ?? 0);
  return headEnd >= 0 && request.length === headEnd + 4 + bodyBytes;
}

const address = (base = "", scheme = "http") =>
  parseEndpointUrl(`${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}${base}`);
const OPTIONS: GetOptions = { timeoutMs: 20_000, maxBytes: 1_000 };
const fetchWith = (now: Script, options: Partial<GetOptions> = {}, base = "") => {
  script = now;
  return httpGet(address(base), "/v1/models", { ...OPTIONS, ...options });
};

const whole =
  (answer: string): Script =>
  (socket) =>
    socket.write(answer, "utf8");

/** One byte per write, with a turn of the event loop between them. */
const byteByByte =
  (answer: string): Script =>
  async (socket) => {
    socket.setNoDelay(true);
    for (const byte of Buffer.from(answer, "utf8")) {
      if (socket.destroyed) return;
      socket.write(Buffer.of(byte));
      await settle();
    }
  };

/** Writes the response, then ends the connection. */
const thenEnd =
  (answer: string): Script =>
  (socket) =>
    socket.end(answer, "utf8");

const head = (...lines: string[]) => `${["HTTP/1.1 200 OK", ...lines].join("\r\n")}\r\n\r\n`;

describe("a response", () => {
  const rows: readonly (readonly [name: string, answer: string, status: number, body: string])[] = [
    ["by length", `${head("Content-Length: 5")}hello`, 200, "hello"],
    ["empty", head("Content-Length: 0"), 200, ""],
    ["without a body", "HTTP/1.1 204 No Content\r\n\r\n", 204, ""],
    ["chunked", `${head("Transfer-Encoding: chunked")}3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\nX: y\r\n\r\n`, 200, "hello"],
    ["chunked and empty", `${head("Transfer-Encoding: chunked")}0\r\n\r\n`, 200, ""],
    ["while the model is loading", "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 2\r\n\r\n{}", 503, "{}"],
    ["a redirect, which is not followed", "HTTP/1.1 302 Found\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n", 302, ""],
    [
      "after interim responses",
      `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\n\r\n${head("Content-Length: 2")}ok`,
      200,
      "ok",
    ],
    ["with bytes behind it", `${head("Content-Length: 2")}okHTTP/1.1 500 X\r\n\r\n`, 200, "ok"],
    ["beyond ASCII", `${head("Content-Length: 6")}€モ`, 200, "€モ"],
    ["as long as allowed", `${head("Content-Length: 1000")}${"x".repeat(1_000)}`, 200, "x".repeat(1_000)],
  ];
  for (const [name, answer, status, body] of rows) {
    test(`${name}: whole`, async () => assert.deepEqual(await fetchWith(whole(answer)), { status, body }));
    test(`${name}: byte by byte`, async () => assert.deepEqual(await fetchWith(byteByByte(answer)), { status, body }));
  }

  test("up to the end of the connection", async () => {
    assert.deepEqual(await fetchWith(thenEnd(`${head()}hello`)), { status: 200, body: "hello" });
    assert.deepEqual(await fetchWith(thenEnd("HTTP/1.0 200 OK\r\n\r\nhello")), { status: 200, body: "hello" });
  });
});

describe("the request", () => {
  test("is one GET on its own connection, below the base path", async () => {
    let seen = "";
    const record: Script = (socket, request) => {
      seen = request;
      socket.write(head("Content-Length: 0"));
    };
    await fetchWith(record, { headers: { authorization: "Bearer key" } }, "/llm/v1");
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    assert.deepEqual(seen.split("\r\n"), [
      "GET /llm/v1/models HTTP/1.1",
      `host: ${host}`,
      "accept: */*",
      "accept-encoding: identity",
      "connection: close",
      "authorization: Bearer key",
      "",
      "",
    ]);
  });

  test("closes its connection even if the replica keeps it open", async () => {
    const closed = new Promise<void>((resolve) => {
      script = (socket) => {
        socket.on("close", () => resolve());
        socket.write(head("Content-Length: 2", "Connection: keep-alive"));
        socket.write("ok");
      };
    });
    await httpGet(address(), "/v1/models", OPTIONS);
    await closed;
  });

  for (const path of ["/a b", "/a\r\nX: y"]) {
    test(`is not sent with the path ${JSON.stringify(path)}`, async () => {
      await assert.rejects(httpGet(address(), path, OPTIONS), { name: "GetError", reason: "invalid" });
    });
  }

  test("is not sent with a line break in a header", async () => {
    await assert.rejects(httpGet(address(), "/", { ...OPTIONS, headers: { key: "a\r\nX: y" } }), { reason: "invalid" });
  });
});

describe("no response", () => {
  const manyInterim = "HTTP/1.1 100 Continue\r\n\r\n".repeat(40);
  const rows: readonly (readonly [name: string, reason: GetFailure, script: Script])[] = [
    ["a length beyond the limit", "too-large", whole(head("Content-Length: 1001"))],
    ["chunks beyond the limit", "too-large", whole(`${head("Transfer-Encoding: chunked")}3e9\r\n${"x".repeat(1_001)}`)],
    ["an endless body", "too-large", whole(`${head()}${"x".repeat(1_001)}`)],
    ["the end before a head", "reset", thenEnd("")],
    ["the end inside the head", "reset", thenEnd("HTTP/1.1 200 OK\r\nConten")],
    ["the end inside the body", "reset", thenEnd(`${head("Content-Length: 5")}hel`)],
    ["the end inside the chunks", "reset", thenEnd(`${head("Transfer-Encoding: chunked")}3\r\nhel\r\n`)],
    ["a reset", "reset", (socket) => void socket.resetAndDestroy()],
    ["not HTTP", "invalid", whole("SSH-2.0-OpenSSH_9.2\r\n")],
    ["an invalid chunk size", "invalid", whole(`${head("Transfer-Encoding: chunked")}zz\r\n`)],
    ["two lengths", "invalid", whole(head("Content-Length: 5", "Content-Length: 6"))],
    ["an upgrade nobody asked for", "invalid", whole("HTTP/1.1 101 Switching Protocols\r\n\r\n")],
    ["endless interim responses", "invalid", whole(manyInterim)],
    ["an endless head", "invalid", whole(head(`X: ${"x".repeat(100_000)}`))],
  ];
  for (const [name, reason, now] of rows) {
    test(`${name}: ${reason}`, async () => {
      await assert.rejects(fetchWith(now), (error) => error instanceof GetError && error.reason === reason);
    });
  }

  const late: readonly (readonly [name: string, script: Script])[] = [
    ["silence", silent],
    ["silence inside the head", whole("HTTP/1.1 200 OK\r\n")],
    ["silence inside the body", whole(`${head("Content-Length: 5")}hel`)],
    ["silence after an interim response", whole("HTTP/1.1 100 Continue\r\n\r\n")],
  ];
  for (const [name, now] of late) {
    test(`${name}: timeout`, async () => {
      await assert.rejects(fetchWith(now, { timeoutMs: 100 }), { name: "GetError", reason: "timeout" });
    });
  }

  test("a standstill of this process is no silence of the server", async () => {
    const later: Script = (socket) => {
      setTimeout(() => socket.write(`${head("Content-Length: 2")}{}`), 100);
      // In the next turn nothing runs for longer than the limit.
      setTimeout(() => {
        for (const fromMs = performance.now(); performance.now() - fromMs < 700; );
      }, 0);
    };
    assert.equal((await fetchWith(later, { timeoutMs: 500 })).body, "{}");
  });

  test("nobody listens: refused", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => {
      other.listen(0, "127.0.0.1", resolve);
    });
    const { port } = other.address() as AddressInfo;
    await new Promise<void>((resolve) => {
      other.close(() => resolve());
    });
    for (const host of ["127.0.0.1", "localhost"]) {
      const url = parseEndpointUrl(`http://${host}:${port}`);
      await assert.rejects(httpGet(url, "/", OPTIONS), { name: "GetError", reason: "refused" });
    }
  });

  test("a name that no host has: no such host", async () => {
    // No name server is asked for a name with an empty part.
    for (const scheme of ["http", "https"]) {
      const url = parseEndpointUrl(`${scheme}://no..host:8000`);
      await assert.rejects(httpGet(url, "/", OPTIONS), { name: "GetError", reason: "no such host" });
    }
  });

  test("TLS to a replica without it", async () => {
    script = silent;
    await assert.rejects(httpGet(address("", "https"), "/", { ...OPTIONS, timeoutMs: 200 }), GetError);
  });

  test("aborted by its signal, before and during the exchange", async () => {
    const stopping = new AbortController();
    const signal = stopping.signal;
    const page = fetchWith(() => stopping.abort(), { signal });
    await assert.rejects(page, GetError);
    await assert.rejects(fetchWith(whole(head("Content-Length: 0")), { signal }), GetError);
  });
});

test("a POST has its document, with its length in bytes, and its response is read as a GET's is", async () => {
  let seen = "";
  script = (socket, request) => {
    seen = request;
    socket.write(`${head("Content-Length: 4")}done`);
  };
  const document = { lora_name: "é" };
  const body = JSON.stringify(document);
  const result = await httpSend(address("/llm"), "/v1/load_lora_adapter", { ...OPTIONS, method: "POST", body });
  assert.deepEqual(result, { status: 200, body: "done" });
  assert.match(seen, /^POST \/llm\/v1\/load_lora_adapter HTTP\/1\.1\r\n/);
  assert.match(seen, /\r\ncontent-type: application\/json\r\ncontent-length: 18\r\n/);
  assert.deepEqual(JSON.parse(Buffer.from(seen.slice(seen.indexOf("\r\n\r\n") + 4), "latin1").toString()), document);
});
