import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { after, describe, it } from "node:test";
import { KubernetesClient } from "../../../apps/kubernetes/client.ts";
import type { Credentials, Identity } from "../../../apps/kubernetes/identity.ts";
import { KubernetesError } from "../../../apps/kubernetes/kubernetes-error.ts";
import { systemClock } from "../../../core/contract/clock.ts";
import { secretOf } from "../../../core/contract/secret.ts";
import { FakeClock, settle } from "../../support/fake-clock.ts";
import { waitUntil } from "../../support/router.ts";

const TIMEOUT = { timeout: 20_000 };

interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** A client of a plain HTTP server whose responses the test writes. */
async function setUp(
  respond: (response: ServerResponse, asked: Asked) => void,
  { basePath = "", clock = systemClock, tokens = ["s3cret"] as readonly string[] } = {},
) {
  const asked: Asked[] = [];
  const server = createServer((incoming, outgoing) => {
    let body = "";
    incoming.on("data", (chunk) => {
      body += chunk;
    });
    incoming.on("end", () => {
      const { method = "", url = "", headers } = incoming;
      const one = { method, url, headers, body };
      asked.push(one);
      respond(outgoing, one);
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  let turn = 0;
  const credentials: Credentials = {
    server: new URL(`http://127.0.0.1:${port}${basePath}`),
    serverName: "",
    isVerified: true,
    namespace: "default",
    from: "the test",
    identity: async (): Promise<Identity> => ({ token: secretOf(tokens[turn] ?? "", "the test") }),
    forget: () => ++turn < tokens.length,
  };
  return { client: new KubernetesClient(credentials, clock, () => 1), asked, server };
}

function send(response: ServerResponse, status: number, document: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(document));
}

const failureOf = async (promise: Promise<unknown>): Promise<KubernetesError> => {
  try {
    await promise;
  } catch (thrown) {
    assert.ok(thrown instanceof KubernetesError, String(thrown));
    return thrown;
  }
  assert.fail("It did not fail");
};

describe("a client of the Kubernetes API", () => {
  it("sends a document below the server's path, with its token, and reads one", TIMEOUT, async () => {
    const { client, asked } = await setUp((response) => send(response, 201, { kind: "Pod", name: "Grün" }), {
      basePath: "/k8s/c-1/",
    });
    const options = { body: { weight: 1, name: "für" }, contentType: "application/merge-patch+json" };
    assert.deepEqual(await client.request("PATCH", "/api/v1/pods?limit=1", options), { kind: "Pod", name: "Grün" });
    const [one] = asked;
    assert.equal(one?.method, "PATCH");
    assert.equal(one?.url, "/k8s/c-1/api/v1/pods?limit=1");
    assert.equal(one?.headers.authorization, "Bearer s3cret");
    assert.equal(one?.headers["content-type"], "application/merge-patch+json");
    assert.deepEqual(JSON.parse(one?.body ?? ""), { weight: 1, name: "für" });
  });

  it("rejects with status, reason and message of the server", TIMEOUT, async () => {
    const status = { kind: "Status", code: 409, reason: "Conflict", message: "the object has been modified" };
    const { client } = await setUp((response) => send(response, 409, status));
    const error = await failureOf(client.request("PUT", "/x", { body: {} }));
    assert.deepEqual([error.status, error.reason], [409, "Conflict"]);
    assert.match(error.message, /refuses PUT \/x with status 409: the object has been modified/);
  });

  it("shows of a proxy's error page one short printable line", TIMEOUT, async () => {
    const { client } = await setUp((response) => {
      response.writeHead(502, { "content-type": "text/html" });
      response.end(`<h1>\u001b[31mBad\nGateway${"x".repeat(100_000)}`);
    });
    const error = await failureOf(client.request("GET", "/x"));
    assert.equal(error.status, 502);
    assert.ok(error.message.length < 500);
    assert.match(error.message, /<h1>\?\[31mBad\?Gatewayx/);
  });

  it("asks once more when its token is refused, with the token that there is then", TIMEOUT, async () => {
    const respond = (response: ServerResponse, { headers }: Asked) =>
      send(response, headers.authorization === "Bearer new" ? 200 : 401, { message: "Unauthorized" });
    const renewed = await setUp(respond, { tokens: ["old", "new"] });
    assert.deepEqual(await renewed.client.request("GET", "/x"), { message: "Unauthorized" });
    assert.equal(renewed.asked.length, 2);
    const stale = await setUp(respond, { tokens: ["old", "older", "oldest"] });
    const error = await failureOf(stale.client.request("GET", "/x"));
    assert.equal(error.status, 401);
    assert.doesNotMatch(error.message, /old/);
    assert.equal(stale.asked.length, 2);
  });

  it("rejects what is no JSON, what ends early, and what is too long", TIMEOUT, async () => {
    const { client } = await setUp((response, { url }) => {
      if (url === "/readyz") return void response.end("ok");
      if (url === "/text") return void response.end("secret");
      if (url === "/long") {
        response.writeHead(200);
        const more = () => {
          while (!response.destroyed && response.write(Buffer.alloc(1024 * 1024)));
          if (!response.destroyed) response.once("drain", more);
        };
        return more();
      }
      response.writeHead(200, { "content-length": "100" });
      response.write('{"kind":');
      setTimeout(() => response.destroy(), 50);
    });
    assert.match((await failureOf(client.request("GET", "/text"))).message, /^The response to GET \/text is not JSON\.$/);
    assert.match((await failureOf(client.request("GET", "/early"))).message, /gives no response|not JSON/);
    assert.match((await failureOf(client.request("GET", "/long"))).message, /more than \d+ bytes/);
  });

  it("gives up a response that does not come, by the clock", TIMEOUT, async () => {
    const clock = new FakeClock();
    const { client, asked } = await setUp(() => {}, { clock });
    const failing = failureOf(client.request("GET", "/x"));
    await waitUntil(() => asked.length === 1);
    await clock.advance(30_000);
    assert.match((await failing).message, /gives no response: nothing for 30 s/);
    assert.equal(clock.pending, 0);
  });

  it("says where nobody listens", TIMEOUT, async () => {
    const { client, server } = await setUp(() => {});
    await new Promise((closed) => server.close(closed));
    const error = await failureOf(client.request("GET", "/x"));
    assert.equal(error.status, 0);
    assert.match(error.message, /^The Kubernetes API at 127\.0\.0\.1:\d+ gives no response/);
  });

  it("rejects at once when it is aborted, before and during a request", TIMEOUT, async () => {
    const { client, asked } = await setUp(() => {});
    assert.match((await failureOf(client.request("GET", "/x", { signal: AbortSignal.abort() }))).message, /broken off/);
    const aborting = new AbortController();
    const failing = failureOf(client.request("GET", "/x", { signal: aborting.signal }));
    await waitUntil(() => asked.length === 1);
    aborting.abort();
    assert.match((await failing).message, /broken off/);
  });

  it("hands on a stream as it comes, for as long as it lasts", TIMEOUT, async () => {
    const clock = new FakeClock();
    let outgoing: ServerResponse | undefined;
    const { client } = await setUp(
      (response) => {
        outgoing = response;
        response.writeHead(200);
        response.flushHeaders();
      },
      { clock },
    );
    let text = "";
    let hasBegun = false;
    const streaming = client.stream("/watch", {
      signal: new AbortController().signal,
      begun: () => {
        hasBegun = true;
      },
      bytes: (chunk) => {
        text += Buffer.from(chunk).toString();
      },
    });
    await waitUntil(() => hasBegun);
    await clock.advance(3_600_000);
    for (const part of ["one", " two", " three"]) {
      outgoing?.write(part);
      await waitUntil(() => text.endsWith(part));
    }
    outgoing?.end();
    await streaming;
    await settle();
    assert.equal(text, "one two three");
  });

  it("ends a stream when its reader throws, or when it is aborted", TIMEOUT, async () => {
    let closed = 0;
    const { client } = await setUp((response) => {
      response.on("close", () => closed++);
      response.write("x");
    });
    const signal = new AbortController().signal;
    const refuse = () => {
      throw new Error("no event");
    };
    assert.match((await failureOf(client.stream("/w", { signal, begun() {}, bytes: refuse }))).message, /no event/);
    const aborting = new AbortController();
    const bytes = () => aborting.abort();
    assert.match((await failureOf(client.stream("/w", { signal: aborting.signal, begun() {}, bytes }))).message, /broken off/);
    await waitUntil(() => closed === 2);
  });
});
