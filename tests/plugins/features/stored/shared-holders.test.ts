import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Endpoint } from "../../../../core/contract/endpoint.ts";
import { Holders } from "../../../../plugins/features/stored/holders.ts";
import { SharedHolders } from "../../../../plugins/features/stored/shared-holders.ts";
import { TestRouters } from "../shared/routers.ts";

const file = (id: string) => ({ kind: "files", id });

/** Routers that agree, each with its table of places. */
function placeRouters(count: number) {
  const tables: { readonly places: Holders; readonly shared: SharedHolders }[] = [];
  const routers = new TestRouters(0, count, (clock) => {
    const places = new Holders();
    const shared = new SharedHolders(places, clock);
    shared.use(2 ** 20);
    tables.push({ places, shared });
    return [{ name: "spec/stored", plugin: { shared } }];
  });
  const follow = () => tables.forEach(({ shared }, at) => void shared.follow(routers.all[at]!.endpoints));
  follow();
  return {
    routers,
    follow,
    learn(router: number, id: string, { slot }: Pick<Endpoint, "slot">, tenant = "t") {
      const { places, shared } = tables[router]!;
      places.learn(tenant, file(id), routers.all[router]!.endpoints[slot]!, true, routers.clock.now());
      shared.learned(tenant, file(id));
    },
    forget(router: number, id: string) {
      tables[router]!.places.forget("t", file(id));
      tables[router]!.shared.deleted("t", file(id));
    },
    /** Where it is, as each router knows it: "" for nowhere, with "?" where two replicas have it. */
    known: (id: string, tenant = "t") =>
      tables.map(({ places }) => {
        const place = places.look(tenant, file(id));
        return place === undefined ? "" : `${place.endpoint}${place.isDoubled ? "?" : ""}`;
      }),
  };
}

describe("what one router learns of a replica", () => {
  it("the others know, until one of them sees it deleted", async () => {
    const { routers, learn, forget, known } = placeRouters(3);
    await routers.clock.advance(1_000);
    learn(0, "1", { slot: 2 });
    await routers.clock.advance(60);
    assert.deepEqual(known("1"), ["r2", "r2", "r2"]);
    forget(1, "1");
    await routers.clock.advance(5_000);
    assert.deepEqual(known("1"), ["", "", ""]);
  });

  it("is unsure at all of them where two replicas made the same id, and stays so", async () => {
    const { routers, learn, known } = placeRouters(3);
    await routers.clock.advance(1_000);
    learn(0, "1", { slot: 0 });
    learn(1, "1", { slot: 1 });
    await routers.clock.advance(5_000);
    assert.deepEqual(
      known("1").map((place) => place.slice(-1)),
      ["?", "?", "?"],
    );
  });

  it("is of neither tenant where two have made the same id, at whichever routers", async () => {
    const { routers, learn, known } = placeRouters(3);
    await routers.clock.advance(1_000);
    learn(0, "1", { slot: 0 });
    learn(1, "1", { slot: 0 }, "u");
    await routers.clock.advance(5_000);
    for (const tenant of ["t", "u"]) assert.deepEqual(known("1", tenant), ["r0?", "r0?", "r0?"]);
  });

  it("a router that comes is told, also of what one that has gone had learned; then nobody repeats it", async () => {
    const { routers, follow, learn, known } = placeRouters(2);
    await routers.clock.advance(1_000);
    for (let n = 0; n < 2_000; n++) learn(0, `file-${n}`, { slot: n % 3 });
    await routers.clock.advance(5_000);
    routers.all[0]!.log.close();
    await routers.clock.advance(5_000);
    routers.add();
    follow();
    await routers.clock.advance(2_000);
    for (let n = 0; n < 2_000; n++) assert.equal(known(`file-${n}`)[2], `r${n % 3}`);
    const [before] = [routers.messages.length];
    await routers.clock.advance(10_000);
    const later = routers.messages.slice(before);
    assert.ok(later.every((message) => !message.includes("file-")));
  });
});
