import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { CHAT, chatBody, startFetchRouter, type TestFetchRouter } from "../../support/fetch-router.ts";
import { openClient } from "../../support/raw-client.ts";
import { startTestRouter, type TestRouter } from "../../support/router.ts";
import {
  chunkOf,
  jsonAnswer,
  LAST_CHUNK,
  type Script,
  type ScriptedReplica,
  STREAM_HEAD,
  startScriptedReplica,
} from "../../support/scripted-replica.ts";
import { wholeAnswer } from "../../support/whole-answer.ts";

interface Asked {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

interface Seen {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: string;
  readonly isComplete: boolean;
}

/** How the replica responds, by the number in the request's `seed`. */
const RESPONSES: readonly string[] = [
  jsonAnswer('{"choices":[{"index":0}],"ok":true}'),
  jsonAnswer(
    '{"ok":true}',
    "200 Fine, thank you",
    "Set-Cookie: a=1\r\nSet-Cookie: b=2\r\nX-Name: caf\xe9\r\nX-Empty:\r\nServer: uvicorn\r\nDate: Thu\r\n",
  ),
  jsonAnswer('{"error":{"message":"no"}}', "404 Not Found"),
  jsonAnswer('{"error":{"message":"slow down"}}', "429 Too Many Requests", "Retry-After: 7\r\n"),
  jsonAnswer("", "200 OK"),
  "HTTP/1.1 204 No Content\r\n\r\n",
  "HTTP/1.1 304 Not Modified\r\nETag: x\r\n\r\n",
  jsonAnswer("{}", "599 Whatever", "X-Request-Id: theirs\r\nX-Signalbox-Endpoint: forged\r\nKeep-Alive: timeout=5\r\n"),
  "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-T\r\n\r\n5;a=b\r\nhello\r\n0\r\nX-T: 1\r\n\r\n",
  STREAM_HEAD + chunkOf("data: {}\n\n") + chunkOf("data: é\n\n") + chunkOf("data: [DONE]\n\n") + LAST_CHUNK,
  jsonAnswer(`{"text":"${"x".repeat(3_000_000)}"}`),
  `${STREAM_HEAD}${chunkOf(`data: ${"y".repeat(200_000)}\n\n`).repeat(5)}${LAST_CHUNK}`,
  "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc",
  "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
];
/** These end the connection after the bytes. */
const ENDING: readonly string[] = [
  "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nhello",
  "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n0123456789",
  STREAM_HEAD + chunkOf("data: {}\n\n") + chunkOf("data: {"),
  "",
];

const script: Script = (request, socket) => {
  const seed = Number(/"seed":(\d+)/.exec(request.body.toString())?.[1] ?? 0);
  if (seed < RESPONSES.length) socket.write(RESPONSES[seed]!, "latin1");
  else socket.end(ENDING[seed - RESPONSES.length]!, "latin1");
};

const JSON_TYPE = { "content-type": "application/json" };
const post = (target: string, body: string | undefined, headers: Readonly<Record<string, string>> = JSON_TYPE): Asked => ({
  method: "POST",
  target,
  headers,
  body,
});
const get = (target: string, method = "GET"): Asked => ({ method, target, headers: {}, body: undefined });

const REQUESTS: readonly (readonly [name: string, asked: Asked])[] = [
  ...[...RESPONSES, ...ENDING].map((_, seed) => [`response ${seed}`, post(CHAT, chatBody(`,"seed":${seed}`))] as const),
  [
    "a stream that breaks, on messages",
    post("/v1/messages", chatBody(`,"max_tokens":5,"stream":true,"seed":${RESPONSES.length + 2}`)),
  ],
  [
    "a stream that breaks, on responses",
    post("/v1/responses", `{"model":"m","input":"x","stream":true,"seed":${RESPONSES.length + 2}}`),
  ],
  ["completions", post("/v1/completions", '{"model":"m","prompt":"hi"}')],
  ["token ids", post("/inference/v1/generate", '{"model":"m","token_ids":[1,2],"sampling_params":{}}')],
  ["embeddings", post("/v1/embeddings", '{"model":"m","input":"hi"}')],
  ["a rewrite", post(CHAT, '{"messages":[{"role":"user","content":"hello"}], "model" : "alias"}')],
  ["a query", post(`${CHAT}?a=%20&b=?`, chatBody())],
  ["an encoded path", post("/v1/chat%2Fcompletions", chatBody())],
  ["a bar in the path", get("/a|b")],
  ["brackets in the path", get("/a[b]")],
  ["an unknown path", post("/v1/files", chatBody())],
  ["a wrong method", get(CHAT)],
  ["another wrong method", get("/v1/models", "OPTIONS")],
  ["the model list", get("/v1/models")],
  ["the head of the model list", get("/v1/models", "HEAD")],
  ["health", get("/health")],
  ["readiness", get("/ready")],
  ["the head of nothing", get("/nothing", "HEAD")],
  ["no content type", post(CHAT, chatBody(), {})],
  ["a content type with parameters", post(CHAT, chatBody(), { "content-type": "Application/JSON; charset=utf-8" })],
  ["another content type", post(CHAT, chatBody(), { "content-type": "text/plain" })],
  ["a compressed body", post(CHAT, chatBody(), { ...JSON_TYPE, "content-encoding": "gzip" })],
  ["no body", post(CHAT, undefined)],
  ["an empty body", post(CHAT, "")],
  ["a body that is no JSON", post(CHAT, "{oops")],
  ["a body that ends early", post(CHAT, '{"model":"m"')],
  ["two models", post(CHAT, '{"model":"m","model":"m","messages":[]}')],
  ["no model", post("/v1/messages", '{"messages":[]}')],
  ["an unknown model", post(CHAT, '{"model":"x","messages":[]}')],
  ["an unknown model, on messages", post("/v1/messages", '{"model":"x","messages":[],"max_tokens":1}')],
  ["a body over the limit", post(CHAT, chatBody(`,"padding":"${"x".repeat(70_000)}"`))],
  ["a body deeper than the limit", post(CHAT, chatBody(`,"padding":${"[".repeat(300)}${"]".repeat(300)}`))],
  ["bytes that are no UTF-8", post(CHAT, chatBody(',"padding":"\xff"'))],
  ["an id that is not safe", post(CHAT, "{oops", { ...JSON_TYPE, "x-request-id": "a b" })],
  ["a head over the limit", post(CHAT, chatBody(), { ...JSON_TYPE, "x-large": "x".repeat(40_000) })],
  ["headers in other bytes", post(CHAT, chatBody(), { ...JSON_TYPE, "x-name": "caf\xe9" })],
  ["a header that steers", post(CHAT, chatBody(), { ...JSON_TYPE, "x-forwarded-for": "10.0.0.1", "x-signalbox-model": "m" })],
];

describe("the fetch face and the wire server give the same response to", () => {
  let replica: ScriptedReplica;
  let wire: TestRouter;
  let web: TestFetchRouter;
  before(async () => {
    replica = await startScriptedReplica(script);
    const spec = `  limits: { bodyBytes: 65536 }`;
    const documents = `---
apiVersion: llm-d.ai/v1alpha2
kind: InferenceModelRewrite
metadata: { name: alias }
spec:
  poolRef: { name: default }
  rules:
    - matches: [ { model: { type: Exact, value: alias } } ]
      targets: [ { modelRewrite: m } ]
`;
    wire = await startTestRouter([replica.url], { spec, documents });
    web = await startFetchRouter([replica.url], { spec, documents });
  });
  after(async () => {
    web.close();
    await wire.close();
    await replica.close();
  });

  for (const [name, request] of REQUESTS) {
    it(name, async () => {
      const asked = { ...request, headers: { "x-request-id": "the-id", ...request.headers } };
      const first = replica.requests.length;
      const overWire = await askWire(wire.port, asked);
      const second = replica.requests.length;
      const overWeb = await askWeb(web, asked);
      assert.deepEqual(timeless(overWeb), timeless(overWire));
      const [sent, sentAgain] = [replica.requests.slice(first, second), replica.requests.slice(second)];
      assert.deepEqual(sentAgain.map(delivered), sent.map(delivered));
    });
  }
});

/** The two routers may have started in different seconds. */
function timeless(seen: Seen): Seen {
  return { ...seen, body: seen.body.replace(/"created":\d{10}/g, '"created":0') };
}

/** What the replica got, apart from the client's address, which only the wire knows. */
function delivered(request: ScriptedReplica["requests"][number]): unknown {
  const headers = [...request.headers].filter(([name]) => name !== "x-forwarded-for").sort();
  return { startLine: request.startLine, headers, body: request.body.toString("latin1") };
}

async function askWire(port: number, { method, target, headers, body }: Asked): Promise<Seen> {
  const client = await openClient(port);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  if (method === "POST") lines.push(`content-length: ${(body ?? "").length}\r\n`);
  client.send(
    Buffer.from(
      `${method} ${target} HTTP/1.1\r\nhost: router\r\nconnection: close\r\n${lines.join("")}\r\n${body ?? ""}`,
      "latin1",
    ),
  );
  const response = wholeAnswer(await client.closed());
  const isBodiless = method === "HEAD" || response.status === 204 || response.status === 304;
  return {
    status: response.status,
    headers: readable(response.headers),
    body: response.body,
    isComplete: response.isComplete || isBodiless,
  };
}

async function askWeb(router: TestFetchRouter, { method, target, headers, body }: Asked): Promise<Seen> {
  const bytes = body === undefined ? null : new Uint8Array(Buffer.from(body, "latin1"));
  const response = await router.fetch(new Request(`http://router${target}`, { method, headers, body: bytes }));
  const reader = response.body?.getReader();
  const parts: Uint8Array[] = [];
  let isComplete = true;
  try {
    for (let part = await reader?.read(); part !== undefined && !part.done; part = await reader?.read()) parts.push(part.value);
  } catch {
    isComplete = false;
  }
  return {
    status: response.status,
    headers: readable([...response.headers]),
    body: Buffer.concat(parts).toString("latin1"),
    isComplete,
  };
}

/** Header lines that mean something to an application, sorted; ids that a router makes up are only compared in kind. */
function readable(headers: readonly (readonly [string, string])[]): string[] {
  return headers
    .filter(([name]) => name !== "connection" && name !== "transfer-encoding")
    .map(([name, value]) => `${name}: ${value.replace(/^req-[\w-]+$/, "made up")}`)
    .sort();
}
