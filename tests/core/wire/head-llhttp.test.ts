/** llhttp's own cases in its strict modes, read by head parser, framing and chunked decoder together. Host is left out: most cases have none. */
import assert from "node:assert/strict";
import test from "node:test";
import { type LlhttpVerdict, llhttpCases } from "../../support/llhttp-cases.ts";
import { LLHTTP_DIFFERENCES } from "../../support/llhttp-differences.ts";
import { singles, type Transcript, transcribe } from "../../support/wire-transcript.ts";

function ours({ error }: Transcript): LlhttpVerdict {
  if (error === "") return "read";
  return error === "surplus" ? "surplus" : "refused";
}

test("llhttp's strict cases", async (t) => {
  const [requests, responses] = [llhttpCases("request"), llhttpCases("response")];
  if (requests === undefined || responses === undefined) {
    t.skip("the llhttp corpus is not here");
    return;
  }
  const cases = [...requests, ...responses];
  assert.ok(cases.length > 150, `only ${cases.length} cases were found`);
  const unused = new Set(Object.keys(LLHTTP_DIFFERENCES));
  for (const one of cases) {
    await t.test(one.name, () => {
      const whole = transcribe(one.kind, [one.bytes], one.hasNoBodies);
      const split = transcribe(one.kind, singles(one.bytes), one.hasNoBodies);
      const expected = LLHTTP_DIFFERENCES[one.name]?.[0] ?? one.verdict;
      assert.deepEqual([ours(whole), ours(split)], [expected, expected]);
      if (whole.error === "") assert.deepEqual(whole, split);
      if (expected !== one.verdict) unused.delete(one.name);
    });
  }
  assert.deepEqual([...unused], [], "differences that are none");
});
