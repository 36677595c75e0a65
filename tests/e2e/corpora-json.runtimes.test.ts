/** JSONTestSuite as request bodies, through a running router to a replica that takes requests apart by a parser of its own. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { type Exchange, MemoryRouter } from "../support/memory-router.ts";
import { exchange, readAnswer } from "../support/raw-client.ts";
import { startTestRouter, type TestRouter } from "../support/router.ts";
import { offsets } from "../support/sample.ts";
import { jsonAnswer, type ScriptedReplica, startScriptedReplica } from "../support/scripted-replica.ts";
import { sharedPath } from "../support/shared.ts";
import { cut, singles } from "../support/wire-transcript.ts";

/** "STATUS code" of the answer. */
type Verdict = string;
const INVALID = "400 invalid_json";
const NO_MODEL = "400 missing_model";
const UNKNOWN_MODEL = "404 model_not_found";
const FORWARDED = "200 ";

/** Of the files that may go either way, those we refuse even as a member of an object. */
const REFUSED_EITHER_WAY: ReadonlySet<string> = new Set([
  "i_string_UTF-16LE_with_BOM.json",
  "i_string_utf16BE_no_BOM.json",
  "i_string_utf16LE_no_BOM.json",
  "i_structure_500_nested_arrays.json",
  "i_structure_UTF-8_BOM_empty_object.json",
]);

/** A body is split at each of its first bytes; the few longer files are refused within them. */
const SPLIT_BYTES = 700;

const folder = sharedPath("corpora/jsontestsuite");

interface File {
  readonly name: string;
  readonly bytes: Buffer;
}

describe("JSONTestSuite as request bodies", () => {
  if (folder === undefined) {
    it("the corpus", (t) => t.skip("corpora/jsontestsuite is not here"));
    return;
  }
  const parsing = filesIn(join(folder, "test_parsing"));
  const transform = filesIn(join(folder, "test_transform"));
  let replica: ScriptedReplica;
  let router: TestRouter;
  before(async () => {
    replica = await startScriptedReplica(
      (_request, socket) => void socket.write(jsonAnswer('{"choices":[{"index":0}],"ok":true}')),
    );
    router = await startTestRouter([replica.url]);
  });
  after(async () => {
    await router.close();
    await replica.close();
  });

  it("is all here", () => {
    assert.deepEqual([...parsing.map(kindOf), ...transform.map(() => "t")].reduce(count, {}), { n: 188, y: 95, i: 35, t: 22 });
  });

  /** Sends a body whole, cut in two, byte by byte and in chunks of one byte: one verdict, and it is the expected one. */
  const check = async (what: string, body: Buffer, expected: Verdict) => {
    const memory = new MemoryRouter(router);
    const request = post(body);
    const whole = await memory.exchange([request]);
    assert.equal(verdictOf(whole.received), expected, what);
    assert.deepEqual(
      whole.requests.map((delivered) => delivered.body.toString("latin1")),
      expected === FORWARDED ? [body.toString("latin1")] : [],
    );
    const bodyAt = request.length - body.length;
    for (const at of offsets(bodyAt, Math.min(request.length, bodyAt + SPLIT_BYTES))) {
      assertSame(await memory.exchange(cut(request, [at])), whole, `${what}, split at ${at - bodyAt}`);
    }
    const slow = body.subarray(0, SPLIT_BYTES);
    const rest = body.subarray(SPLIT_BYTES);
    assertSame(await memory.exchange([request.subarray(0, bodyAt), ...singles(slow), rest]), whole, `${what}, byte by byte`);
    const chunked = await memory.exchange([inChunks(body)]);
    assert.equal(verdictOf(chunked.received), expected, `${what}, in chunks`);
    assert.deepEqual(chunked.requests, whole.requests, `${what}, in chunks`);
  };

  for (const [kind, what] of Object.entries({ n: "must be refused", y: "must be taken", i: "may go either way" })) {
    const files = parsing.filter((file) => kindOf(file) === kind);
    it(`files that ${what}: in memory, whole, cut in two and byte by byte`, async () => {
      for (const { name, bytes } of files) {
        const isTaken = kind === "y" || (kind === "i" && !REFUSED_EITHER_WAY.has(name));
        await check(name, bytes, isTaken && isObject(bytes) ? NO_MODEL : INVALID);
        // Most files hold no object, and are refused for that alone; as a member of one, what they are about is seen.
        await check(`${name} as a member`, member("nobody", bytes), isTaken ? UNKNOWN_MODEL : INVALID);
        await check(`${name} for the replica`, member("m", bytes), isTaken ? FORWARDED : INVALID);
      }
    });

    it(`files that ${what}: over sockets`, async () => {
      for (const { name, bytes } of files) {
        const isTaken = kind === "y" || (kind === "i" && !REFUSED_EITHER_WAY.has(name));
        const before = replica.requests.length;
        assert.equal(verdictOf(await exchange(router.port, post(bytes))), isTaken && isObject(bytes) ? NO_MODEL : INVALID, name);
        assert.equal(
          verdictOf(await exchange(router.port, post(member("nobody", bytes)))),
          isTaken ? UNKNOWN_MODEL : INVALID,
          name,
        );
        assert.equal(replica.requests.length, before);
        const body = member("m", bytes);
        assert.equal(verdictOf(await exchange(router.port, post(body))), isTaken ? FORWARDED : INVALID, name);
        assert.deepEqual(
          replica.requests.slice(before).map((request) => request.body.toString("latin1")),
          isTaken ? [body.toString("latin1")] : [],
        );
      }
    });
  }

  it("files that parsers change arrive as they are", async () => {
    for (const { name, bytes } of transform) {
      await check(name, bytes, isObject(bytes) ? NO_MODEL : INVALID);
      await check(`${name} for the replica`, member("m", bytes), FORWARDED);
    }
  });
});

function filesIn(path: string): File[] {
  return readdirSync(path)
    .filter((name) => name.endsWith(".json"))
    .sort()
    .map((name) => ({ name, bytes: readFileSync(join(path, name)) }));
}

function kindOf({ name }: File): string {
  return name.charAt(0);
}

function count(counts: Record<string, number>, kind: string): Record<string, number> {
  return { ...counts, [kind]: (counts[kind] ?? 0) + 1 };
}

/** Whether the text of a valid file begins as an object. */
function isObject(bytes: Buffer): boolean {
  return bytes.toString("latin1").trimStart().startsWith("{");
}

function member(model: string, value: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`{"model":"${model}","a":`), value, Buffer.from("}")]);
}

const HEAD = "POST /v1/chat/completions HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n";

function post(body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${HEAD}Content-Length: ${body.length}\r\n\r\n`), body]);
}

function inChunks(body: Buffer): Buffer {
  const chunks = singles(body).map((byte) => Buffer.concat([Buffer.from("1\r\n"), byte, Buffer.from("\r\n")]));
  return Buffer.concat([Buffer.from(`${HEAD}Transfer-Encoding: chunked\r\n\r\n`), ...chunks, Buffer.from("0\r\n\r\n")]);
}

function verdictOf(answer: string): Verdict {
  const { status, json } = readAnswer(answer);
  return `${status} ${(json["error"] as { code: string } | undefined)?.code ?? ""}`;
}

/** But for whether the connection is kept: where a long body is refused, that depends on how much of it has come by then. */
function assertSame(seen: Exchange, whole: Exchange, how: string): void {
  const [response, wholeResponse] = [seen, whole].map(({ received }) => received.replace("Connection: close\r\n", ""));
  assert.equal(response, wholeResponse, how);
  assert.deepEqual(seen.requests, whole.requests, how);
}
