/** Ids of what replicas keep: in whatever shape a client writes one, and those that clients choose. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, it } from "node:test";
import { exchange, postBytes, readAnswer } from "../support/raw-client.ts";
import { answerOk, CHAT, setUp } from "../support/scripted-pool.ts";
import { jsonAnswer, type Script } from "../support/scripted-replica.ts";
import { startStore } from "../support/storing-replica.ts";

const digest = (tenant: string) => createHash("sha256").update(`sk-${tenant}`).digest("hex");
const keysOf = (tenants: readonly string[]) =>
  `  auth: { keys: [${tenants.map((tenant) => `{ name: ${tenant}, sha256: ${digest(tenant)} }`).join(", ")}] }\n`;
const KEYS = keysOf(["one", "two"]);
const IN_TURN = "  profiles: [{ name: default, plugins: [{ pluginRef: round-robin }] }]\n";

interface Answer {
  readonly id?: string;
  readonly by?: string;
  readonly text?: string;
  readonly error?: { readonly code: string; readonly message: string };
}

/** Replicas in turn behind keys; `send` says who asks. */
async function pool(scripts: readonly Script[], spec = KEYS) {
  const { router, replicas } = await setUp(scripts, { spec: IN_TURN + spec });
  const send = async (tenant: string, path: string, body: string, method = "POST") => {
    const line = tenant === "" ? "" : `Authorization: Bearer sk-${tenant}\r\n`;
    const request =
      method === "POST" ? postBytes(path, body, line) : Buffer.from(`${method} ${path} HTTP/1.1\r\nHost: a\r\n${line}\r\n`);
    const { status, json } = readAnswer(await exchange(router.port, request));
    return { status, json: json as Answer };
  };
  const sent = () => replicas.flatMap(({ requests }) => requests);
  return { send, sent };
}

const escaped = (text: string) => Array.from(text, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
const member = (key: string, value: string) => `{"model":"m","input":"a",${key}:${value}}`;

/** The bodies that name the id, by what is special about them. */
const NAMED: Readonly<Record<string, Readonly<Record<string, (id: string) => string>>>> = {
  conversations: {
    "a text": (id) => member('"conversation"', `"${id}"`),
    "a text with escapes": (id) => member('"conversation"', `"${escaped(id)}"`),
    "a key with escapes": (id) => member('"convers\\u0061tion"', `"${id}"`),
    "an object": (id) => member('"conversation"', `{"id":"${id}"}`),
    "an object with its type first": (id) => member('"conversation"', `{"object":"conversation","id":"${id}"}`),
    "an object whose key has escapes": (id) => member('"conversation"', `{"\\u0069\\u0064":"${id}"}`),
    "an object whose id has escapes": (id) => member('"conversation"', `{"id":"${escaped(id)}"}`),
    "an object with many blanks": (id) => member('"conversation"', `{${" \n".repeat(300)}"id"${" ".repeat(600)}:\t"${id}"}`),
    "an object with others in it": (id) => member('"conversation"', `{"metadata":{"id":"x","a":["}\\""]},"id":"${id}"}`),
  },
  responses: {
    "a text": (id) => member('"previous_response_id"', `"${id}"`),
    "a text with escapes": (id) => member('"previous_response_id"', `"${escaped(id)}"`),
    "a key with escapes": (id) => member('"previous\\u005fresponse_id"', ` "${id}" `),
  },
};

/** What an engine might take for the id. */
const REFUSED: Readonly<Record<string, readonly ((id: string) => string)[]>> = {
  conversations: [
    (id) => member('"conversation"', `["${id}"]`),
    (id) => member('"conversation"', `[{"id":"${id}"}]`),
    (id) => member('"conversation"', `{"id":["${id}"]}`),
    (id) => member('"conversation"', `{"id":{"id":"${id}"}}`),
    (id) => member('"conversation"', `{"id":"own","id":"${id}"}`),
    (id) => member('"conversation"', `{"id":"own","\\u0069d":"${id}"}`),
    (id) => member('"conversation"', `"own","conversation":"${id}"`),
    () => member('"conversation"', "{}"),
    () => member('"conversation"', '{"id":null}'),
    () => member('"conversation"', "7"),
    () => member('"conversation"', "true"),
  ],
  responses: [
    (id) => member('"previous_response_id"', `["${id}"]`),
    (id) => member('"previous_response_id"', `{"id":"${id}"}`),
    (id) => member('"previous_response_id"', `"own","previous_response_i\\u0064":"${id}"`),
    () => member('"previous_response_id"', "7"),
    () => member('"previous_response_id"', "false"),
  ],
};

for (const [kind, shapes] of Object.entries(NAMED)) {
  describe(`an id of ${kind} in a body`, () => {
    for (const path of ["/v1/responses", "/v1/responses/compact", "/v1/responses/input_tokens"]) {
      it(`reaches the replica that keeps it, and no other client's does, at ${path}`, async () => {
        const { send, sent } = await pool(["a", "b", "c"].map((name) => startStore(name).script));
        const { json } = await send("one", `/v1/${kind}`, '{"model":"m","input":"a"}');
        for (const [name, bodyWith] of Object.entries(shapes)) {
          const body = bodyWith(json.id!);
          for (let turn = 0; turn < 3; turn++) {
            const { startLine, body: got } = await lastOf(sent, () => send("one", path, body));
            assert.equal(got.toString(), body, name);
            assert.equal(startLine, `POST ${path} HTTP/1.1`);
          }
          const before = sent().length;
          assert.equal((await send("two", path, body)).status, 404, name);
          assert.equal(sent().length, before, name);
        }
        // The three replicas take turns, so only the id can have brought all of them to one.
        const owners = sent().filter(({ startLine }) => startLine.includes(path));
        assert.equal(new Set(owners.map(({ headers }) => headers.get("host"))).size, 1);
      });

      it(`is refused in a shape that is none, at ${path}`, async () => {
        const { send, sent } = await pool([startStore("a").script, startStore("b").script], "");
        for (const bodyWith of REFUSED[kind]!) {
          const body = bodyWith("id_x");
          const { status, json } = await send("", path, body);
          assert.deepEqual([status, json.error?.code], [400, "invalid_value"], body);
          assert.match(json.error!.message, /must be a string|a second time/);
          assert.doesNotMatch(json.error!.message, /id_x|own/);
        }
        assert.equal(sent().length, 0);
      });
    }
  });
}

/** The request that a replica got meanwhile. */
async function lastOf<Request>(sent: () => readonly Request[], act: () => Promise<unknown>): Promise<Request> {
  const before = new Set(sent());
  await act();
  const [only, ...more] = sent().filter((request) => !before.has(request));
  assert.ok(only !== undefined && more.length === 0);
  return only;
}

describe("what else names an object", () => {
  it("is an escaped id in a path, which is the same object's", async () => {
    const { send, sent } = await pool(["a", "b", "c"].map((name) => startStore(name).script));
    const { json: made } = await send("one", "/v1/responses", member('"a"', "1"));
    const path = (id: string) => `/v1/responses/${id}`;
    for (const id of [made.id!, made.id!.replace("_", "%5F"), made.id!.replace("_", "%5f").replace("r", "%72")]) {
      const before = sent().length;
      assert.deepEqual([(await send("two", path(id), "", "GET")).status, sent().length], [404, before], id);
      for (let turn = 0; turn < 3; turn++) {
        const { headers, startLine } = await lastOf(sent, () => send("one", path(id), "", "GET"));
        assert.deepEqual([headers.get("host"), startLine], [sent()[0]!.headers.get("host"), `GET ${path(id)} HTTP/1.1`]);
      }
    }
  });

  it("is refused where engines may take an id in a path for another path", async () => {
    const { send, sent } = await pool([answerOk, answerOk], `${KEYS}  stored: { unknown: ask }\n`);
    for (const id of ["x%2Finput_items", "%2e%2e", "..", "x%00", "x%5Cy", "x%3Fy", "x%23y", "x;y", "%ff", "x%", "x%0d%0ay"]) {
      const { status, json } = await send("one", `/v1/responses/${id}`, "", "GET");
      assert.deepEqual([status, json.error?.code], [400, "bad_request"], id);
      assert.equal((await send("one", `/v1/conversations/c/items/${id}`, "", "DELETE")).status, 400, id);
    }
    assert.equal(sent().length, 0);
  });

  it("is the file of a batch, as a text", async () => {
    const { send, sent } = await pool([startStore("a").script, startStore("b").script]);
    const { json: file } = await send("one", "/v1/files", "bytes");
    for (const value of [`["${file.id}"]`, `{"id":"${file.id}"}`, "7"]) {
      const { status, json } = await send("one", "/v1/batches", `{"input_file_id":${value}}`);
      assert.deepEqual([status, json.error?.code], [400, "invalid_value"], value);
    }
    const batch = `{"input_file_id":"${escaped(file.id!)}"}`;
    assert.equal((await send("two", "/v1/batches", batch)).status, 404);
    assert.equal((await send("one", "/v1/batches", batch)).json.by, "a");
    assert.equal(sent().length, 2);
  });

  it("is a response and a conversation at once, of which one might be another client's", async () => {
    const { send, sent } = await pool([startStore("a").script]);
    const { json: response } = await send("one", "/v1/responses", member('"a"', "1"));
    const { json: conversation } = await send("two", "/v1/conversations", "{}");
    const both = `{"model":"m","previous_response_id":"${response.id}","conversation":"${conversation.id}"}`;
    const { status, json } = await send("one", "/v1/responses", both);
    assert.deepEqual([status, json.error?.code, sent().length], [400, "invalid_value", 2]);
  });
});

/** As vLLM: a response is kept under the id that its request chose, in place of what was there. */
function choosable(name: string): Script {
  const kept = new Map<string, string>();
  let made = 0;
  return ({ startLine, body }, socket) => {
    const answer = (document: object) => void socket.write(jsonAnswer(JSON.stringify(document)));
    const [method, path = ""] = startLine.split(" ");
    if (method === "GET") {
      const id = path.split("/").at(-1)!;
      const text = kept.get(id);
      return text === undefined ? void socket.write(jsonAnswer('{"error":{}}', "404 Not Found")) : answer({ id, text, by: name });
    }
    made += 1;
    const { request_id: id = `resp_${name}${made}`, input } = JSON.parse(body.toString()) as Readonly<Record<string, string>>;
    kept.set(id, input!);
    answer({ id, object: "response", output: [], by: name });
  };
}

describe("an id that clients choose", () => {
  const chosen = (text: string, more = '"request_id":"resp_mine"') => `{"model":"m","input":"${text}",${more}}`;

  for (const first of ["one", "two"]) {
    it(`is another one for each tenant, also where ${first} took it first`, async () => {
      const { send, sent } = await pool([choosable("a")]);
      const second = first === "one" ? "two" : "one";
      const ids: string[] = [];
      for (const tenant of [first, second, first]) {
        const { json } = await send(tenant, "/v1/responses", chosen(`of ${tenant}`));
        assert.match(json.id!, /^resp_[\w-]{43}$/);
        ids.push(json.id!);
      }
      assert.deepEqual([ids[0] === ids[2], ids[0] === ids[1]], [true, false]);
      const got = async (tenant: string, id: string) => {
        const { status, json } = await send(tenant, `/v1/responses/${id}`, "", "GET");
        return status === 200 ? json.text : status;
      };
      assert.deepEqual(
        [await got(first, ids[0]!), await got(second, ids[1]!), await got(first, ids[1]!), await got(second, ids[0]!)],
        [`of ${first}`, `of ${second}`, 404, 404],
      );
      // Whoever sends the other tenant's id gets one of its own again.
      const { json: stolen } = await send(second, "/v1/responses", chosen("x", `"request_id":"${ids[0]}"`));
      assert.notEqual(stolen.id, ids[0]);
      assert.equal(await got(second, "resp_mine"), 404);
      assert.ok(sent().every(({ body }) => !body.includes("resp_mine")));
    });
  }

  it("changes nothing else of the body, and is a text or nothing", async () => {
    const { send, sent } = await pool([choosable("a")]);
    for (const value of ["7", "[]", '["a"]', "{}", "false"]) {
      const { status, json } = await send("one", "/v1/responses", chosen("x", `"request_id":${value}`));
      assert.deepEqual([status, json.error?.code], [400, "invalid_value"], value);
    }
    assert.equal((await send("one", "/v1/responses", chosen("x", '"request_id":"a","request\\u005fid":"b"'))).status, 400);
    assert.equal(sent().length, 0);
    const bodies = [chosen("x", '"request_id": null'), chosen("x", '"metadata":{"request_id":"a"}')];
    for (const body of bodies) await send("one", "/v1/responses", body);
    assert.deepEqual(
      sent().map(({ body }) => body.toString()),
      bodies,
    );
    const { body } = await lastOf(sent, () =>
      send("one", "/v1/responses", chosen("x", '"request\\u005fid" : "a" ,"seed":12345678901234567890')),
    );
    const salted = /"request\\u005fid" : "(resp_[\w-]{43})" ,"seed":12345678901234567890}$/.exec(body.toString());
    assert.ok(salted, body.toString());
  });

  it("is another one for each tenant also where it names a running request of SGLang", async () => {
    const { send, sent } = await pool([answerOk]);
    const chat = '{"model":"m","messages":[],"rid":"mine","request_id":"mine"}';
    const ridOf = async (tenant: string) => {
      const { body } = await lastOf(sent, () => send(tenant, CHAT, chat));
      const { rid, request_id: requestId } = JSON.parse(body.toString()) as Readonly<Record<string, string>>;
      assert.equal(requestId, "mine", "vLLM takes it from a header here");
      return rid!;
    };
    const [one, two, again] = [await ridOf("one"), await ridOf("two"), await ridOf("one")];
    assert.match(one, /^[\w-]{43}$/);
    assert.deepEqual([one === two, one === again], [false, true]);
  });

  it("goes on as it came where clients have no keys", async () => {
    const { send, sent } = await pool([choosable("a")], "");
    const { json } = await send("", "/v1/responses", chosen("x"));
    assert.deepEqual([json.id, sent()[0]!.body.toString()], ["resp_mine", chosen("x")]);
  });

  it("is nobody's where engines gave it to two tenants", async () => {
    const { send, sent } = await pool([startStore("").script, startStore("").script], `${KEYS}  stored: { unknown: ask }\n`);
    const made = await Promise.all(["one", "two"].map((tenant) => send(tenant, "/v1/responses", member('"a"', "1"))));
    assert.deepEqual(new Set(made.map(({ json }) => json.id)), new Set(["responses_1"]));
    const before = sent().length;
    for (const tenant of ["one", "two"]) {
      const { status, json } = await send(tenant, "/v1/responses/responses_1", "", "GET");
      assert.deepEqual([status, json.error?.code], [404, "stored_not_found"]);
      assert.match(json.error!.message, /given to more than one response/);
      const next = await send(tenant, "/v1/responses", member('"previous_response_id"', '"responses_1"'));
      assert.deepEqual([next.status, next.json.error?.code], [404, "previous_response_not_found"]);
    }
    assert.equal(sent().length, before);
  });
});
