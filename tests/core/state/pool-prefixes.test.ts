import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { PoolPrefixes } from "../../../core/state/pool-prefixes.ts";

const SETTINGS = { blockBytes: 64, maxBytes: 2 ** 20, countGenerated: false };
const KEY = { api: "chat", target: "m", cacheSalt: "" };
const PROMPT = new Uint8Array(1_000).fill(65);

/** An index with one prompt of slot 0, whose cache holds 100 tokens. */
function setUp() {
  const prefixes = new PoolPrefixes();
  prefixes.prepare(SETTINGS)();
  prefixes.setCapacity(0, 100);
  send(prefixes);
  return prefixes;
}

function send(prefixes: PoolPrefixes): void {
  prefixes.index!.admit(prefixes.index!.match(KEY, PROMPT, [[0, 1_000]], 250), 0);
}

const tokens = (prefixes: PoolPrefixes) => prefixes.index!.stats().slots[0]?.tokens ?? 0;

describe("the prefix index over changes of the config", () => {
  it("stays while its settings are the same", () => {
    const prefixes = setUp();
    const { index } = prefixes;
    prefixes.prepare({ ...SETTINGS })();
    assert.equal(prefixes.index, index);
    assert.ok(tokens(prefixes) > 0);
  });

  for (const [key, value] of [
    ["blockBytes", 128],
    ["maxBytes", 2 ** 21],
    ["countGenerated", true],
  ] as const) {
    it(`is an empty one with another ${key}, and knows the caches' sizes`, () => {
      const prefixes = setUp();
      const { index } = prefixes;
      const change = prefixes.prepare({ ...SETTINGS, [key]: value });
      assert.equal(prefixes.index, index, "not yet");
      change();
      assert.notEqual(prefixes.index, index);
      assert.equal(tokens(prefixes), 0);
      send(prefixes);
      assert.ok(tokens(prefixes) > 0 && tokens(prefixes) <= 100);
    });
  }

  it("is none when no plugin reads it, and comes back empty", () => {
    const prefixes = setUp();
    prefixes.prepare(undefined)();
    assert.equal(prefixes.index, undefined);
    prefixes.setCapacity(0, undefined);
    prefixes.forget(0);
    prefixes.prepare(SETTINGS)();
    send(prefixes);
    assert.ok(tokens(prefixes) > 100, "its capacity was forgotten");
  });

  it("that can't be made changes nothing", () => {
    const prefixes = setUp();
    const { index } = prefixes;
    assert.throws(() => prefixes.prepare({ ...SETTINGS, maxBytes: 1 }));
    assert.equal(prefixes.index, index);
  });
});
