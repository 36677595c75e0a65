import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { makeEndpoint } from "../../../../core/contract/test-kit.ts";
import { ejectionWarnings } from "../../../../plugins/features/ejection/ejection-status.ts";
import { makeView } from "../../../support/view.ts";

const ejection = { reason: "status 500", sinceMs: 0, untilMs: 1_000 };
const ready = makeEndpoint(0);
const ejected = makeEndpoint(1, { phase: "ejected", ejection });

describe("warnings about ejected replicas", () => {
  const rows: readonly [name: string, pool: (typeof ready)[], isPanicking: boolean, expected: RegExp | undefined][] = [
    ["none if none is ejected", [ready], false, undefined],
    ["their names", [ready, ejected], false, /^Ejected because of their responses: e1\.$/],
    ["why they are used all the same", [ready, ejected], true, /^More replicas fail than may be ejected/],
    ["none where no replica serves", [ejected], false, undefined],
  ];
  for (const [name, pool, isPanicking, expected] of rows)
    it(name, () => {
      const [warning, ...more] = ejectionWarnings(makeView(pool, { pool: { isPanicking } }));
      assert.deepEqual(more, []);
      if (expected === undefined) assert.equal(warning, undefined);
      else assert.match(warning ?? "", expected);
    });
});
