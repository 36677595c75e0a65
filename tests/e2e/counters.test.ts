import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { seededRandom } from "../../core/contract/test-kit.ts";
import { isWholeAnswer, openClient, postBytes, type RawClient } from "../support/raw-client.ts";
import { waitUntil } from "../support/router.ts";
import { CHAT, chatBody, event, OK, STREAM, setUp } from "../support/scripted-pool.ts";
import { chunkOf, jsonAnswer, LAST_CHUNK, type Script, STREAM_HEAD } from "../support/scripted-replica.ts";

const REQUESTS = 3_000;
const LANES = 50;
/** How the random numbers of this run begin; a failure can be repeated with it. */
const SEED = 20_261_121;

/** What the replica does with a request that asks for it by header. Some never answer: their clients always leave. */
const behaviours: Readonly<Record<string, Script>> = {
  answer: (_request, socket) => void socket.write(OK),
  stream: (_request, socket) => void socket.write(STREAM_HEAD + chunkOf(event(1)) + chunkOf(event(2)) + LAST_CHUNK),
  answerAndClose: (_request, socket) => void socket.end(OK),
  hang: () => {},
  headOnly: (_request, socket) => void socket.write(STREAM_HEAD),
  silence: (_request, socket) => void socket.write(STREAM_HEAD + chunkOf(event(1))),
  overload: (_request, socket) => void socket.write(jsonAnswer("{}", "503 Service Unavailable")),
  failure: (_request, socket) => void socket.write(jsonAnswer("{}", "500 Internal Server Error")),
  reset: (_request, socket) => void socket.resetAndDestroy(),
  invalid: (_request, socket) => void socket.write("HTTP/1.1 200\n\n"),
  cutStream: (_request, socket) => void socket.end(`${STREAM_HEAD}${chunkOf(event(1))}20\r\ndata: `),
  resetStream: (_request, socket) => void socket.write(STREAM_HEAD + chunkOf(event(1)), () => socket.resetAndDestroy()),
};
const SILENT = new Set(["hang", "headOnly", "silence"]);

/** What a client does once its request is on its way; true when it left before the end. */
type Conduct = (client: RawClient, waitMs: number) => Promise<void>;
const leaveAfter: Conduct = (_client, waitMs) => new Promise((resolve) => setTimeout(resolve, waitMs));
const leaveAtOnce: Conduct = async () => {};
const leaveAtFirstByte: Conduct = async (client, waitMs) => {
  await Promise.race([client.until((text) => text !== ""), leaveAfter(client, waitMs)]);
};
const readToTheEnd: Conduct = async (client) => void (await client.until(isWholeAnswer));
const leaving: readonly Conduct[] = [leaveAfter, leaveAtOnce, leaveAtFirstByte];

describe("after 3,000 requests with random aborts and random faults", () => {
  it("every counter is back at zero, and each request has one record", { timeout: 120_000 }, async () => {
    const script: Script = (request, socket) => behaviours[request.headers.get("x-behaviour") ?? ""]?.(request, socket);
    const { router, replicas } = await setUp([script, script], { spec: "  limits: { upstreamIdleTimeoutMs: 300 }" });
    const random = seededRandom(SEED);
    const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)]!;

    const one = async (id: string) => {
      const behaviour = pick(Object.keys(behaviours));
      const conduct = SILENT.has(behaviour) || random() < 0.4 ? pick(leaving) : readToTheEnd;
      const bytes = requestOf(id, behaviour, pick(["chat", "messages", "responses"]), random() < 0.5);
      const isCut = random() < 0.05;
      const client = await openClient(router.port);
      client.send(isCut ? bytes.slice(0, Math.floor(random() * bytes.length)) : bytes);
      await (isCut ? leaveAfter : conduct)(client, random() * 8);
      const way = random();
      if (way < 0.3) client.socket.resetAndDestroy();
      else if (way < 0.6) client.socket.end();
      else client.destroy();
    };
    const lane = async (name: string) => {
      for (let i = 0; i < REQUESTS / LANES; i++) await one(`${name}-${i}`);
    };
    await Promise.all(Array.from({ length: LANES }, (_, n) => lane(`lane${n}`)));

    await waitUntil(() => router.server.connections === 0);
    await waitUntil(() => replicas.every(({ sockets }) => sockets.size === 0));
    for (const load of [router.router.pool.load.inFlight, router.router.pool.load.prefillTokens]) {
      assert.ok(Array.from(load).every((value) => value === 0));
    }
    const recorded = new Set(router.log.map(({ id }) => id));
    assert.equal(recorded.size, router.log.length);
    for (const { headers } of replicas.flatMap(({ requests }) => requests)) {
      assert.ok(recorded.has(headers.get("x-request-id") ?? ""));
    }
    const endings = new Set(router.log.map(({ ending }) => ending));
    assert.deepEqual([...endings].sort(), ["broken", "client-left", "complete"]);
    assert.ok(router.log.length > REQUESTS * 0.8);
  });
});

function requestOf(id: string, behaviour: string, api: string, isChunked: boolean): string {
  const lines = `X-Request-Id: ${id}\r\nX-Behaviour: ${behaviour}\r\n`;
  if (api === "messages") return postBytes("/v1/messages", chatBody(`${STREAM},"max_tokens":5`), lines);
  if (api === "responses") return postBytes("/v1/responses", '{"model":"m","input":"hello","stream":true}', lines);
  const body = chatBody(STREAM);
  if (!isChunked) return postBytes(CHAT, body, lines);
  const head = `POST ${CHAT} HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n${lines}Transfer-Encoding: chunked\r\n\r\n`;
  return head + chunkOf(body.slice(0, 10)) + chunkOf(body.slice(10)) + LAST_CHUNK;
}
