import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { KeptState } from "../../../core/control/kept-state.ts";
import { restoredState, restoredValue } from "../../../core/control/restored-state.ts";
import { savedValue } from "../../../core/state/saved-state.ts";

class Own {}

describe("the state of a plugin as JSON", () => {
  const rows: readonly (readonly [name: string, state: unknown])[] = [
    ["a map", new Map([["food/0", 3]])],
    ["a set", new Set(["e0", "e1"])],
    ["an object", { last: 7, bySlot: [{ name: "e0", turn: 7 }] }],
    ["an empty map", new Map()],
  ];
  for (const [name, state] of rows) {
    it(name, () => assert.deepEqual(restoredValue(JSON.parse(JSON.stringify(savedValue(state)))), state));
  }

  it("holes of a list become null", () => {
    const bySlot: unknown[] = [];
    bySlot[2] = { name: "e2", turn: 1 };
    const written = JSON.parse(JSON.stringify(savedValue({ last: 1, bySlot })));
    assert.deepEqual(restoredValue(written), { last: 1, bySlot: [null, null, { name: "e2", turn: 1 }] });
  });

  const unwritable: readonly (readonly [name: string, state: unknown])[] = [
    ["an object of a class", new Own()],
    ["one inside a map", new Map([["a", new Own()]])],
    ["a function", () => 1],
    ["NaN", { last: Number.NaN }],
  ];
  for (const [name, state] of unwritable) it(`not ${name}`, () => assert.equal(savedValue(state), undefined));

  it("a value that does not fit its container is refused", () => {
    assert.throws(() => restoredValue({ as: "map", value: 7 }), TypeError);
  });
});

describe("kept state", () => {
  it("of some instances is written and read again", () => {
    const kept = new KeptState();
    kept.get("model-rewrite", "a", 1, () => new Map([["r", 2]]));
    kept.get("own", "b", 1, () => new Map([["secret", 2]]));
    const saved = kept.saved([
      { type: "model-rewrite", name: "a" },
      { type: "round-robin", name: "none" },
    ]);
    assert.deepEqual(saved, [{ type: "model-rewrite", name: "a", version: 1, as: "map", value: [["r", 2]] }]);
    const restored = restoredState(saved);
    assert.deepEqual(
      restored.get("model-rewrite", "a", 1, () => "new"),
      new Map([["r", 2]]),
    );
    assert.equal(
      restored.get("model-rewrite", "a", 2, () => "new"),
      "new",
    );
  });
});
