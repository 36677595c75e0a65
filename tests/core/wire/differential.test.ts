/**
 * Our codec compared with `node:http` of this Node, over generated messages and splits. Where the two differ, the message must be of a
 * class that the table lists and explains.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { cut } from "../../support/wire-transcript.ts";
import { requests, responses } from "./generated-messages.ts";
import { type Difference, REQUEST_DIFFERENCES, RESPONSE_DIFFERENCES } from "./node-http-differences.ts";
import { type Dispute, requestDispute, responseDispute } from "./node-http-verdicts.ts";

const isNode = !("deno" in process.versions) && !("bun" in process.versions);
const MAJOR = Number(process.versions.node.split(".")[0]);
/** Fixed, so that every run has the same messages. A new difference goes into the table. */
const SEED = 20_251_121;

const KINDS = [
  { kind: "requests", messages: requests, dispute: requestDispute, table: REQUEST_DIFFERENCES },
  { kind: "responses", messages: responses, dispute: responseDispute, table: RESPONSE_DIFFERENCES },
];

for (const { kind, messages, dispute, table } of KINDS) {
  describe(`${kind}, beside node:http`, () => {
    if (!isNode) {
      test("this runtime", (t) => t.skip("its node:http has a parser of its own; the codec is the same code on all runtimes"));
      return;
    }

    test("every difference is in the table", { timeout: 60_000 }, async () => {
      await fc.assert(
        fc.asyncProperty(messages, fc.array(fc.nat({ max: 300 }), { maxLength: 3 }), async (text, places) => {
          const found = await dispute(text, (bytes) =>
            cut(
              bytes,
              places.filter((place) => place < bytes.length),
            ),
          );
          if (found === undefined) return;
          const row = table.find((difference) => explains(difference, found, text));
          assert.ok(row, `${found.ours} by us, ${found.node} by node:http: ${JSON.stringify(text)}`);
        }),
        { numRuns: 2500, seed: SEED },
      );
    });

    for (const difference of table) {
      test(`${difference.name}: ${difference.why}`, async () => {
        const found = await dispute(difference.example, (bytes) => [bytes]);
        if (difference.goneIn !== undefined && MAJOR >= difference.goneIn) return assert.equal(found, undefined);
        assert.ok(found !== undefined && explains(difference, found, difference.example), "a difference that is none");
      });
    }
  });
}

function explains({ refusedBy, isIn }: Difference, { ours, isTwoFramings, disputed }: Dispute, text: string): boolean {
  const who = ours === "refused" ? "us" : "node";
  return (refusedBy === "nobody" || (refusedBy === who && !isTwoFramings)) && isIn(text, disputed);
}
