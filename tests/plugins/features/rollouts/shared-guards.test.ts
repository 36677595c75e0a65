import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { silentLog } from "../../../../core/contract/log.ts";
import { nameSet } from "../../../../core/contract/name-set.ts";
import { makeEndpoints, makeHeaders, makeRequest, seededRandom } from "../../../../core/contract/test-kit.ts";
import { makeDecision, makeOutcome } from "../../../../core/test-kit/records.ts";
import type { GuardConfig } from "../../../../plugins/features/rollouts/guard-config.ts";
import { Rollouts } from "../../../../plugins/features/rollouts/rollouts.ts";
import { makeMapping } from "../../../support/view.ts";
import { TestRouters } from "../shared/routers.ts";
import { GUARD } from "./guard.ts";

const SHARED: GuardConfig = { ...GUARD, stickyHeader: "x-user", minRequests: 40 };

/** Routers that agree, each with a guard of the same config, and what they stopped. */
function guardRouters(count: number) {
  const all: { readonly rollouts: Rollouts; weigh(v2: number): void }[] = [];
  const stops: string[] = [];
  const endpoints = makeEndpoints(1).map((endpoint) => ({ ...endpoint, models: nameSet(["v1", "v2"]) }));
  const routers = new TestRouters(0, count, (clock) => {
    const own = all.length;
    const rollouts = new Rollouts({
      clock,
      log: silentLog,
      stopTarget: async ({ reason }) => {
        stops.push(`${own} ${reason}`);
        weigh(0);
        return "";
      },
    });
    const weigh = (v2: number) => {
      const mappings = [makeMapping("food/0", { v1: 50, v2 })];
      const plugin = { clientModels: [], draw: () => undefined, mappings };
      rollouts.follow([{ name: "food", type: "model-rewrite", plugin }], [SHARED], {
        endpoints: () => endpoints,
        meantFor: () => undefined,
      });
    };
    weigh(50);
    all.push({ rollouts, weigh });
    return [{ name: "spec/guards", plugin: { shared: rollouts.shared } }];
  });
  return {
    routers,
    all,
    stops,
    guard: (router: number) => all[router]!.rollouts.guardOf("food/0", "v2")!,
    end(router: number, target: string, status: number, user = "") {
      const headers = makeHeaders(user === "" ? {} : { "x-user": user });
      const decision = makeDecision({ rule: "food/0", target, atMs: routers.clock.now() });
      all[router]!.rollouts.ended(makeOutcome({ decision, status, request: makeRequest({ headers }) }));
    },
  };
}

/** After how many requests to both targets the first guard has stopped the one that fails in 10 %. */
async function untilStopped({ routers, stops, end }: ReturnType<typeof guardRouters>): Promise<number> {
  const random = seededRandom(11);
  let requests = 0;
  for (; stops.length === 0 && requests < 5_000; requests++) {
    const target = random() < 0.5 ? "v1" : "v2";
    end(requests % routers.all.length, target, target === "v2" && random() < 0.1 ? 500 : 200);
    await routers.clock.advance(20);
  }
  return requests;
}

describe("guards of four routers", () => {
  it("find a worse target as soon as one router's would, and stop it at all of them", async () => {
    const alone = guardRouters(1);
    const four = guardRouters(4);
    for (const { routers } of [alone, four]) await routers.clock.advance(1_000);
    const [ofOne, ofFour] = [await untilStopped(alone), await untilStopped(four)];
    assert.ok(ofOne < 400 && ofFour <= 1.25 * ofOne, `${ofOne} and ${ofFour} requests`);
    await four.routers.clock.advance(100);
    for (let router = 0; router < 4; router++) four.end(router, "v1", 200);
    await four.routers.clock.advance(100);
    for (let router = 0; router < 4; router++) assert.equal(four.guard(router).state, "stopped");
    assert.equal(four.stops.length, 4);
    assert.equal(four.stops.filter((stop) => /^\d v2 fails .* Seen by another router\.$/.test(stop)).length, 3);

    // Somebody gives the target a share again at one of them, and another router comes, to which the others tell what they know.
    four.all[0]!.weigh(50);
    four.routers.add();
    await four.routers.clock.advance(2_000);
    for (const router of [0, 4]) four.end(router, "v1", 200);
    await four.routers.clock.advance(100);
    assert.deepEqual([four.guard(0).state, four.guard(0).requests, four.guard(4).state], ["watching", 0, "stopped"]);
  });

  it("count a client that is pinned to its target once, whichever router it asks", async () => {
    const { routers, stops, end, guard } = guardRouters(4);
    await routers.clock.advance(1_000);
    for (let n = 0; n < 400; n++) {
      end(n % 4, "v2", 500, "carol");
      end(n % 4, "v1", 200, `user-${n}`);
      await routers.clock.advance(100);
    }
    assert.deepEqual([stops, guard(3).requests], [[], 1]);
  });

  it("go on alone where messages are lost or strange", async () => {
    const { routers, guard, end } = guardRouters(1);
    await routers.clock.advance(1_000);
    end(0, "v1", 200);
    end(0, "v2", 200);
    const before = guard(0);
    const key = /"seen","([^"]+)"/.exec((await said(routers)).join())![1]!;
    const strange: readonly (readonly unknown[])[] = [
      ["seen", key, 1, 5, 0, [[0, 2]]],
      ["seen", key, 1, 5, 0, [[7, 0.5], [0, -1e300], "x".repeat(100)]],
      ["seen", key, -1],
      ["seen", "another", 1, 5, 0, []],
      ["stopped", key, Number.NaN, "x"],
      ["stopped", key, 1, 2],
      ["ended", key],
    ];
    routers.say(strange.map((fact) => ["of", "spec/guards", ...fact]));
    assert.deepEqual(guard(0), before);
    assert.equal(routers.all[0]!.log.view!.facts.wrong, 5);
  });
});

async function said({ clock, messages }: TestRouters): Promise<readonly string[]> {
  await clock.advance(100);
  return messages;
}
