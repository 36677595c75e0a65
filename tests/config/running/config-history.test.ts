import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { NO_OVERLAY } from "../../../config/rewrites/overlay.ts";
import { ConfigHistory, type Generation } from "../../../config/running/config-history.ts";

const MIB = 1024 * 1024;
const text = (value: string, file = "a.yaml") => ({ file, text: value });

function generation(number: number, more: Partial<Generation> = {}): Generation {
  const parts = { texts: [text("same")], overlay: NO_OVERLAY, restored: undefined };
  return { generation: number, atMs: number, cause: "files", by: "", changes: [], ...parts, ...more };
}

const numbers = (history: ConfigHistory) => history.generations.map((each) => each.generation);

describe("the generations that are kept", () => {
  it("are the last twenty", () => {
    const history = new ConfigHistory();
    for (let each = 1; each <= 50; each++) history.add(generation(each));
    assert.deepEqual(
      numbers(history),
      Array.from({ length: 20 }, (_, index) => index + 31),
    );
    assert.equal(history.find(30), undefined);
    assert.equal(history.find(31)?.generation, 31);
  });

  it("have 8 MiB of texts together; the newest stays, however long", () => {
    const history = new ConfigHistory();
    for (let each = 1; each <= 12; each++) history.add(generation(each, { texts: [text("z".repeat(MIB - each))] }));
    assert.ok(numbers(history).length < 12 && numbers(history).includes(12));
    history.add(generation(13, { texts: [text("x".repeat(9 * MIB))] }));
    assert.deepEqual(numbers(history), [13]);
  });

  it("count a file that stays as it is once", () => {
    const history = new ConfigHistory();
    const files = (each: number) => [text("y".repeat(MIB), "big.yaml"), text(String(each))];
    for (let each = 1; each <= 15; each++) history.add(generation(each, { texts: files(each) }));
    assert.equal(numbers(history).length, 15);
    assert.equal(history.newest.texts[0], history.find(1)?.texts[0]);
  });

  it("keep what a file says newly where nothing in it is different", () => {
    const history = new ConfigHistory();
    history.add(generation(1));
    history.refresh({ texts: [text("same # with a comment")], overlay: NO_OVERLAY });
    assert.deepEqual(numbers(history), [1]);
    assert.equal(history.newest.texts[0]?.text, "same # with a comment");
  });

  it("name twenty changes each, and count the others", () => {
    const history = new ConfigHistory();
    history.add(generation(1, { changes: Array.from({ length: 500 }, (_, index) => `endpoint ${index} added`) }));
    assert.equal(history.newest.changes.length, 21);
    assert.equal(history.newest.changes.at(-1), "and 480 more");
  });

  it("cut a change that is long", () => {
    const history = new ConfigHistory();
    history.add(generation(1, { changes: ["short", "x".repeat(100_000)] }));
    const [short, long = ""] = history.newest.changes;
    assert.deepEqual([short, long.length, long.at(-1)], ["short", 500, "…"]);
  });
});
