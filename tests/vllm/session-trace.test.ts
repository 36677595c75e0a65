import assert from "node:assert/strict";
import { it } from "node:test";
import { messagesOf, placeOf, type TraceShape, traceOf, withPauses } from "./session-trace.ts";

const SHAPE: TraceShape = { turns: 3, firstChars: 70, laterChars: 20, answerTokens: 10, thinkMs: 100 };
const TEXTS = ["abcdefghij".repeat(20), "0123456789".repeat(20)];

it("a turn begins with all whole blocks of the one before and shares nothing with others", async () => {
  const trace = await traceOf(TEXTS, SHAPE, async (messages) => messages.map(({ content }) => content).join("").length);
  assert.equal(trace.requests.length, 6);
  const of = (conversation: number) =>
    trace.requests.filter((request) => placeOf(request, SHAPE).conversation === conversation).map(({ prompt }) => prompt);
  const [first, second, third] = of(0);
  assert.deepEqual([first!.tokens, second!.tokens, third!.tokens], [70, 100, 130]);
  assert.deepEqual([first!.blocks.length, second!.blocks.length, third!.blocks.length], [3, 4, 5]);
  assert.deepEqual([...second!.blocks].slice(0, 2), [...first!.blocks].slice(0, 2));
  assert.ok(!second!.blocks.includes(first!.blocks[2]!), "A block that was not full is another one when it is");
  const own = new Set(of(0).flatMap(({ blocks }) => [...blocks]));
  assert.ok(of(1).every(({ blocks }) => !blocks.some((block) => own.has(block))));
  for (const request of trace.requests)
    assert.equal(request.turn?.session, `conversation-${placeOf(request, SHAPE).conversation}`);
});

it("pauses can be longer: each turn comes by so much later than the one before", async () => {
  const trace = await traceOf(TEXTS, SHAPE, async () => 64);
  const later = new Map(withPauses(trace, SHAPE, 1000).requests.map(({ line, atMs }) => [line, atMs]));
  for (const request of trace.requests) assert.equal(later.get(request.line), request.atMs + 1000 * placeOf(request, SHAPE).turn);
});

it("a prompt has what was said and answered before, in order", () => {
  const said = messagesOf(TEXTS[0]!, ["ANSWER"], SHAPE);
  assert.deepEqual(
    said.map(({ role, content }) => [role, content.length]),
    [
      ["user", 70],
      ["assistant", 6],
      ["user", 20],
    ],
  );
});
