/** Items of conversations that a request refers to, and the paths beside /v1/responses that continue one. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, it } from "node:test";
import { ask, assertUnknown, inTurn, LOGGED, NOT_HELD, ON, post, said, user } from "../support/conversations.ts";
import { exchange, postBytes, readAnswer } from "../support/raw-client.ts";
import { assertIdle, setUp } from "../support/scripted-pool.ts";

const reference = (id: string) => `{"type":"item_reference","id":"${id}"}`;
const inputOf = (body: Buffer) => {
  const text = body.toString();
  return text.slice(text.indexOf('"input":') + '"input":'.length, -1);
};
const sha256 = (key: string) => createHash("sha256").update(key).digest("hex");
const asTenant = (name: string) => `Authorization: Bearer sk-${name}\r\n`;
const KEYS = `  auth: { keys: [${["a", "b"].map((name) => `{ name: ${name}, sha256: ${sha256(`sk-${name}`)} }`).join(", ")}] }\n`;

describe("an item_reference", () => {
  for (const isStream of [false, true]) {
    const flag = isStream ? ',"stream":true' : "";

    it(`becomes the item that a response made, byte by byte, ${isStream ? "streamed" : "whole"}`, async () => {
      const call = '{"type":"function_call","id":"fc_1","call_id":"c","name":"look","arguments":"{\\"at\\":\\"[\\"}"}';
      const { router, replica } = await setUp([inTurn((n) => (n === 1 ? `[ ${said("1")} , ${call} ]` : `[${said(`${n}`)}]`))], {
        spec: ON,
      });
      const sent = () => inputOf(replica.requests.at(-1)!.body);
      await ask(router, `{"model":"m"${flag},"input":"hello"}`);
      await ask(
        router,
        `{"model":"m"${flag},"input":[${user("a")}, ${reference("msg_1")} ,${reference("fc_1")} , ${user("b")} ]}`,
      );
      assert.equal(sent(), `[${user("a")}, ${said("1")} ,${call} , ${user("b")}]`);
      // The turn holds what was sent, so it goes on from there.
      await ask(router, `{"model":"m"${flag},"previous_response_id":"resp_2","input":[${reference("msg_2")}]}`);
      assert.equal(sent(), `[${user("a")}, ${said("1")} ,${call} , ${user("b")},${said("2")},${said("2")}]`);
      await assertIdle(router);
    });
  }

  it("may be written as JSON allows it", async () => {
    const { router, replica } = await setUp([inTurn()], { spec: ON });
    await ask(router, '{"model":"m","input":"hello"}');
    const ways = [
      '{"id":"msg_1","type":"item_reference"}',
      '{ "\\u0069d" : "msg\\u005f1" ,\n "t\\u0079pe":"item\\u005freference" }',
      '{"id":"msg_1"}',
      '{"type":null,"id":"msg_1"}',
      '{"id":"msg_9","type":"item_reference","id":"msg_1"}',
    ];
    for (const way of ways) {
      await ask(router, `{"model":"m","input":[${way}]}`);
      assert.equal(inputOf(replica.requests.at(-1)!.body), `[${said("1")}]`, way);
    }
    const others = [
      '{"id":"msg_1","role":"user","content":"mine"}',
      '{"id":"msg_1","type":"message","role":"user","content":[{"type":"item_reference","id":"msg_1"}]}',
      '"item_reference"',
      '[{"type":"item_reference","id":"msg_1"}]',
    ];
    for (const other of others) {
      await ask(router, `{"model":"m","input":[${other}]}`);
      assert.equal(inputOf(replica.requests.at(-1)!.body), `[${other}]`);
    }
  });

  it("becomes an item that a client has sent with an id of its own, also behind a reference", async () => {
    const { router, replica } = await setUp([inTurn()], { spec: ON });
    const own = (id: string, text: string) => `{"id":"${id}","role":"user","content":"${text}"}`;
    await ask(router, `{"model":"m","input":[${own("x", "one")}]}`);
    await ask(router, `{"model":"m","input":[${reference("msg_1")},${own("y", "two")},${own("x", "another")}]}`);
    await ask(router, `{"model":"m","input":[${reference("y")},${reference("x")}]}`);
    assert.equal(inputOf(replica.requests[2]!.body), `[${own("y", "two")},${own("x", "one")}]`);
  });

  it("is found in a long input, which others need not wait for", { timeout: 60_000 }, async () => {
    const { router, replica } = await setUp([inTurn()], { spec: ON });
    await ask(router, '{"model":"m","input":"hello"}');
    const long = user('\\\\\\"[{ '.repeat(100_000));
    await ask(router, `{"model":"m","input":[${long},${reference("msg_1")},${long}]}`);
    assert.equal(inputOf(replica.requests[1]!.body), `[${long},${said("1")},${long}]`);
    await assertIdle(router);
  });

  it("is refused where no such item is held for the client, without a word of it", async () => {
    const { router, replica } = await setUp([inTurn()], { spec: ON + KEYS });
    await ask(router, '{"model":"m","input":"hello"}', asTenant("a"));
    const body = `{"model":"m","input":[${reference("msg_1")}]}`;
    for (const [who, what] of [
      ["b", body],
      ["a", body.replace("msg_1", "msg_none")],
    ] as const) {
      const { status, error } = await post(router, what, asTenant(who));
      assert.deepEqual([status, error?.code], [404, "stored_not_found"]);
      assert.match(error!.message, /No item with the id of an "item_reference" is held for this client/);
      assert.doesNotMatch(error!.message, /msg_/);
    }
    assert.equal(replica.requests.length, 1);
    await ask(router, body, asTenant("a"));
  });

  it("is refused without an id, and where there are too many", async () => {
    const { router, replica } = await setUp([inTurn()], { spec: ON });
    for (const id of ["", ',"id":7', ',"id":["msg_1"]', ',"id":null']) {
      const { status, error } = await post(router, `{"model":"m","input":[{"type":"item_reference"${id}}]}`);
      assert.deepEqual([status, error?.code], [400, "invalid_value"], id);
    }
    const many = Array.from({ length: 1_001 }, () => reference("msg_1")).join(",");
    assert.match((await post(router, `{"model":"m","input":[${many}]}`)).error!.message, /more than 1000 items/);
    assert.equal(replica.requests.length, 0);
  });

  it("is not known where two responses gave the id to different items, and what a client sends again changes nothing", async () => {
    const twins = (n: number) => `[${n < 3 ? said("1") : said("1").replace('"text":"1"', '"text":"other"')}]`;
    const { router, replica } = await setUp([inTurn(twins)], { spec: ON });
    await ask(router, `{"model":"m","input":"hello"}`);
    await ask(router, `{"model":"m","input":[${JSON.stringify(JSON.parse(said("1")))}]}`);
    await ask(router, `{"model":"m","input":[${reference("msg_1")}]}`);
    assert.equal(inputOf(replica.requests[2]!.body), `[${said("1")}]`);
    assert.equal((await post(router, `{"model":"m","input":[${reference("msg_1")}]}`)).status, 404);
  });

  it("goes on as it came where the config says so, or nothing is held", async () => {
    const body = `{"model":"m","input":[${reference("msg_9")}]}`;
    for (const spec of [ON.replace("{}", "{ unknown: forward }"), LOGGED]) {
      const { router, replica } = await setUp([inTurn()], { spec });
      await ask(router, body);
      assert.equal(replica.requests[0]!.body.toString(), body);
    }
  });

  it("names nothing of a response that is not stored", async () => {
    const { router } = await setUp([inTurn()], { spec: ON });
    await ask(router, '{"model":"m","input":"hello","store":false}');
    assert.equal((await post(router, `{"model":"m","input":[${reference("msg_1")}]}`)).status, 404);
  });
});

describe("a path beside /v1/responses that names the response before", () => {
  for (const path of ["/v1/responses/input_tokens", "/v1/responses/compact", "/v1/responses/render"]) {
    it(`gets the history, and makes no turn: ${path}`, async () => {
      const { router, replica } = await setUp([inTurn()], { spec: ON });
      await ask(router, '{"model":"m","input":"hello"}');
      const more = `{"model":"m","previous_response_id":"resp_1","input":[${reference("msg_1")},${user("two")}]}`;
      const answer = await exchange(router.port, postBytes(path, more));
      assert.equal(readAnswer(answer).status, 200, answer);
      const { startLine, body } = replica.requests[1]!;
      assert.equal(startLine, `POST ${path} HTTP/1.1`);
      assert.equal(body.toString(), `{"model":"m","input":[${user("hello")},${said("1")},${said("1")},${user("two")}]}`);
      await assertUnknown(router, "resp_2", NOT_HELD);
      const unknown = readAnswer(await exchange(router.port, postBytes(path, more.replace("resp_1", "resp_9"))));
      assert.deepEqual([unknown.status, replica.requests.length], [404, 2]);
      await assertIdle(router);
    });
  }
});

it("whatever a replica has made in the place of items, its response can be continued", async () => {
  const outputs = [`[${reference("x")}]`, '[{"type":"item_reference"}]', '[[],7,"a",{}]', `[${'{"id":"a"},'.repeat(6_000)}{}]`];
  const { router, replica } = await setUp([inTurn((n) => outputs[n - 1] ?? "[]")], { spec: ON });
  for (const _ of outputs) await ask(router, '{"model":"m","input":[]}');
  for (const [index, output] of outputs.entries()) {
    await ask(router, `{"model":"m","input":[],"previous_response_id":"resp_${index + 1}"}`);
    assert.equal(inputOf(replica.requests.at(-1)!.body), output);
  }
  await assertIdle(router);
});
