/** What a client asks for wrongly costs no replica its place; a replica that fails whatever it is asked for loses it as soon as ever. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { exchange, postBytes, readAnswer } from "../support/raw-client.ts";
import { CHAT, OK, setUp } from "../support/scripted-pool.ts";
import { jsonAnswer, type Script } from "../support/scripted-replica.ts";

const ROUND_ROBIN = "  profiles: [ { plugins: [ { pluginRef: round-robin } ] } ]\n";
/** A client's session stays at its replica while that one is in use. */
const STICKY = `  plugins: [ { type: session-affinity-filter } ]
  profiles: [ { plugins: [ { pluginRef: ready }, { pluginRef: serves-model }, { pluginRef: session-affinity-filter } ] } ]
`;
const EMBEDDINGS = "/v1/embeddings";
const BAD = "an image that no engine can read";
const failure = (status: string) => jsonAnswer('{"error":{"message":"No","type":"x"}}', status);
const EMBEDDED = jsonAnswer('{"object":"list","data":[{"object":"embedding","index":0,"embedding":[1]}],"model":"m"}');

/** Answers chats, but 500 to the bad one, and embeddings with this status. */
const healthy =
  (embeddings = "200 OK"): Script =>
  ({ startLine, body }, socket) => {
    if (startLine.includes(EMBEDDINGS)) socket.write(embeddings === "200 OK" ? EMBEDDED : failure(embeddings));
    else socket.write(body.includes(BAD) ? failure("500 Internal Server Error") : OK);
  };

async function setUpPool(scripts: readonly Script[], spec = ROUND_ROBIN) {
  const { router } = await setUp(scripts, { spec });
  let sent = 0;
  const ejected = () =>
    router.router.pool.facts.endpoints.filter(({ ejection }) => ejection !== undefined).map(({ name }) => name);
  const chat = async (content = `hello ${sent++}`, lines = "") =>
    readAnswer(
      await exchange(router.port, postBytes(CHAT, JSON.stringify({ model: "m", messages: [{ role: "user", content }] }), lines)),
    ).status;
  const embed = async () =>
    readAnswer(await exchange(router.port, postBytes(EMBEDDINGS, JSON.stringify({ model: "m", input: `text ${sent++}` }))))
      .status;
  const ejections = () =>
    router.router.pool.facts.endpoints.reduce((sum, endpoint) => sum + router.router.control.judge.countOf(endpoint), 0);
  return { router, chat, embed, ejected, ejections };
}

describe("no replica is ejected", () => {
  it("for a path that each of them says is not implemented", async () => {
    const { chat, embed, ejections } = await setUpPool([healthy("501 Not Implemented"), healthy("501 Not Implemented")]);
    for (let n = 0; n < 20; n++) assert.equal(await embed(), 501);
    assert.equal(ejections(), 0);
    assert.equal(await chat(), 200);
  });

  it("for a path that each of them answers with 500, while they serve others", async () => {
    const broken = "500 Internal Server Error";
    const { chat, embed, ejections } = await setUpPool([healthy(broken), healthy(broken)]);
    for (let n = 0; n < 4; n++) assert.equal(await chat(), 200);
    for (let n = 0; n < 20; n++) assert.equal(await embed(), 500);
    assert.equal(await chat(), 200);
    assert.equal(ejections(), 0);
  });

  it("for one request that each of them answers with 500 in turn", async () => {
    const { chat, ejections } = await setUpPool([healthy(), healthy()]);
    for (let n = 0; n < 50; n++) assert.equal(await chat(BAD), 500);
    assert.equal(ejections(), 0);
  });

  it("any more once another one has failed the same request, among others that are served", async () => {
    const { chat, ejected, ejections } = await setUpPool([healthy(), healthy()]);
    for (let n = 0; n < 50; n++) {
      assert.equal(await chat(BAD), 500);
      assert.equal(await chat(), 200);
    }
    assert.deepEqual(ejected(), []);
    // In turn with the others it goes to the same replica until that one is taken for the cause.
    assert.ok(ejections() <= 1);
  });
});

it("a replica that was ejected for one client's request returns when another one fails it too", async () => {
  const { router, chat, ejected, ejections } = await setUpPool([healthy(), healthy()], STICKY);
  for (let n = 0; n < 6; n++) assert.equal(await chat(), 200);
  const [first] = router.router.pool.facts.endpoints;
  const session = `X-Session-Token: ${Buffer.from(first!.name).toString("base64")}\r\n`;
  for (let n = 0; n < 3; n++) assert.equal(await chat(BAD, session), 500);
  assert.deepEqual(ejected(), [first!.name]);
  for (let n = 0; n < 20; n++) assert.equal(await chat(BAD, session), 500);
  assert.deepEqual([ejected(), ejections()], [[], 1]);
});

it("a replica that answers all with 500 is ejected with its third failure, whatever else fails everywhere", async () => {
  const broken = "500 Internal Server Error";
  const ill: Script = (_request, socket) => void socket.write(failure(broken));
  let isIll = false;
  const first: Script = (request, socket) => (isIll ? ill : healthy(broken))(request, socket);
  const { router, chat, embed, ejected } = await setUpPool([first, healthy(broken)]);
  for (let n = 0; n < 6; n++) assert.equal(await chat(), 200);
  for (let n = 0; n < 6; n++) assert.equal(await embed(), 500);
  for (let n = 0; n < 6; n++) assert.equal(await chat(BAD), 500);
  assert.deepEqual(ejected(), []);
  isIll = true;
  let failed = 0;
  for (let n = 0; n < 20 && ejected().length === 0; n++) if ((await chat()) === 500) failed += 1;
  assert.equal(failed, 3);
  const [endpoint] = router.router.pool.facts.endpoints;
  assert.deepEqual(ejected(), [endpoint!.name]);
});
