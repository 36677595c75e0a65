import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { thrownMessage, thrownText } from "../../../core/contract/thrown-text.ts";

const hostile = {
  toString() {
    throw new Error("no");
  },
};
const UNPRINTABLE = "a value that can't be shown";

describe("what was thrown, as text and as message", () => {
  const cases: readonly (readonly [what: string, thrown: unknown, text: string, message: string])[] = [
    ["an error", new RangeError("too long"), "RangeError: too long", "too long"],
    ["a text", "stop", "stop", "stop"],
    ["undefined", undefined, "undefined", "undefined"],
    ["an object without a prototype", Object.create(null), UNPRINTABLE, UNPRINTABLE],
    ["an object whose toString throws", hostile, UNPRINTABLE, UNPRINTABLE],
    ["an error whose message throws", Object.assign(new Error(), { message: hostile }), UNPRINTABLE, UNPRINTABLE],
  ];
  for (const [what, thrown, text, message] of cases) {
    it(what, () => assert.deepEqual([thrownText(thrown), thrownMessage(thrown)], [text, message]));
  }
});
