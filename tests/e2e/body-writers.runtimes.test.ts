/** Every pair of features that write into a request's body, on a body that came compressed and is to go on as it was received. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import { readJsonBody } from "../../core/body/json-body.ts";
import { ask, RESPONSES, responseOf, said, user } from "../support/conversations.ts";
import { PARAMETERS, pairPool } from "../support/pair-pool.ts";
import { poolDocument, replicaOf, rewriteDocument, startPools } from "../support/pools.ts";
import { isWholeAnswer, openClient, readAnswer } from "../support/raw-client.ts";
import { CHAT } from "../support/scripted-pool.ts";
import { jsonAnswer, type Script, type ScriptedReplica } from "../support/scripted-replica.ts";

type Members = Readonly<Record<string, unknown>>;

interface Writer {
  /** Members of sections of the Router document. */
  readonly sections?: Readonly<Record<string, string>>;
  readonly documents?: string;
  /** Members of the body that the client sends. */
  readonly asks?: Members;
  /** Keys that it may write or take out. */
  readonly keys: readonly string[];
  readonly check: (sent: Members) => void;
}

const KEY = createHash("sha256").update("sk-a").digest("hex");
const AUTH = `keys: [{ name: a, sha256: ${KEY}, priority: 3 }]`;
const BEARER = "Authorization: Bearer sk-a\r\n";

const WRITERS: Readonly<Record<string, Writer>> = {
  model: {
    documents: rewriteDocument("alias", "alias", "{ modelRewrite: m }"),
    asks: { model: "alias" },
    keys: ["model"],
    check: ({ model }) => assert.equal(model, "m"),
  },
  salt: {
    sections: { auth: "saltByTenant: true" },
    asks: { cache_salt: "mine" },
    keys: ["cache_salt"],
    check: ({ cache_salt: salt }) => assert.match(String(salt), /^[\w-]{43}$/),
  },
  "request id": {
    asks: { request_id: "mine" },
    keys: ["request_id"],
    check: ({ request_id: id }) => assert.match(String(id), /^resp_[\w-]{43}$/),
  },
  priority: {
    sections: { admission: "concurrency: 64, enginePriority: higher-first" },
    keys: ["priority"],
    check: ({ priority }) => assert.equal(priority, 3),
  },
  history: {
    sections: { conversations: "" },
    asks: { previous_response_id: "resp_1", input: [{ id: "msg_1", type: "item_reference" }] },
    keys: ["previous_response_id", "input"],
    check({ input, previous_response_id: previous }) {
      const [hello, answer] = [user("hello"), said("1")].map((text) => JSON.parse(text) as unknown);
      assert.deepEqual([input, previous], [[hello, answer, answer], undefined]);
    },
  },
  transfer: {
    sections: { disaggregation: "decider: always" },
    keys: ["kv_transfer_params"],
    check: ({ kv_transfer_params: where }) => assert.deepEqual(where, JSON.parse(PARAMETERS)),
  },
};

const NAMES = Object.keys(WRITERS);
const SETS: readonly (readonly string[])[] = [
  [],
  ...NAMES.map((name) => [name]),
  ...NAMES.flatMap((one, index) => NAMES.slice(index + 1).map((other) => [one, other])),
  NAMES,
];

/** The prompt's replica says where the cache is; the other one has the id and the text of its request's number. */
const prefill: Script = (_request, socket) =>
  void socket.write(jsonAnswer(`${responseOf("p", "[]").slice(0, -1)},"kv_transfer_params":${PARAMETERS}}`));
const answer: Script = ({ index }, socket) =>
  void socket.write(jsonAnswer(responseOf(`resp_${index + 1}`, `[${said(String(index + 1))}]`)));

function specOf(names: readonly string[]): string {
  const sections = new Map([["auth", AUTH]]);
  for (const [key, members] of names.flatMap((name) => Object.entries(WRITERS[name]!.sections ?? {})))
    sections.set(key, [sections.get(key), members].filter(Boolean).join(", "));
  const lines = Array.from(sections, ([key, members]) => `  ${key}: { ${members} }\n`);
  return `${lines.join("")}  plugins: [{ type: compressed-bodies, parameters: { forward: asReceived } }]\n`;
}

describe("what replicas get of a body in which these write", () => {
  for (const names of SETS) {
    it(names.join(", ") || "nobody", async () => {
      const isPaired = names.includes("transfer");
      const writers = names.map((name) => WRITERS[name]!);
      const pool = await pairPool({
        ...{ prefill: isPaired ? [prefill] : [], decode: isPaired ? [answer] : [], whole: isPaired ? [] : [answer] },
        ...{ pairs: undefined, spec: specOf(names), documents: writers.map(({ documents = "" }) => documents).join("") },
      });
      await ask(pool.router, '{"model":"m","input":"hello"}', BEARER);
      const asked: Members = Object.assign(
        { model: "m", input: "hi", seed: 7, metadata: { model: "x", a: 'é"' } },
        ...writers.map(({ asks }) => asks),
      );
      const coded = gzipSync(JSON.stringify(asked));
      const client = await openClient(pool.router.port);
      client.send(
        `POST ${RESPONSES} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n${BEARER}`,
      );
      client.send(`Content-Length: ${coded.length}\r\n\r\n`);
      client.send(coded);
      const text = await client.until(isWholeAnswer);
      client.destroy();
      assert.equal(readAnswer(text).status, 200, text);

      const replica = [...pool.decode, ...pool.whole][0]!;
      const { body, headers } = replica.requests[1]!;
      assert.equal(Number(headers.get("content-length")), body.length);
      if (names.length === 0) {
        assert.deepEqual([body.equals(coded), headers.get("content-encoding")], [true, "gzip"]);
        return;
      }
      assert.equal(headers.get("content-encoding"), undefined);
      const sent = membersOf(body);
      for (const { check } of writers) check(sent);
      const keys = writers.flatMap((writer) => writer.keys);
      assert.deepEqual(without(sent, keys), without(asked, keys));
      if (isPaired) checkPrompt(pool.prefill[0]!, writers, asked);
    });
  }
});

/** The prompt's replica gets what the others have written, too. */
function checkPrompt({ requests }: ScriptedReplica, writers: readonly Writer[], asked: Members): void {
  const sent = membersOf(requests[1]!.body);
  assert.equal(requests[1]!.headers.get("content-encoding"), undefined);
  const { kv_transfer_params: parameters, stream, max_output_tokens: most } = sent;
  assert.deepEqual([(parameters as Members)["do_remote_decode"], stream, most], [true, false, 1]);
  const others = writers.filter((writer) => writer !== WRITERS["transfer"]);
  for (const { check } of others) check(sent);
  const keys = ["kv_transfer_params", "stream", "max_output_tokens", ...others.flatMap((writer) => writer.keys)];
  assert.deepEqual(without(sent, keys), without(asked, keys));
}

/** Of a body that has no key twice. */
function membersOf(body: Buffer): Members {
  const members = JSON.parse(body.toString()) as Members;
  readJsonBody(body, { keys: Object.keys(members) }, 64);
  return members;
}

function without(members: Members, keys: readonly string[]): Members {
  return Object.fromEntries(Object.entries(members).filter(([key]) => !keys.includes(key)));
}

it("a request that goes on in another pool has each member once, as that pool writes it", async () => {
  const busy: Script = (_request, socket) => void socket.write(jsonAnswer('{"error":{}}', "503 Service Unavailable"));
  const [first, second] = [await replicaOf(["m"], busy), await replicaOf(["m"])];
  const priority = (value: number) =>
    `  admission: { enginePriority: higher-first, overridesPriority: true, modelPriorities: { m: ${value} } }\n`;
  const router = await startPools([], {
    documents: [
      poolDocument("first", [first.url], `  headers: { x-pool: [first] }\n  fallback: [second]\n${priority(1)}`),
      poolDocument("second", [second.url], `  headers: { x-pool: [second] }\n${priority(2)}`),
    ].join(""),
  });
  for (const own of ["", '"priority": 7 ,']) {
    const response = await fetch(router.url + CHAT, {
      method: "POST",
      headers: { "content-type": "application/json", "x-pool": "first" },
      body: `{${own}"model":"m","messages":[]}`,
    });
    assert.equal(response.status, 200, await response.text());
    assert.equal(membersOf(first.requests.at(-1)!.body)["priority"], 1);
    assert.equal(membersOf(second.requests.at(-1)!.body)["priority"], 2);
  }
});
