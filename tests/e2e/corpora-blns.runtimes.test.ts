/** The big list of naughty strings as model name, prompt, request id and header value, through a running router. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { headerOf } from "../support/clean-request.ts";
import { MemoryRouter } from "../support/memory-router.ts";
import { exchange, readAnswer } from "../support/raw-client.ts";
import { startTestRouter, type TestRouter } from "../support/router.ts";
import { offsets } from "../support/sample.ts";
import { jsonAnswer, type ScriptedReplica, startScriptedReplica } from "../support/scripted-replica.ts";
import { sharedPath } from "../support/shared.ts";
import { answersIn, type WholeAnswer } from "../support/whole-answer.ts";
import { cut, singles } from "../support/wire-transcript.ts";

/** What a request id from outside may look like to be used. */
const SAFE_ID = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,64}$/;
/** Bytes that no header value may have (RFC 9110 5.5). */
const UNSENDABLE = /[\0-\x08\n-\x1f\x7f]/;
/** Anything that could steer a terminal or begin another line. */
const UNPRINTABLE = /[\0-\x1f\x7f-\x9f\u2028\u2029]/;

const folder = sharedPath("corpora/blns");

describe("the big list of naughty strings", () => {
  if (folder === undefined) {
    it("the corpus", (t) => t.skip("corpora/blns is not here"));
    return;
  }
  const strings = JSON.parse(readFileSync(join(folder, "blns.json"), "utf8")) as readonly string[];
  const names = [...new Set(strings)].filter((name) => name !== "");
  let replica: ScriptedReplica;
  let router: TestRouter;
  /** Lists every string as a model. */
  let naughtyReplica: ScriptedReplica;
  let naughtyRouter: TestRouter;
  before(async () => {
    const answerOk = () =>
      startScriptedReplica(
        (_request, socket) => void socket.write(jsonAnswer('{"choices":[{"index":0}],"ok":true}')),
        [...names, "m"],
      );
    [replica, naughtyReplica] = [
      await startScriptedReplica((_request, socket) => void socket.write(jsonAnswer('{"choices":[{"index":0}],"ok":true}'))),
      await answerOk(),
    ];
    [router, naughtyRouter] = await Promise.all([startTestRouter([replica.url]), startTestRouter([naughtyReplica.url])]);
  });
  after(async () => {
    await Promise.all([router.close(), naughtyRouter.close()]);
    await Promise.all([replica.close(), naughtyReplica.close()]);
  });

  it("is all here", () => {
    assert.ok(strings.length > 500, `only ${strings.length} strings were found`);
  });

  /** Sends a request whole, cut within the naughty part, and byte by byte; both ends must see the same each time. */
  const inMemory = async (request: Buffer, naughty: Buffer, what: string) => {
    const memory = new MemoryRouter(router);
    const whole = await memory.exchange([request]);
    const start = request.indexOf(naughty);
    for (const at of offsets(start, start + naughty.length + 1)) {
      assert.deepEqual(await memory.exchange(cut(request, [at])), whole, `${what}, split at ${at}`);
    }
    assert.deepEqual(await memory.exchange(singles(request)), whole, `${what}, byte by byte`);
    const [answer, ...others] = answersIn(whole.received);
    assert.ok(answer?.isComplete && others.length === 0, what);
    return { answer, requests: whole.requests };
  };

  /** Sends a request over sockets; exactly one line must be logged for it, whatever it holds. */
  const overSockets = async (over: TestRouter, request: Buffer, what: string) => {
    const logged = over.log.length;
    const answer = await exchange(over.port, request);
    const lines = over.log.slice(logged);
    for (const line of lines) assert.doesNotMatch(JSON.stringify(Object.values(line)), /\\[nr]|\\u00[01]/, what);
    return { answer: readAnswer(answer), lines };
  };

  it("as model names that nobody serves: 404, and a log line without control characters", async () => {
    for (const name of strings) {
      const { answer, requests } = await inMemory(post(modelBody(JSON.stringify(name))), Buffer.from(JSON.stringify(name)), name);
      assert.equal(answer.status, name === "" ? 400 : 404, name);
      assert.equal(requests.length, 0);
      for (const spelled of new Set([JSON.stringify(name), escaped(name)])) {
        const request = post(modelBody(spelled));
        const expected = name === "" ? [400, "missing_model"] : [404, "model_not_found"];
        const { answer: sent, lines } = await overSockets(router, request, spelled);
        assert.deepEqual([sent.status, errorOf(sent.json)], expected, spelled);
        assert.deepEqual(
          lines.map(({ status }) => status),
          [expected[0]],
        );
        assert.doesNotMatch(lines[0]!.model, UNPRINTABLE);
      }
    }
  });

  it("as model names that are served: the replica gets them as they were sent", async () => {
    for (const name of names) {
      const body = modelBody(JSON.stringify(name));
      const { answer, lines } = await overSockets(naughtyRouter, post(body), name);
      assert.equal(answer.status, 200, name);
      assert.equal(naughtyReplica.requests.at(-1)!.body.toString(), body);
      assert.doesNotMatch(answer.head.replaceAll("\r\n", ""), UNPRINTABLE);
      assert.deepEqual(
        lines.map(({ status }) => status),
        [200],
      );
    }
  });

  it("as prompts: they arrive byte for byte", async () => {
    for (const text of strings) {
      const spelled = JSON.stringify(text);
      const request = post(`{"model":"m","messages":[{"role":"user","content":${spelled}}]}`);
      const body = request.subarray(request.indexOf("\r\n\r\n") + 4).toString("latin1");
      const { answer, requests } = await inMemory(request, Buffer.from(spelled), spelled);
      assert.equal(answer.status, 200, spelled);
      assert.deepEqual(
        requests.map((received) => received.body.toString("latin1")),
        [body],
      );
      const { answer: sent } = await overSockets(router, request, spelled);
      assert.equal(sent.status, 200);
      assert.equal(replica.requests.at(-1)!.body.toString("latin1"), body);
    }
  });

  it("as request ids and header values: refused, or passed on byte for byte", async () => {
    for (const text of strings) {
      // Bytes as a client would send them that does not look at them.
      const value = Buffer.from(text).toString("latin1");
      const request = post('{"model":"m","messages":[]}', `X-Request-Id: ${value}\r\nX-Naughty: ${value}\r\n`);
      const { answer, requests } = await inMemory(request, Buffer.from(value, "latin1"), text);
      assertCarried(
        text,
        answer,
        requests.map((received) => (name) => headerOf(received, name)),
      );
      const before = replica.requests.length;
      const { answer: sent, lines } = await overSockets(router, request, text);
      const [whole] = answersIn(`${sent.head}\r\n\r\n`, ["HEAD"]);
      assertCarried(
        text,
        whole!,
        replica.requests.slice(before).map(
          ({ headers }) =>
            (name) =>
              headers.get(name),
        ),
      );
      assert.deepEqual(
        lines.map(({ status }) => status),
        sent.status === 200 ? [200] : [],
      );
      for (const { id } of lines) assert.match(id, SAFE_ID);
    }
  });
});

/** The request was refused whole, or went on with this value and a safe id that the client was told. */
function assertCarried(text: string, answer: WholeAnswer, received: readonly ((name: string) => string | undefined)[]): void {
  const value = Buffer.from(text).toString("latin1");
  if (UNSENDABLE.test(value)) {
    assert.equal(answer.status, 400, text);
    assert.equal(received.length, 0, text);
    return;
  }
  assert.equal(answer.status, 200, text);
  assert.equal(received.length, 1);
  assert.equal(received[0]!("x-naughty"), value.replace(/^[ \t]+|[ \t]+$/g, ""), text);
  const id = received[0]!("x-request-id")!;
  assert.match(id, SAFE_ID);
  assert.equal(id === text, SAFE_ID.test(text), text);
  assert.equal(answer.headers.find(([name]) => name === "x-request-id")?.[1], id);
}

function post(body: string, lines = ""): Buffer {
  const bytes = Buffer.from(body);
  const head = `POST /v1/chat/completions HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n${lines}Content-Length: ${bytes.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head, "latin1"), bytes]);
}

const modelBody = (spelled: string) => `{"model":${spelled},"messages":[]}`;

/** A JSON string with every character escaped. */
function escaped(text: string): string {
  return `"${text.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)}"`;
}

function errorOf(json: unknown): string | undefined {
  return (json as { error?: { code: string } }).error?.code;
}
