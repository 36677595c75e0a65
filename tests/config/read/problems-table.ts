import assert from "node:assert/strict";
import { test } from "node:test";
import { problemsOf } from "../support.ts";

/** A config, and the lines that `check` prints of it. */
export type ProblemCase = readonly [name: string, text: string, lines: readonly string[]];

/** A test for each case. */
export function problemTests(cases: readonly ProblemCase[]): void {
  for (const [name, text, lines] of cases) {
    test(name, async () => {
      assert.deepEqual(await problemsOf(text), lines);
    });
  }
}
