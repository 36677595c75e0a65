import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { makeEndpoint } from "../../../../core/contract/test-kit.ts";
import { TransferTimes } from "../../../../plugins/features/disaggregation/transfer-times.ts";

const [a, b, c] = [makeEndpoint(0), makeEndpoint(1), makeEndpoint(2)];

/** What was learned of transfers that take so long, by their tokens. */
function learned(msOf: (tokens: number) => number, sizes: readonly number[], rounds = 200): TransferTimes {
  const times = new TransferTimes();
  times.seen(sizes[0]!, msOf(sizes[0]!), a, b, false);
  for (let n = 0; n < rounds; n++) for (const tokens of sizes) times.seen(tokens, msOf(tokens), a, b, true);
  return times;
}

const near = (value: number, wanted: number, part = 0.02) =>
  assert.ok(Math.abs(value - wanted) <= Math.max(part * wanted, 0.01), `${value}, not ${wanted}`);

describe("the time of a transfer", () => {
  it("is 0 before one was seen", () => {
    const times = new TransferTimes();
    assert.deepEqual([times.weighedMs(1_000, a, b), times.expectedMs(1_000, a, b), times.handshakeMs], [0, 0, 0]);
    assert.equal(times.hasMet(a, b), false);
  });

  it("has a fixed part and a part for each token", () => {
    const times = learned((tokens) => 5 + tokens / 100, [500, 2_000, 9_000]);
    for (const tokens of [0, 1_000, 20_000, 1_000_000]) near(times.weighedMs(tokens, a, b), 5 + tokens / 100);
  });

  it("of prompts of one length is their mean, whatever is asked for", () => {
    const times = learned(() => 30, [2_000]);
    for (const tokens of [1, 2_000, 50_000]) near(times.weighedMs(tokens, a, b), 30);
  });

  it("is never below 0, nor shorter for a longer prompt", () => {
    const falling = learned((tokens) => 100 - tokens / 100, [1_000, 5_000]);
    assert.ok(falling.weighedMs(100_000, a, b) >= falling.weighedMs(10, a, b));
    const steep = learned((tokens) => Math.max(0, tokens - 4_000) / 10, [4_000, 8_000]);
    assert.ok(steep.weighedMs(0, a, b) >= 0);
    assert.ok(steep.weighedMs(100, a, b) >= 0);
  });

  it("forgets what was: a network that became ten times as fast", () => {
    const times = learned((tokens) => tokens / 10, [1_000, 5_000]);
    for (let n = 0; n < 800; n++) times.seen(n % 2 ? 1_000 : 5_000, n % 2 ? 10 : 50, a, b, true);
    near(times.weighedMs(3_000, a, b), 30, 0.05);
  });

  it("stays a number after a million transfers of a million tokens", () => {
    const times = new TransferTimes();
    for (let n = 0; n < 1_000_000; n++) times.seen(1_000_000, 80, a, b, true);
    near(times.weighedMs(1_000_000, a, b), 80);
  });
});

describe("the handshake of two processes", () => {
  it("is what the first transfer took more; it counts whole for the first request, and little where pairs are weighed", () => {
    const times = learned(() => 20, [1_000]);
    times.seen(1_000, 7_020, a, c, false);
    near(times.handshakeMs, (20 + 7_000) / 2);
    assert.equal(times.hasMet(a, c), true);
    assert.equal(times.hasMet(b, c), false);
    near(times.expectedMs(1_000, b, c), 20 + times.handshakeMs);
    near(times.weighedMs(1_000, b, c), 20 + times.handshakeMs / 50);
    near(times.expectedMs(1_000, a, c), 20);
  });

  it("is made again by a process that was started anew, and by the two in other roles", () => {
    const times = learned(() => 20, [1_000]);
    assert.equal(times.hasMet({ ...a, generation: 1 }, b), false);
    assert.equal(times.hasMet(a, { ...b, generation: 1 }), false);
    assert.equal(times.hasMet(b, a), false);
  });

  it("takes bounded memory for processes that come and go", () => {
    const times = new TransferTimes();
    for (let generation = 0; generation < 70_000; generation++) times.seen(1, 1, { ...a, generation }, b, false);
    assert.equal(times.hasMet(a, b), false);
    assert.equal(times.hasMet({ ...a, generation: 69_999 }, b), true);
  });
});
