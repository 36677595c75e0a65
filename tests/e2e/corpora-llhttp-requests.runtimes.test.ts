/** llhttp's own requests, through a running router to a replica that takes them apart by a parser of its own. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { type LlhttpCase, type LlhttpMessage, llhttpCases } from "../support/llhttp-cases.ts";
import { LLHTTP_DIFFERENCES } from "../support/llhttp-differences.ts";
import { MemoryRouter } from "../support/memory-router.ts";
import { openClient } from "../support/raw-client.ts";
import { startTestRouter, type TestRouter } from "../support/router.ts";
import { offsets } from "../support/sample.ts";
import { jsonAnswer, type ScriptedReplica, startScriptedReplica } from "../support/scripted-replica.ts";
import { answersIn } from "../support/whole-answer.ts";
import { cut, messagesIn, singles } from "../support/wire-transcript.ts";

/** What must come of a case. */
interface Outcome {
  /** One status per answer; every refusal of broken HTTP counts as 400. */
  readonly statuses: readonly number[];
  /** "METHOD target body" of each request at the replica. */
  readonly delivered: readonly string[];
  readonly isClosed: boolean;
}

type Sent = Pick<LlhttpMessage, "method" | "url" | "body" | "connection" | "minor">;

const REFUSALS = [400, 431, 501, 505];
/** llhttp does not look into targets; we do, and end the connection. */
const BROKEN_TARGETS: ReadonlySet<string> = new Set(["request/uri `host:port` and basic auth"]); // RFC 9110 4.2.4

/** They ask for a WebSocket, which the router does not carry; a replica would get them as plain GETs. */
const WEB_SOCKETS: ReadonlySet<string> = new Set([
  "request/connection Multiple tokens with folding and LWS",
  "request/connection Upgrade GET request",
]);

// A connection can't be told that its next request has no body.
const cases = (llhttpCases("request") ?? []).filter(({ hasNoBodies }) => !hasNoBodies);
/** Silence for longer than this is a failure; a busy machine needs less. */
const WITHIN_MS = 20_000;

describe("llhttp's requests in its strict modes", () => {
  if (cases.length === 0) {
    it("the corpus", (t) => t.skip("corpora/llhttp-http1 is not here"));
    return;
  }
  let replica: ScriptedReplica;
  let router: TestRouter;
  before(async () => {
    replica = await startScriptedReplica(
      (_request, socket) => void socket.write(jsonAnswer('{"choices":[{"index":0}],"ok":true}')),
    );
    router = await startTestRouter([replica.url], { spec: passthrough(cases) });
  });
  after(async () => {
    await router.close();
    await replica.close();
  });

  it("are all here", () => {
    assert.ok(cases.length > 110, `only ${cases.length} cases were found`);
  });

  for (const one of cases) {
    const bytes = withHosts(one);
    it(`${one.name}: in memory, whole, cut in two and byte by byte`, async () => {
      const memory = new MemoryRouter(router);
      const whole = await memory.exchange([bytes]);
      const delivered = whole.requests.map(({ method, target, body }) => `${method} ${target} ${body.toString("latin1")}`);
      assert.deepEqual(
        { statuses: statusesOf(whole.received, one), delivered, isClosed: whole.isClosed },
        expectedOf(one, bytes),
      );
      for (const at of offsets(1, bytes.length)) {
        assert.deepEqual(await memory.exchange(cut(bytes, [at]), "paced"), whole, `split at ${at}`);
      }
      assert.deepEqual(await memory.exchange(singles(bytes), "burst"), whole, "byte by byte");
      assert.deepEqual(await memory.exchange(singles(bytes), "paced"), whole, "byte by byte, slowly");
    });

    it(`${one.name}: over sockets`, { timeout: WITHIN_MS }, async () => {
      const expected = expectedOf(one, bytes);
      for (const pieces of [[bytes], singles(bytes)]) {
        const before = replica.requests.length;
        const client = await openClient(router.port);
        for (const piece of pieces) {
          client.send(piece);
          if (pieces.length > 1) await new Promise(setImmediate);
        }
        const isEnough = (received: string) => statusesOf(received, one).length >= expected.statuses.length;
        const received = expected.isClosed ? await client.closed() : await client.until(isEnough);
        client.destroy();
        const delivered = replica.requests.slice(before).map(({ startLine, body }) => {
          const [method, target] = startLine.split(" ");
          return `${method} ${target} ${body.toString("latin1")}`;
        });
        assert.deepEqual({ statuses: statusesOf(received, one), delivered, isClosed: client.isClosed }, expected);
      }
    });
  }
});

/** The case with a Host in every request that has none: without one each would be refused for that alone. */
function withHosts({ bytes }: LlhttpCase): Buffer {
  const startLine = /(?<=^|\r\n)[A-Z-]+ ((https?:\/\/)?([^\s/?]*)\S*) HTTP\/\d\.\d\r\n(?!([^\r\n]+\r\n)*host:)/gi;
  const withHost = bytes.toString("latin1").replace(startLine, (line, _target, scheme, authority) => {
    return `${line}Host: ${scheme === undefined ? "test" : authority}\r\n`;
  });
  return Buffer.from(withHost, "latin1");
}

/** What llhttp says, and where we differ on purpose, what the codec says. */
function expectedOf(one: LlhttpCase, bytes: Buffer): Outcome {
  const difference = LLHTTP_DIFFERENCES[one.name];
  const verdict = difference?.[0] ?? one.verdict;
  const sent = difference === undefined ? one.messages.filter(({ isComplete }) => isComplete) : codecMessages(bytes);
  const last = sent.findIndex(({ connection, minor }) => connection === "close" || minor === 0);
  const served = last < 0 ? sent : sent.slice(0, last + 1);
  const statuses = served.map((message) => statusOf(message, one.name));
  const delivered = served.filter((_message, i) => statuses[i] === 200).map(deliveredAs);
  if (verdict === "refused" && last < 0) statuses.push(400);
  return { statuses, delivered, isClosed: verdict !== "read" || last >= 0 || BROKEN_TARGETS.has(one.name) };
}

function codecMessages(bytes: Buffer): Sent[] {
  return messagesIn("request", bytes).map(({ start, headers, body }) => {
    const [method = "", url = "", version = ""] = start.split(" ");
    const isClosed = headers.some(([name, value]) => name.toLowerCase() === "connection" && value.includes("close"));
    return { method, url, body, connection: isClosed ? "close" : "", minor: Number(version.slice(2)) };
  });
}

/** Targets that are no path are refused, methods that can't be configured are not known, WebSockets are not carried. */
function statusOf({ method, url }: Sent, name = ""): number {
  if (BROKEN_TARGETS.has(name) || !/^(\/|https?:\/\/)/i.test(url)) return 400;
  if (WEB_SOCKETS.has(name)) return 426;
  return /^[A-Z]+$/.test(method) ? 200 : 404;
}

function deliveredAs({ method, url, body }: Sent): string {
  const path = url.replace(/^https?:\/\/[^/?]*/i, "");
  return `${method} ${path.startsWith("/") ? path : `/${path}`} ${body}`;
}

function statusesOf(received: string, { messages }: LlhttpCase): number[] {
  const methods = messages.map(({ method }) => method);
  return answersIn(received, methods)
    .filter(({ isComplete }) => isComplete)
    .map(({ status }) => (REFUSALS.includes(status) ? 400 : status));
}

/** A config that forwards every path of the corpus. */
function passthrough(all: readonly LlhttpCase[]): string {
  const routes = new Set<string>();
  for (const one of all) {
    for (const message of [...one.messages, ...codecMessages(withHosts(one))]) {
      if (statusOf(message) !== 200) continue;
      const [method, target] = deliveredAs(message).split(" ");
      routes.add(JSON.stringify({ method, path: target!.split("?")[0] }));
    }
  }
  return `  plugins: [{ type: passthrough, name: everything, parameters: { routes: [${[...routes].join(", ")}] } }]`;
}
