import assert from "node:assert/strict";
import { it, type TestContext } from "node:test";
import { endSoon } from "../../../apps/cli/end-soon.ts";

it("a program ends with its code though something is left open, once it is printed", (t: TestContext) => {
  const codes: unknown[] = [];
  let unprinted = 1;
  t.mock.timers.enable({ apis: ["setTimeout"] });
  t.mock.method(process, "exit", (code: unknown) => void codes.push(code));
  const before = Object.getOwnPropertyDescriptor(process.stdout, "writableLength");
  Object.defineProperty(process.stdout, "writableLength", { get: () => unprinted, configurable: true });
  try {
    endSoon(3);
    t.mock.timers.tick(5_000);
    assert.deepEqual(codes, []);
    unprinted = 0;
    t.mock.timers.tick(5_000);
    assert.deepEqual(codes, [3]);
  } finally {
    if (before === undefined) Reflect.deleteProperty(process.stdout, "writableLength");
    else Object.defineProperty(process.stdout, "writableLength", before);
    t.mock.timers.reset();
  }
});
