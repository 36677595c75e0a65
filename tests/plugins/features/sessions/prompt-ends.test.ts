import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Span } from "../../../../core/contract/span.ts";
import { PromptEnds } from "../../../../plugins/features/sessions/prompt-ends.ts";
import { Session } from "../../../../plugins/features/sessions/session.ts";

const SECRET = new Uint32Array([1, 2, 3, 4, 5, 6]);
const ends = () => new PromptEnds(SECRET);
const bytesOf = (text: string) => new TextEncoder().encode(text);
const makeSession = (key: string) => new Session({ key, tenant: "", model: "m", name: key, source: "prompt" });

/** A prompt of one span, written as a client writes a list of messages. */
function prompt(known: PromptEnds, text: string, model = "m", tenant = "") {
  const body = bytesOf(`["${text}"]`);
  return known.read(body, [[0, body.length]], "chat-completions", model, tenant);
}

/** Text that is different everywhere. */
const story = (bytes: number, seed: number) => {
  let state = seed;
  return Array.from({ length: bytes }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return String.fromCharCode(97 + ((state >> 16) % 26));
  }).join("");
};

describe("the ends of prompts", () => {
  for (const bytes of [4_096, 4_097, 5_119, 5_120, 5_121, 65_535, 65_536, 70_000, 300_000]) {
    it(`find the session whose whole prompt is the beginning, at ${bytes} bytes`, () => {
      const known = ends();
      const session = makeSession("s");
      const text = story(bytes, bytes);
      known.moved(session, prompt(known, text)!);
      assert.equal(known.continued(prompt(known, text)!), session);
      for (const more of [1, 7, 100, 5_000]) {
        const next = `${text}","${story(more, 3)}`;
        assert.equal(known.continued(prompt(known, next)!), session, `${more} more`);
      }
      assert.equal(known.continued(prompt(known, text.slice(0, -1))!), undefined);
      for (const at of [0, 1, 1_000, bytes >> 1, bytes - 2, bytes - 1]) {
        const other = `${text.slice(0, at)}#${text.slice(at + 1)}","more`;
        assert.equal(known.continued(prompt(known, other)!), undefined, `another byte at ${at}`);
      }
    });
  }

  it("tell thousands apart that differ in a few bytes, and the longest that fits counts", () => {
    const known = ends();
    const start = story(20_000, 1);
    const sessions = Array.from({ length: 2_000 }, (_, index) => makeSession(`${index}`));
    for (const [index, session] of sessions.entries()) known.moved(session, prompt(known, `${start} ${index}.`)!);
    for (const [index, session] of sessions.entries())
      assert.equal(known.continued(prompt(known, `${start} ${index}.","go on`)!), session);
    const longer = makeSession("longer");
    known.moved(longer, prompt(known, `${start} 7.","go`)!);
    assert.equal(known.continued(prompt(known, `${start} 7.","go","on`)!), longer);
    assert.equal(known.continued(prompt(known, `${start} 7.","stay`)!), sessions[7]);
  });

  it("move on with a session, and are gone with it", () => {
    const known = ends();
    const session = makeSession("s");
    const text = story(9_000, 2);
    known.moved(session, prompt(known, text)!);
    known.moved(session, prompt(known, `${text}","two`)!);
    assert.equal(known.continued(prompt(known, `${text}","else`)!), undefined);
    assert.equal(known.continued(prompt(known, `${text}","two","three`)!), session);
    known.forget(session);
    known.forget(session);
    assert.equal(known.continued(prompt(known, `${text}","two","three`)!), undefined);
  });

  it("are not found by another model or tenant, nor while a turn is under way", () => {
    const known = ends();
    const session = makeSession("s");
    const text = story(9_000, 2);
    known.moved(session, prompt(known, text, "m", "a")!);
    assert.equal(known.continued(prompt(known, text, "m", "b")!), undefined);
    assert.equal(known.continued(prompt(known, text, "n", "a")!), undefined);
    session.underWay = 1;
    assert.equal(known.continued(prompt(known, text, "m", "a")!), undefined);
    session.underWay = 0;
    assert.equal(known.continued(prompt(known, text, "m", "a")!), session);
  });

  it("read prompts of several spans, with a border between them", () => {
    const known = ends();
    const session = makeSession("s");
    const body = bytesOf(`["${story(3_000, 1)}"] ["${story(3_000, 2)}"]`);
    const border = 3_004;
    const read = (spans: readonly Span[]) => known.read(body, spans, "chat-completions", "m", "")!;
    const two: readonly Span[] = [
      [0, border],
      [border + 1, body.length],
    ];
    known.moved(session, read(two));
    assert.equal(known.continued(read(two)), session);
    const moved: readonly Span[] = [
      [0, border - 1],
      [border, body.length],
    ];
    assert.equal(known.continued(read(moved)), undefined);
  });

  it("are not looked for in prompts that are short, or very long", () => {
    const known = ends();
    assert.equal(prompt(known, "x".repeat(4_000)), undefined);
    assert.equal(prompt(known, "x".repeat(17 * 1024 * 1024)), undefined);
  });
});
