import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { RouterError } from "../../../../core/contract/errors.ts";
import type { PrincipalLimits } from "../../../../core/contract/principal.ts";
import { Account } from "../../../../plugins/features/auth/account.ts";
import { Accounts } from "../../../../plugins/features/auth/accounts.ts";
import { KeyCountTable } from "../../../../plugins/features/auth/key-counts.ts";
import { limitLines } from "../../../../plugins/features/auth/limit-lines.ts";

const principal = (name: string) => ({ name, tenant: name, priority: 0, models: undefined, limits: { requestsPerMinute: 1 } });
const account = () => new Account(new KeyCountTable().of(principal("a")), 0);

/** Seconds after which it may be tried again; 0 if it came in. */
function enter(one: Account, limits: PrincipalLimits, nowMs: number): number {
  try {
    one.enter(limits, nowMs);
    return 0;
  } catch (thrown) {
    assert.ok(thrown instanceof RouterError);
    assert.deepEqual([thrown.status, thrown.code, thrown.isRetryable], [429, "rate_limit_exceeded", true]);
    return thrown.retryAfterS;
  }
}

describe("limits of a key", () => {
  it("requests per minute: none beyond them in any minute, and the next one when the first is a minute old", () => {
    const [one, limits] = [account(), { requestsPerMinute: 3 }];
    const cameIn: number[] = [];
    for (let atMs = 500; atMs < 180_000; atMs += 500) if (enter(one, limits, atMs) === 0) cameIn.push(atMs);
    for (const atMs of cameIn) assert.ok(cameIn.filter((other) => other > atMs - 60_000 && other <= atMs).length <= 3);
    assert.deepEqual(cameIn, [500, 1000, 1500, 61_000, 62_000, 62_500, 122_000, 123_000, 123_500]);
  });

  it("says exactly when it may be tried again", () => {
    const [one, limits] = [account(), { requestsPerMinute: 2 }];
    assert.equal(enter(one, limits, 10_000), 0);
    assert.equal(enter(one, limits, 30_000), 0);
    const seconds = enter(one, limits, 40_000);
    assert.equal(seconds, 31);
    assert.notEqual(enter(one, limits, 40_000 + 1000 * (seconds - 1)), 0);
    assert.equal(enter(one, limits, 40_000 + 1000 * seconds), 0);
  });

  it("tokens per minute: what is used, and what requests under way have reserved", () => {
    const [one, limits] = [account(), { tokensPerMinute: 1000 }];
    assert.equal(enter(one, limits, 0), 0);
    one.reserve(700, limits, 0);
    assert.equal(enter(one, limits, 1), 0);
    one.reserve(300, limits, 1);
    assert.equal(enter(one, limits, 2), 1);
    one.leave(200, 700, 3);
    assert.equal(enter(one, limits, 4), 0);
    one.leave(2000, 300, 5_000);
    assert.equal(enter(one, limits, 6_000), 60);
    assert.throws(() => one.reserve(1, limits, 6_000), { code: "rate_limit_exceeded" });
    assert.equal(enter(one, limits, 66_000), 0);
  });

  it("a prompt that is longer than a minute's tokens gets its turn", () => {
    const [one, limits] = [account(), { tokensPerMinute: 10 }];
    assert.equal(enter(one, limits, 0), 0);
    one.reserve(5000, limits, 0);
    assert.notEqual(enter(one, limits, 1), 0);
  });

  it("a request that was refused is given back, in the minute in which it counted", () => {
    const [one, limits] = [account(), { requestsPerMinute: 2 }];
    assert.equal(enter(one, limits, 10_000), 0);
    assert.equal(enter(one, limits, 20_000), 0);
    one.giveBack(10_000, 40_000);
    assert.equal(enter(one, limits, 40_000), 0);
    assert.equal(enter(one, limits, 50_000), 31);
    // What is forgotten can't be given back.
    one.giveBack(20_000, 82_000);
    assert.equal(enter(one, limits, 82_000), 0);
    assert.equal(enter(one, limits, 82_000), 19);
  });

  it("concurrency", () => {
    const [one, limits] = [account(), { concurrency: 2 }];
    assert.deepEqual([enter(one, limits, 0), enter(one, limits, 0), enter(one, limits, 0)], [0, 0, 1]);
    one.leave(0, 0, 1);
    assert.equal(enter(one, limits, 2), 0);
  });

  it("none where there is none", () => {
    const one = account();
    for (let n = 0; n < 1000; n++) assert.equal(enter(one, {}, 0), 0);
    assert.equal(limitLines(one, {}, "openai", 0, 0), "");
  });
});

describe("what is left of limits", () => {
  const [one, limits] = [account(), { requestsPerMinute: 10, tokensPerMinute: 100 }];
  one.enter(limits, 10_000);
  one.leave(30.4, 0, 12_000);

  it("is told in the words of each API", () => {
    assert.equal(
      limitLines(one, limits, "openai", 20_000, 0),
      "x-ratelimit-limit-requests: 10\r\nx-ratelimit-remaining-requests: 9\r\nx-ratelimit-reset-requests: 51s\r\n" +
        "x-ratelimit-limit-tokens: 100\r\nx-ratelimit-remaining-tokens: 69\r\nx-ratelimit-reset-tokens: 53s\r\n",
    );
    assert.equal(
      limitLines(one, limits, "anthropic", 20_000, Date.UTC(2030, 0, 1)),
      "anthropic-ratelimit-requests-limit: 10\r\nanthropic-ratelimit-requests-remaining: 9\r\n" +
        "anthropic-ratelimit-requests-reset: 2030-01-01T00:00:51Z\r\nanthropic-ratelimit-tokens-limit: 100\r\n" +
        "anthropic-ratelimit-tokens-remaining: 69\r\nanthropic-ratelimit-tokens-reset: 2030-01-01T00:00:53Z\r\n",
    );
  });

  it("is all of it after a minute", () => {
    assert.match(limitLines(one, limits, "openai", 73_000, 0), /remaining-requests: 10\r\nx-ratelimit-reset-requests: 0s/);
  });
});

describe("accounts", () => {
  it("do not grow with names that are used once, and forget nobody who is under way", () => {
    const accounts = new Accounts();
    accounts.of(principal("stays"), 0).enter({ requestsPerMinute: 1 }, 0);
    for (let n = 0; n < 30_000; n++) {
      const one = accounts.of(principal(`user-${n}`), 100 * n);
      one.enter({}, 100 * n);
      one.leave(0, 0, 100 * n);
    }
    assert.ok(accounts.size <= 10_000);
    assert.equal(accounts.counts.all().length, 501);
    assert.equal(
      accounts.counts.all().reduce((sum, { inFlight }) => sum + inFlight, 0),
      1,
    );
    accounts.of(principal("stays"), 3_000_000).leave(0, 0, 3_000_000);
    assert.equal(
      accounts.counts.all().reduce((sum, { inFlight }) => sum + inFlight, 0),
      0,
    );
  });
});
