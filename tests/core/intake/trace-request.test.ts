import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Trace } from "../../../core/contract/trace.ts";
import { traceRequest } from "../../../core/intake/trace-request.ts";
import type { Head } from "../../../core/wire/head.ts";

const good: Trace = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7100000000", parentId: "", state: "" };

describe("traceRequest", () => {
  const head = {} as Head;
  const rows: readonly (readonly [what: string, trace: () => Trace | undefined, isTraced: boolean, log: RegExp])[] = [
    ["a trace", () => good, true, /^$/],
    ["none", () => undefined, false, /^$/],
    ["a header in an id", () => ({ ...good, traceId: "a\r\nX-Evil: 1" }), false, /without proper ids/],
    ["a short id", () => ({ ...good, spanId: "b7" }), false, /without proper ids/],
    ["no ids", () => ({}) as Trace, false, /without proper ids/],
    ["a promise", () => Promise.resolve(good) as unknown as Trace, false, /without proper ids/],
    ["null", () => null as unknown as undefined, false, /^mine: .*null/],
    [
      "a throw",
      () => {
        throw new Error("no memory");
      },
      false,
      /^mine: no memory/,
    ],
  ];
  for (const [what, trace, isTraced, lines] of rows) {
    it(`takes ${what}`, () => {
      const reports: string[] = [];
      const faults = { report: (plugin: string, message: string) => void reports.push(`${plugin}: ${message}`) };
      const found = traceRequest({ name: "mine", type: "mine", plugin: { finished() {}, trace } }, head, faults);
      assert.equal(found, isTraced ? good : undefined);
      assert.match(reports.join("\n"), lines);
    });
  }

  it("asks nobody where no observer traces", () => assert.equal(traceRequest(undefined, head, { report() {} }), undefined));
});
