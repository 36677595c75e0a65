/** llhttp's own responses, sent by a replica through a running router. */
import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { after, before, describe, it } from "node:test";
import { type LlhttpCase, llhttpCases } from "../support/llhttp-cases.ts";
import { LLHTTP_DIFFERENCES } from "../support/llhttp-differences.ts";
import { type Exchange, type MemoryAnswer, MemoryRouter } from "../support/memory-router.ts";
import { openClient, postBytes } from "../support/raw-client.ts";
import { startTestRouter, type TestRouter, waitUntil } from "../support/router.ts";
import { offsets } from "../support/sample.ts";
import { type ScriptedReplica, startScriptedReplica } from "../support/scripted-replica.ts";
import { answersIn } from "../support/whole-answer.ts";
import { cut, messagesIn, singles } from "../support/wire-transcript.ts";

/** What must come of a case. */
interface Outcome {
  readonly status: number;
  /** As latin1; of an answer that breaks off, the most that may have come. */
  readonly body: string;
  readonly isComplete: boolean;
  /** The connection to the replica may carry another request. */
  readonly isKept: boolean;
}

const REFUSED: Outcome = { status: 502, body: "", isComplete: true, isKept: false };
const POST = postBytes("/v1/chat/completions", '{"model":"m","messages":[]}');
const HEAD = "HEAD /x HTTP/1.1\r\nHost: test\r\n\r\n";
const cases = llhttpCases("response") ?? [];
/** Silence for longer than this is a failure; a busy machine needs less. */
const WITHIN_MS = 20_000;

describe("llhttp's responses in its strict modes", () => {
  if (cases.length === 0) {
    it("the corpus", (t) => t.skip("corpora/llhttp-http1 is not here"));
    return;
  }
  let replica: ScriptedReplica;
  let router: TestRouter;
  let answer: MemoryAnswer;
  /** The connection that brought the last request. */
  let used: Socket;
  before(async () => {
    replica = await startScriptedReplica((_request, socket) => {
      used = socket;
      for (const piece of answer.pieces) socket.write(piece);
      if (answer.ending === "end") socket.end();
    });
    const routes = "[{ method: HEAD, path: /x }]";
    const spec = `  plugins: [{ type: passthrough, name: head, parameters: { routes: ${routes} } }]`;
    router = await startTestRouter([replica.url], { spec });
  });
  after(async () => {
    await router.close();
    await replica.close();
  });

  it("are all here", () => {
    assert.ok(cases.length > 70, `only ${cases.length} cases were found`);
  });

  for (const one of cases) {
    const expected = expectedOf(one);
    // A replica that stops in mid-answer and stays would be waited for.
    const ending = expected.isKept || expected.status === 502 ? undefined : "end";
    it(`${one.name}: in memory, whole, cut in two and byte by byte`, async () => {
      const memory = new MemoryRouter(router);
      const seen = async (pieces: readonly Buffer[]) => {
        memory.answer = () => ({ pieces, ending });
        return seenBy(await memory.exchange([request(one)]), one);
      };
      const whole = await seen([one.bytes]);
      assertOutcome(whole, expected);
      for (const at of offsets(1, one.bytes.length)) {
        const split = await seen(cut(one.bytes, [at]));
        assertOutcome(split, expected, `split at ${at}`);
        assert.deepEqual(split.headers, whole.headers);
      }
      assertOutcome(await seen(singles(one.bytes)), expected, "byte by byte");
    });

    it(`${one.name}: over sockets`, { timeout: WITHIN_MS }, async () => {
      for (const pieces of [[one.bytes], singles(one.bytes)]) {
        answer = { pieces, ending };
        const client = await openClient(router.port);
        client.send(request(one));
        const isEnough = (received: string) => answersIn(received, [methodOf(one)]).some(({ isComplete }) => isComplete);
        const received = expected.isComplete ? await client.until(isEnough) : await client.closed();
        client.destroy();
        const isKept = () => replica.sockets.has(used);
        if (!expected.isKept) await waitUntil(() => !isKept());
        assertOutcome(seenBy({ received, keptUpstream: isKept() ? 1 : 0 }, one), expected);
      }
    });
  }
});

const methodOf = ({ hasNoBodies }: LlhttpCase) => (hasNoBodies ? "HEAD" : "POST");
const request = (one: LlhttpCase) => Buffer.from(one.hasNoBodies ? HEAD : POST);

/** What llhttp says, and where we differ on purpose, what the codec says. */
function expectedOf(one: LlhttpCase): Outcome {
  if (LLHTTP_DIFFERENCES[one.name] !== undefined) return expectedOfCodec(one);
  const message = one.messages.find(({ status }) => status >= 200);
  if (message === undefined) return REFUSED;
  const { status, body, isComplete, isUnframed, connection, minor, endAt } = message;
  if (!isComplete) return { status, body, isComplete: isUnframed && one.verdict === "read", isKept: false };
  const isKeptAlive = connection !== "close" && (minor === 1 || connection === "keep-alive");
  return { status, body, isComplete, isKept: isKeptAlive && endAt === one.bytes.length };
}

function expectedOfCodec({ bytes, hasNoBodies }: LlhttpCase): Outcome {
  const message = messagesIn("response", bytes, hasNoBodies).find(({ start }) => !start.startsWith("1.1 1"));
  if (message === undefined) return REFUSED;
  return { status: Number(message.start.slice(4, 7)), body: message.body, isComplete: true, isKept: false };
}

type Seen = Outcome & { readonly headers: unknown };

function seenBy({ received, keptUpstream }: Pick<Exchange, "received" | "keptUpstream">, one: LlhttpCase): Seen {
  const answers = answersIn(received, [methodOf(one)]);
  assert.equal(answers.length, 1);
  const { status, body, isComplete, headers } = answers[0]!;
  if (status === 502) assert.match(body, /"code":"upstream_invalid"/);
  return { status, body: status === 502 ? "" : body, isComplete, isKept: keptUpstream > 0, headers };
}

function assertOutcome(seen: Seen, expected: Outcome, how = "whole"): void {
  const { headers: _, ...outcome } = seen;
  // How much of a broken answer was passed on depends on the reads it came in.
  const body = expected.isComplete || !expected.body.startsWith(outcome.body) ? expected.body : outcome.body;
  assert.deepEqual(outcome, { ...expected, body }, how);
}
