import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { KeptState } from "../../../core/control/kept-state.ts";

describe("state that outlives a reload", () => {
  const made = () => ({ count: 0 });

  it("is the same object for the same type, name and version", () => {
    const kept = new KeptState();
    const first = kept.get("t", "a", 1, made);
    assert.equal(kept.get("t", "a", 1, made), first);
    assert.notEqual(kept.get("t", "b", 1, made), first);
    assert.notEqual(kept.get("other", "a", 1, made), first);
  });

  it("is made anew for another version", () => {
    const kept = new KeptState();
    const first = kept.get("t", "a", 1, made);
    assert.notEqual(kept.get("t", "a", 2, made), first);
  });

  it("in a draft is the same, and what the draft adds, replaces or forgets is not seen outside", () => {
    const kept = new KeptState();
    const [a, b] = [kept.get("t", "a", 1, made), kept.get("t", "b", 1, made)];
    const draft = kept.draft();
    assert.equal(draft.get("t", "a", 1, made), a);
    draft.get("t", "b", 2, made);
    const added = draft.get("t", "c", 1, made);
    draft.retain([{ type: "t", name: "c" }]);
    assert.equal(kept.get("t", "b", 1, made), b);
    assert.notEqual(kept.get("t", "c", 1, made), added);
    assert.equal(draft.get("t", "c", 1, made), added);
  });

  it("is forgotten with its instance", () => {
    const kept = new KeptState();
    const [a, b] = [kept.get("t", "a", 1, made), kept.get("t", "b", 1, made)];
    kept.retain([{ type: "t", name: "b" }]);
    assert.equal(kept.get("t", "b", 1, made), b);
    assert.notEqual(kept.get("t", "a", 1, made), a);
  });
});
