import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Principal, PrincipalLimits } from "../../../../core/contract/principal.ts";
import { seededRandom } from "../../../../core/contract/test-kit.ts";
import { Ticket } from "../../../../core/ticket.ts";
import { KeyAccess } from "../../../../plugins/features/auth/access.ts";
import { Accounts } from "../../../../plugins/features/auth/accounts.ts";
import { SharedKeys } from "../../../../plugins/features/auth/shared-keys.ts";
import { requestHead } from "../../../support/wire-heads.ts";
import { TestRouters } from "../shared/routers.ts";

const HEAD = requestHead(["Host: a", "Authorization: Bearer x"]);

const MINUTE_MS = 60_000;
const ROUTERS = 4;
const LATENCY_MS = 150;

/** Four routers that agree, and what a key may use at each of them. */
class KeyRouters {
  readonly #keys: { readonly accounts: Accounts; readonly shared: SharedKeys }[] = [];
  readonly routers: TestRouters;
  readonly #limits: PrincipalLimits;
  readonly #principal: Principal;
  /** When each request was let in, and what it took. */
  readonly admitted: { readonly atMs: number; readonly tokens: number }[] = [];

  constructor(limits: PrincipalLimits, loss = 0) {
    this.#limits = limits;
    this.#principal = { name: "alice", tenant: "t", priority: 0, models: undefined, limits };
    this.routers = new TestRouters(loss, ROUTERS, (clock) => {
      const accounts = new Accounts();
      const shared = new SharedKeys(accounts, clock);
      this.#keys.push({ accounts, shared });
      return [{ name: "spec/auth", plugin: { shared } }];
    });
  }

  /** Whether the router lets it in. It ends after a while. */
  ask(router: number, tokens: number, takesMs = LATENCY_MS): boolean {
    const { clock } = this.routers;
    const { accounts, shared } = this.#keys[router]!;
    const account = accounts.of(this.#principal, clock.now());
    const said = () => shared.used("alice", this.#limits, clock.now());
    try {
      account.enter(this.#limits, clock.now());
    } catch {
      return false;
    }
    said();
    try {
      account.reserve(tokens, this.#limits, clock.now());
    } catch {
      account.leave(0, 0, clock.now());
      account.giveBack(clock.now(), clock.now());
      said();
      return false;
    }
    said();
    this.admitted.push({ atMs: clock.now(), tokens });
    clock.after(takesMs, () => {
      account.leave(tokens, tokens, clock.now());
      said();
    });
    return true;
  }

  /** Of the requests of a minute, as the router knows it. */
  left(router: number): number {
    const nowMs = this.routers.clock.now();
    const account = this.#keys[router]!.accounts.of(this.#principal, nowMs);
    return account.requestsLeft(this.#limits, nowMs)!.remaining;
  }

  /** The most of any minute. */
  most(of: (one: { readonly tokens: number }) => number): number {
    return Math.max(
      ...this.admitted.map(({ atMs }) => {
        const inMinute = this.admitted.filter((other) => other.atMs > atMs - MINUTE_MS && other.atMs <= atMs);
        return inMinute.reduce((sum, one) => sum + of(one), 0);
      }),
    );
  }
}

describe("a key's limits at four routers in turn", () => {
  for (const [loss, everyMs] of [
    [0, 40],
    [0.2, 20],
  ] as const) {
    it(`requests and tokens of each minute are within 2 %, every ${everyMs} ms one, of messages ${100 * loss} % lost`, async () => {
      for (const limits of [{ requestsPerMinute: 600 }, { tokensPerMinute: 300_000 }]) {
        const keys = new KeyRouters(limits, loss);
        const random = seededRandom(3);
        await keys.routers.clock.advance(1_000);
        for (let n = 0; keys.routers.clock.now() < 2.2 * MINUTE_MS; n++) {
          keys.ask(n % ROUTERS, 300 + Math.floor(random() * 400));
          await keys.routers.clock.advance(everyMs);
        }
        const [most, limit] =
          "requestsPerMinute" in limits ? [keys.most(() => 1), 600] : [keys.most(({ tokens }) => tokens), 300_000];
        assert.ok(most <= 1.02 * limit && most >= 0.98 * limit, `${JSON.stringify(limits)}: ${most}`);
      }
    });
  }

  it("many at once, which no router can have told the others of, are no more than what is left", async () => {
    const keys = new KeyRouters({ requestsPerMinute: 600 });
    const { clock } = keys.routers;
    await clock.advance(1_000);
    const ask = (count: number) => Array.from({ length: count }, (_, n) => keys.ask(n % ROUTERS, 1)).filter(Boolean).length;
    for (let n = 0; n < 20; n++) {
      assert.equal(ask(16), 16);
      await clock.advance(500);
    }
    assert.equal(ask(400), 280);
    await clock.advance(500);
    assert.equal(ask(400), 0);
  });

  it("what a router used that has died is known to one that comes later, as of then", async () => {
    const keys = new KeyRouters({ requestsPerMinute: 600 });
    const { routers } = keys;
    await routers.clock.advance(1_000);
    for (let n = 0; n < 100; n++) {
      keys.ask(0, 1);
      await routers.clock.advance(100);
    }
    routers.all[0]!.die();
    await routers.clock.advance(20_000);
    routers.add();
    await routers.clock.advance(100);
    assert.equal(keys.left(ROUTERS), 500);
    await routers.clock.advance(35_000);
    const [told, heard] = [keys.left(ROUTERS), keys.left(1)];
    assert.ok(told > 530 && told < 580 && Math.abs(told - heard) <= 10, `${told}, ${heard}`);
    await routers.clock.advance(10_000);
    assert.equal(keys.left(ROUTERS), 600);
  });

  it("what was used while the store was gone counts as of then: the limit has no gap and no jump", async () => {
    const keys = new KeyRouters({ requestsPerMinute: 600 });
    const { routers } = keys;
    const ask = async (count: number) => {
      for (let n = 0; n < count; n++) {
        keys.ask(n % 2, 1);
        await routers.clock.advance(100);
      }
    };
    await routers.clock.advance(1_000);
    await ask(100);
    routers.storeGone();
    await ask(200);
    routers.storeBack();
    await routers.clock.advance(100);
    // Ten and thirty seconds' use is known to one that has not been asked, second by second.
    assert.equal(keys.left(3), 300);
    await routers.clock.advance(25_000);
    assert.equal(keys.left(3), 300);
    await routers.clock.advance(20_000);
    const left = keys.left(3);
    assert.ok(left > 425 && left < 475, `${left}`);
    await routers.clock.advance(25_000);
    assert.equal(keys.left(3), 600);
  });

  it("requests under way count at all, and go with a router that dies; one that comes is told of them", async () => {
    const limits = { concurrency: 6 };
    const keys = new KeyRouters(limits);
    const { clock, all } = keys.routers;
    await clock.advance(1_000);
    for (let n = 0; n < 6; n++) {
      assert.ok(keys.ask(n % 2, 1, 10_000));
      await clock.advance(100);
    }
    keys.routers.add();
    await clock.advance(1_100);
    for (let router = 0; router <= ROUTERS; router++) assert.equal(keys.ask(router, 1), false, `router ${router}`);
    all[0]!.die();
    await clock.advance(5_000);
    // One may always go on, and no two at once where that would be too many.
    assert.ok(keys.ask(4, 1, 10_000));
    await clock.advance(100);
    for (const router of [2, 3]) assert.ok(keys.ask(router, 1, 10_000));
    await clock.advance(100);
    for (const router of [1, 2, 3, 4]) assert.equal(keys.ask(router, 1), false);
  });

  it("many at once at one router wait until the others have heard of them, rather than be refused", async () => {
    const all: KeyAccess[] = [];
    const routers = new TestRouters(0, 3, (clock) => {
      const access = new KeyAccess(clock);
      all.push(access);
      return [{ name: "spec/auth", plugin: { shared: access.shared } }];
    });
    const principal = { name: "alice", tenant: "t", priority: 0, models: undefined, limits: { concurrency: 20 } };
    const config = { authenticators: [{ name: "a", type: "a", plugin: { authenticate: () => principal } }] };
    const outcomes: string[] = [];
    const enter = (router: number) => {
      const ended = (outcome: string) => void outcomes.push(outcome);
      const ticket = new Ticket("1", "POST", 0);
      const entering = new Promise<void>((resolve) => resolve(all[router]!.enter(ticket, HEAD, config as never)));
      void entering.then(
        () => ended("in"),
        () => ended("refused"),
      );
    };
    await routers.clock.advance(1_000);
    for (const router of [1, 2]) enter(router);
    await routers.clock.advance(100);
    for (let n = 0; n < 25; n++) enter(0);
    await routers.clock.advance(0);
    // Its part, and two that were there; what is beyond the limit is not kept waiting.
    assert.deepEqual([outcomes.length, new Set(outcomes).size], [8, 1]);
    await routers.clock.advance(500);
    assert.deepEqual([outcomes.filter((each) => each === "in").length, outcomes.length], [20, 27]);
  });
});
