/** Conversations by previous_response_id over replicas that keep no responses: what the replicas get, and what clients do. */
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import OpenAI from "openai";
import { startMockReplica } from "../../apps/lab/mock/replica.ts";
import {
  ask,
  assertUnknown,
  dropped,
  inTurn,
  LOGGED,
  NOT_HELD,
  ON,
  post,
  RESPONSES,
  responseOf,
  said,
  shown,
  streamOf,
  user,
} from "../support/conversations.ts";
import { openClient, postBytes } from "../support/raw-client.ts";
import { type AccessLine, startTestRouter, waitUntil } from "../support/router.ts";
import { assertIdle, setUp } from "../support/scripted-pool.ts";
import { chunkOf, jsonAnswer, LAST_CHUNK, type Script, STREAM_HEAD } from "../support/scripted-replica.ts";

for (const isStream of [false, true]) {
  const flag = isStream ? ',"stream":true' : "";

  describe(`a conversation by previous_response_id, ${isStream ? "streamed" : "whole"}`, () => {
    it("reaches the replica with its whole history, byte by byte", async () => {
      const { router, replica } = await setUp([inTurn()], { spec: ON });
      const sent = (index: number) => replica.requests[index]!.body.toString();
      await ask(router, `{"model":"m","input":"hello","instructions":"be short"${flag}}`);
      await ask(router, `{"model":"m","previous_response_id":"resp_1","input":[ ${user("two")} , ${user("three")} ]${flag}}`);
      await ask(router, `{"previous_response_id" : "resp_2", "input":"four","model":"m","seed":12345678901234567890${flag}}`);
      await ask(router, `{"model":"m"${flag},"input":"five"\n,\n"previous_response_id":"resp_1"}`);

      assert.equal(sent(0), `{"model":"m","input":"hello","instructions":"be short"${flag}}`);
      const second = `${user("hello")},${said("1")}, ${user("two")} , ${user("three")}`;
      assert.equal(sent(1), `{"model":"m","input":[${second}]${flag}}`);
      const third = `[${second},${said("2")},${user("four")}]`;
      assert.equal(sent(2), `{ "input":${third},"model":"m","seed":12345678901234567890${flag}}`);
      assert.equal(sent(3), `{"model":"m"${flag},"input":[${user("hello")},${said("1")},${user("five")}]\n}`);
      assert.equal(Number(replica.requests[3]!.headers.get("content-length")), sent(3).length);
      const { turns, replayed, unknown } = shown(router)!;
      assert.deepEqual([turns, replayed, unknown], [4, 3, 0]);
      await assertIdle(router);
    });

    it("has calls of tools, their results and reasoning in it as they came", async () => {
      const call = `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAA\\u002f=="},{"type":"function_call","call_id":"call_1","name":"look","arguments":"{\\"at\\":\\"[1,2]}\\"}"}`;
      const { router, replica } = await setUp([inTurn((n) => (n === 1 ? `[${call}]` : `[${said("done")}]`))], { spec: ON });
      await ask(router, `{"model":"m","input":"look"${flag}}`);
      const result = '{"type":"function_call_output","call_id":"call_1","output":"\\ud83d\\ude00 é"}';
      await ask(router, `{"model":"m","input":[${result}],"previous_response_id":"resp_1"${flag}}`);
      assert.equal(replica.requests[1]!.body.toString(), `{"model":"m","input":[${user("look")},${call},${result}]${flag}}`);
    });

    it("may have turns without items of one side or of both", async () => {
      const { router, replica } = await setUp([inTurn((n) => (n === 2 ? "[]" : `[${said(String(n))}]`))], { spec: ON });
      await ask(router, `{"model":"m","input":[]${flag}}`);
      await ask(router, `{"model":"m","previous_response_id":"resp_1"${flag}}`);
      for (let other = 0; other < 20; other++) await ask(router, `{"model":"m","input":"other"${flag}}`);
      await ask(router, `{"model":"m","input":[7],"previous_response_id":"resp_2"${flag}}`);
      assert.equal(replica.requests[1]!.body.toString(), `{"model":"m","input":[${said("1")}]${flag}}`);
      assert.equal(replica.requests.at(-1)!.body.toString(), `{"model":"m","input":[${said("1")},7]${flag}}`);
    });

    it("goes on from a response that was cut at its limit, and from none that failed or broke off", async () => {
      let script: Script = inTurn();
      const { router } = await setUp([(request, socket) => script(request, socket)], { spec: ON });
      const answer = (id: string, status: string) => {
        script = (_request, socket) =>
          void socket.write(
            isStream ? streamOf(id, `[${said("cut")}]`, status) : jsonAnswer(responseOf(id, `[${said("cut")}]`, status)),
          );
        return post(router, `{"model":"m","input":"x"${flag}}`);
      };
      await answer("resp_cut", "incomplete");
      await answer("resp_failed", "failed");
      await answer("resp_cancelled", "cancelled");
      script = (_request, socket) => {
        const text = streamOf("resp_broken", "[]");
        const whole = jsonAnswer(responseOf("resp_broken", "[]"));
        socket.write(isStream ? text.slice(0, text.indexOf("event: response.completed")) : whole.slice(0, -3), () =>
          socket.destroy(),
        );
      };
      await post(router, `{"model":"m","input":"x"${flag}}`);
      script = inTurn();
      for (const id of ["resp_failed", "resp_cancelled", "resp_broken"]) await assertUnknown(router, id, NOT_HELD);
      await ask(router, '{"model":"m","input":"x","previous_response_id":"resp_cut"}');
    });

    it("is not held with store: false, which continues one all the same", async () => {
      const { router, replica } = await setUp([inTurn()], { spec: ON });
      await ask(router, `{"model":"m","input":"a"${flag}}`);
      await ask(router, `{"model":"m","input":"b","previous_response_id":"resp_1","store":false${flag}}`);
      assert.match(replica.requests[1]!.body.toString(), /"input":\[.*"a".*"b"/s);
      await assertUnknown(router, "resp_2", NOT_HELD);
      assert.equal(shown(router)!.turns, 1);
    });

    it("is too long to be kept beyond what is read of a response", { timeout: 60_000 }, async () => {
      const { router } = await setUp([inTurn((n) => `[${said("y".repeat(n === 1 ? 1_100_000 : 1))}]`)], { spec: ON });
      await ask(router, `{"model":"m","input":"a"${flag}}`);
      await assertUnknown(router, "resp_1", /longer than what the router keeps/);
      assert.equal(dropped(router, "too_large"), 1);
    });
  });
}

describe("a stream in small pieces, with other line ends", () => {
  for (const [name, change] of [
    ["CRLF", (text: string) => text.replaceAll("\n", "\r\n")],
    ["no event names", (text: string) => text.replace(/event: .*\n/g, "")],
    ["no space behind the colon", (text: string) => text.replaceAll("data: ", "data:")],
  ] as const) {
    it(name, { timeout: 30_000 }, async () => {
      const completed = `{"type":"response.completed","sequence_number":1,"response":${responseOf("resp_1", `[${said("1")}]`)}}`;
      const body = change(`event: response.created\ndata: {"response":{"id":"resp_1"}}\n\nevent: x\ndata: ${completed}\n\n`);
      const script: Script = async ({ index }, socket) => {
        if (index > 0) return void socket.write(jsonAnswer(responseOf("resp_2", "[]")));
        socket.write(STREAM_HEAD);
        for (let at = 0; at < body.length; at += 7) {
          socket.write(chunkOf(body.slice(at, at + 7)));
          if (at % 3 === 0) await new Promise((resolve) => setImmediate(resolve));
        }
        socket.write(LAST_CHUNK);
      };
      const { router, replica } = await setUp([script], { spec: ON });
      await ask(router, '{"model":"m","input":"a","stream":true}');
      await ask(router, '{"model":"m","input":"b","previous_response_id":"resp_1"}');
      const { input } = JSON.parse(replica.requests[1]!.body.toString()) as { input: object[] };
      assert.deepEqual(input, JSON.parse(`[${user("a")},${said("1")},${user("b")}]`));
    });
  }

  it("is held as soon as its last event has come, also where the client leaves then", async () => {
    const text = streamOf("resp_1", `[${said("1")}]`);
    const script: Script = ({ index }, socket) =>
      void socket.write(index > 0 ? jsonAnswer(responseOf("resp_2", "[]")) : text.slice(0, -LAST_CHUNK.length));
    const { router } = await setUp([script], { spec: ON });
    const client = await openClient(router.port);
    client.send(postBytes(RESPONSES, '{"model":"m","input":"a","stream":true}'));
    await waitUntil(() => client.received.includes('"type":"response.completed"'));
    await ask(router, '{"model":"m","input":"b","previous_response_id":"resp_1"}');
    client.destroy();
    await assertIdle(router);
  });
});

describe("a previous_response_id that is not held", () => {
  it("is refused, in the API's own shape, and counted; the access log has it", async () => {
    const { router, replica } = await setUp([inTurn()], { spec: ON });
    for (const id of ["resp_9", "", "x".repeat(3_000), "__proto__"]) await assertUnknown(router, id, NOT_HELD);
    assert.equal(replica.requests.length, 0);
    assert.equal(shown(router)!.unknown, 4);
    await waitUntil(() => router.log.length === 4);
    const { error, flags }: AccessLine = router.log[0]!;
    assert.deepEqual([error, flags], ["previous_response_not_found", "DPE"]);
  });

  it("is forwarded as it came where the config says so", async () => {
    const { router, replica } = await setUp([inTurn()], { spec: ON.replace("{}", "{ unknown: forward }") });
    const body = '{"model":"m","input":"a","previous_response_id":"resp_9","conversation":"conv_1"}';
    await ask(router, body);
    assert.equal(replica.requests[0]!.body.toString(), body);
    await ask(router, '{"model":"m","input":"b","previous_response_id":"resp_1"}');
    assert.match(replica.requests[1]!.body.toString(), /resp_1/);
    assert.equal(shown(router)!.turns, 0);
  });

  it("goes on as it came where it is null, and is refused where it is no string", async () => {
    const { router, replica } = await setUp([inTurn()], { spec: ON });
    const bodyWith = (value: string) => `{"model":"m","input":"a","previous_response_id":${value}}`;
    await ask(router, bodyWith("null"));
    for (const value of ["7", '["resp_1"]', '{"id":"resp_1"}', "true", "[]"]) {
      const { status, error } = await post(router, bodyWith(value));
      assert.deepEqual([status, error?.code], [400, "invalid_value"], value);
      assert.equal(error!.message, 'The value of "previous_response_id" must be a string: the id of the response before.');
    }
    assert.deepEqual(
      replica.requests.map(({ body }) => body.toString()),
      [bodyWith("null")],
    );
  });

  it("counts only at the top of the body", async () => {
    const { router, replica } = await setUp([inTurn()], { spec: ON });
    const body = '{"model":"m","metadata":{"previous_response_id":"resp_9"},"input":[{"previous_response_id":"resp_9"}]}';
    await ask(router, body);
    assert.equal(replica.requests[0]!.body.toString(), body);
  });

  it("is refused where the body has it twice, or the input is no input", async () => {
    const { router } = await setUp([inTurn()], { spec: ON });
    await ask(router, '{"model":"m","input":"a"}');
    const twice = '{"model":"m","input":"a","previous_response_id":"resp_1","previous\\u005fresponse_id":"resp_2"}';
    assert.equal((await post(router, twice)).status, 400);
    const { status, error } = await post(router, '{"model":"m","input":7,"previous_response_id":"resp_1"}');
    assert.deepEqual([status, error?.code], [400, "invalid_value"]);
  });

  it("is refused beside a conversation's own id", async () => {
    const { router, replica } = await setUp([inTurn()], { spec: ON });
    const { status, error } = await post(router, '{"model":"m","input":"a","conversation":"conv_1"}');
    assert.deepEqual([status, error?.code], [400, "invalid_value"]);
    assert.match(error!.message, /previous_response_id/);
    await ask(router, '{"model":"m","input":"a","conversation":null}');
    assert.equal(replica.requests.length, 1);
  });
});

describe("the openai package, over replicas that know no previous_response_id", () => {
  async function mocks(spec: string, count: number) {
    const replicas = await Promise.all(Array.from({ length: count }, () => startMockReplica({ model: "base", timeScale: 0 })));
    const router = await startTestRouter(
      replicas.map(({ url }) => url),
      { spec },
    );
    after(async () => {
      await router.close();
      await Promise.all(replicas.map((replica) => replica.close()));
    });
    const client = new OpenAI({ baseURL: `${router.url}/v1`, apiKey: "unused", maxRetries: 0, logLevel: "off" });
    return { router, replicas, client };
  }

  it("fails without the feature", async () => {
    const { client } = await mocks(LOGGED, 1);
    const first = await client.responses.create({ model: "base", input: "Say something" });
    await assert.rejects(
      client.responses.create({ model: "base", input: "go on", previous_response_id: first.id }),
      OpenAI.NotFoundError,
    );
  });

  it("goes on, whole and in streams, and the replica counts the whole prompt", async () => {
    const { client } = await mocks(ON, 1);
    const first = await client.responses.create({ model: "base", input: "Say something", max_output_tokens: 8 });
    let id = "";
    let tokens = 0;
    const asked = { model: "base", input: "go on", previous_response_id: first.id, max_output_tokens: 8 };
    for await (const event of await client.responses.create({ ...asked, stream: true })) {
      if (!("response" in event)) continue;
      id = event.response.id;
      tokens = event.response.usage?.input_tokens ?? 0;
    }
    assert.ok(tokens > first.usage!.input_tokens + 8);
    const third = await client.responses.create({ ...asked, previous_response_id: id });
    assert.ok(third.usage!.input_tokens > tokens + 8);
    await assert.rejects(client.responses.create({ ...asked, previous_response_id: "resp_none" }), (thrown: unknown) => {
      assert.ok(thrown instanceof OpenAI.NotFoundError);
      assert.deepEqual([thrown.code, thrown.param], ["previous_response_not_found", "previous_response_id"]);
      return true;
    });
  });

  for (const isText of [true, false])
    it(`goes to the replica that has the prefix cached, where the first input was ${isText ? "a text" : "a list"}`, async () => {
      const { client, router } = await mocks(`${ON.replace("access-log }", "access-log }, { type: prefix-cache }")}`, 4);
      const prompts = Array.from({ length: 8 }, (_, index) => `${index} `.repeat(2_000));
      const places = new Map<string, string>();
      for (const prompt of prompts) {
        const input = isText ? prompt : [{ role: "user" as const, content: prompt }];
        const { data, response } = await client.responses.create({ model: "base", input, max_output_tokens: 4 }).withResponse();
        places.set(data.id, response.headers.get("x-signalbox-endpoint")!);
      }
      assert.ok(new Set(places.values()).size > 1);
      for (const [id, endpoint] of places) {
        const asked = { model: "base", input: "go on", previous_response_id: id, max_output_tokens: 4 };
        const { data, response } = await client.responses.create(asked).withResponse();
        assert.equal(response.headers.get("x-signalbox-endpoint"), endpoint);
        assert.ok(data.usage!.input_tokens_details.cached_tokens > 500, JSON.stringify(data.usage));
      }
      await assertIdle(router);
    });
});
