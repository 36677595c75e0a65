import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Waiting } from "../../core/contract/admission.ts";
import { makeRoom, makeWaiting } from "../../core/contract/test-kit.ts";
import { seededRandom } from "../support/endpoints.ts";
import { builtInsOf } from "./pools.ts";

const random = seededRandom(3);

/** Requests of some tenants, models and priorities, in the order in which they come. */
function requests(count: number): readonly Waiting[] {
  return Array.from({ length: count }, (_, index) =>
    makeWaiting({
      id: `request-${index}`,
      tenant: `tenant-${Math.floor(random() * 3)}`,
      model: `model-${Math.floor(random() * 2)}`,
      priority: Math.floor(random() * 3) - 1,
      tokens: Math.floor(random() * 5_000),
      sinceMs: index,
      untilMs: 60_000 + index,
    }),
  );
}

for (const [type, create] of builtInsOf("admission")) {
  describe(`the admission ${type}`, () => {
    it("takes each request that waits once, and then nobody", () => {
      const line = create();
      const all = requests(200);
      for (const request of all) line.join(request);
      const taken = all.map(() => line.take(makeRoom({ nowMs: 100_000 })));
      assert.deepEqual(new Set(taken), new Set(all));
      assert.equal(line.take(makeRoom()), undefined);
    });

    it("takes only those that there is room for, and forgets nobody meanwhile", () => {
      const line = create();
      const all = requests(100);
      for (const request of all) line.join(request);
      const isFor = ({ model }: Waiting) => model === "model-1";
      const some = all.filter(isFor);
      for (let left = some.length; left > 0; left--) assert.equal(line.take(makeRoom({ isFor }))?.model, "model-1");
      assert.equal(line.take(makeRoom({ isFor })), undefined);
      for (let left = all.length - some.length; left > 0; left--) assert.notEqual(line.take(makeRoom()), undefined);
    });

    it("never takes a request that has left", () => {
      const line = create();
      const all = requests(100);
      for (const request of all) line.join(request);
      const left = new Set(all.filter(() => random() < 0.5));
      for (const request of left) line.leave(request);
      line.leave(all[0]!);
      line.leave(makeWaiting({ id: "unknown" }));
      for (let taken = line.take(makeRoom()); taken !== undefined; taken = line.take(makeRoom())) assert.ok(!left.has(taken));
    });

    it("sends away the newcomer or somebody who waits, and changes nothing by saying so", () => {
      const line = create();
      const all = requests(50);
      assert.equal(line.least(all[0]!), all[0]);
      for (const request of all) line.join(request);
      const newcomer = makeWaiting({ priority: 5, tenant: "new" });
      const least = line.least(newcomer);
      assert.ok(all.includes(least));
      assert.equal(line.least(newcomer), least);
      line.leave(least);
      for (let left = all.length - 1; left > 0; left--) assert.notEqual(line.take(makeRoom()), undefined);
    });
  });
}
