import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { cutStreams, cutWaiting, type WatchedTry } from "../../../core/wire/stuck-tries.ts";

/** Tries, named by what they are; which of them were cut is what the functions are asked for. */
function world(
  tries: Readonly<Record<string, readonly [watchState: WatchedTry["watchState"], silenceMs: number, gapMs?: number]>>,
) {
  const gone: string[] = [];
  const watched = Object.entries(tries).map(([name, [watchState, silenceMs, longestGapMs = 0]]): WatchedTry => {
    return { watchState, silenceMs, longestGapMs, cut: () => void gone.push(name) };
  });
  return { watched, gone };
}

describe("who waits for a token", () => {
  it("is given up after the given time", () => {
    const { watched, gone } = world({ old: ["waiting", 5_000], young: ["waiting", 4_999], stream: ["streaming", 9_000] });
    assert.equal(cutWaiting(watched, 5_000), true);
    assert.deepEqual(gone, ["old"]);
  });

  it("nobody may have waited for so long", () => {
    const { watched, gone } = world({ young: ["waiting", 4_999], held: ["idle", 9_000] });
    assert.equal(cutWaiting(watched, 5_000), false);
    assert.deepEqual(gone, []);
  });
});

describe("streams that fell silent", () => {
  const cut = (tries: Parameters<typeof world>[0], isWitnessed = false) => {
    const { watched, gone } = world(tries);
    cutStreams(watched, 10_000, isWitnessed);
    return gone;
  };

  it("are given up where a request got no token meanwhile", () => {
    assert.deepEqual(cut({ one: ["streaming", 10_000], fresh: ["streaming", 9_999] }, true), ["one"]);
  });

  it("are left alone though they stopped at the same moment: agents call tools in parallel", () => {
    assert.deepEqual(cut({ one: ["streaming", 11_000], two: ["streaming", 10_100], three: ["streaming", 30_000] }), []);
  });

  it("are left alone where one is all there is to judge by", () => {
    assert.deepEqual(cut({ one: ["streaming", 60_000], held: ["idle", 60_000], waiting: ["waiting", 60_000] }), []);
  });

  it("may be silent four times as long as they were before", () => {
    assert.deepEqual(cut({ slow: ["streaming", 17_999, 2_000], quick: ["streaming", 18_000, 100] }, true), ["quick"]);
    assert.deepEqual(cut({ slow: ["streaming", 18_000, 2_000] }, true), ["slow"]);
  });
});
