import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { exchange, openClient, readAnswer } from "../support/raw-client.ts";
import { waitUntil } from "../support/router.ts";
import { assertIdle, chatPost, OK, setUp } from "../support/scripted-pool.ts";
import { jsonAnswer, type Script } from "../support/scripted-replica.ts";

const CLIENTS = 16;
const REQUESTS = 800;

/** Answers with the id of the request, and once more a moment later. */
const answerTwice: Script = ({ headers, index }, socket) => {
  const answer = jsonAnswer(`{"object":"chat.completion","model":"m","id":"${headers.get("x-request-id")}"}`);
  socket.write(answer);
  setTimeout(() => socket.write(answer), index % 5);
};

/** Answers, and writes `bytes` when the connection is idle. */
const answerThenWrite =
  (bytes: string): Script =>
  ({ index }, socket) => {
    socket.write(OK);
    if (index === 0) setTimeout(() => socket.write(bytes), 20);
  };

/** Sends its share of the requests in turn; returns how many answers were of another request. */
async function countWrong(port: number, name: string): Promise<number> {
  const client = await openClient(port);
  let wrong = 0;
  let seen = 0;
  for (let i = 0; i < REQUESTS / CLIENTS; i++) {
    const id = `${name}-${i}-`;
    client.send(chatPost("", `X-Request-Id: ${id}\r\n`));
    const received = await client.until((text) => text.length > seen && text.endsWith("}"));
    const answer = received.slice(seen);
    seen = received.length;
    if (answer.startsWith("HTTP/1.1 200 ") && !answer.includes(`"id":"${id}"`)) wrong += 1;
  }
  client.destroy();
  return wrong;
}

describe("a replica that sends bytes that belong to no request", () => {
  it("answers each request twice: at most one request of each connection gets another's answer", {
    timeout: 60_000,
  }, async () => {
    const { router, replica } = await setUp([answerTwice]);
    const wrong = await Promise.all(Array.from({ length: CLIENTS }, (_, n) => countWrong(router.port, `c${n}`)));
    const total = wrong.reduce((sum, count) => sum + count, 0);
    assert.ok(total <= CLIENTS, `${total} wrong answers`);
    const reused = replica.requests.filter(({ indexOnConnection }) => indexOnConnection > 0);
    assert.ok(reused.length <= 10 * CLIENTS, `${reused.length} requests on connections that were used before`);
    await assertIdle(router);
  });

  const rows = [
    { name: "another response", bytes: OK.toString(), isReused: false },
    { name: "one byte", bytes: "\n", isReused: false },
    {
      name: "408, which servers write before they close",
      bytes: "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n",
      isReused: true,
    },
  ];
  for (const { name, bytes, isReused } of rows) {
    it(`idle, it sends ${name}: its connections are ${isReused ? "" : "not "}used again`, async () => {
      const { router, replica } = await setUp([answerThenWrite(bytes)]);
      await exchange(router.port, chatPost());
      const [first] = [...replica.sockets].filter((socket) => !socket.destroyed);
      assert.ok(first);
      await waitUntil(() => first.destroyed);
      for (let i = 0; i < 3; i++) assert.equal(readAnswer(await exchange(router.port, chatPost())).status, 200);
      const places = replica.requests.map(({ indexOnConnection }) => indexOnConnection);
      assert.deepEqual(places, isReused ? [0, 0, 1, 2] : [0, 0, 0, 0]);
      await assertIdle(router);
    });
  }

  it("sends more than its response: the response is passed on, and its connections are not used again", async () => {
    const { router, replica } = await setUp([
      (_request, socket) => void socket.write(Buffer.concat([Buffer.from(OK), Buffer.from(OK)])),
    ]);
    for (let i = 0; i < 3; i++) assert.equal(readAnswer(await exchange(router.port, chatPost())).status, 200);
    assert.deepEqual(
      replica.requests.map(({ indexOnConnection }) => indexOnConnection),
      [0, 0, 0],
    );
  });
});
