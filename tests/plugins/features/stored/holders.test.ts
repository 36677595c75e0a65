import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Holders } from "../../../../plugins/features/stored/holders.ts";
import { makeEndpoint } from "../../../support/endpoints.ts";

const [a, b] = [makeEndpoint(0), makeEndpoint(1)];
const file = (id: string) => ({ kind: "files", id });

describe("the places of what replicas keep", () => {
  it("are of one tenant, and one kind", () => {
    const places = new Holders();
    places.learn("one", file("1"), a, true, 0);
    assert.equal(places.find("one", file("1"), 0)?.endpoint, a.name);
    assert.equal(places.find("two", file("1"), 0), undefined);
    assert.equal(places.find("one", { kind: "batches", id: "1" }, 0), undefined);
    assert.equal(places.isKnown(file("1")), true);
    places.learn("two", file("1"), b, true, 0);
    places.forget("one", file("1"));
    assert.equal(places.isKnown(file("1")), true);
    places.forget("two", file("1"));
    assert.deepEqual([places.isKnown(file("1")), places.size, places.bytes], [false, 0, 0]);
  });

  it("are unsure where two replicas made the same id, and stay so", () => {
    const places = new Holders();
    places.learn("", file("1"), a, true, 0);
    places.learn("", file("1"), a, true, 0);
    assert.equal(places.find("", file("1"), 0)?.isDoubled, false);
    places.learn("", file("1"), b, true, 0);
    places.learn("", file("1"), b, true, 0);
    assert.equal(places.find("", file("1"), 0)?.isDoubled, true);
    assert.equal(places.size, 1);
  });

  it("are of neither tenant where two have made the same id, at one replica or at two, until nobody has it", () => {
    for (const second of [a, b]) {
      const places = new Holders();
      places.learn("one", file("1"), a, true, 0);
      places.learn("one", file("2"), a, true, 0);
      places.learn("two", file("1"), second, true, 0);
      const doubled = () => ["one", "two"].map((tenant) => places.find(tenant, file("1"), 0)?.isDoubled);
      assert.deepEqual(doubled(), [true, true]);
      // What is read of it later makes it nobody's own.
      places.learn("one", file("1"), a, false, 0);
      places.learn("three", file("1"), a, false, 0);
      assert.deepEqual([...doubled(), places.look("three", file("1"))?.isDoubled], [true, true, true]);
      assert.equal(places.find("one", file("2"), 0)?.isDoubled, false);
      for (const tenant of ["one", "two", "three"]) places.forget(tenant, file("1"));
      places.learn("two", file("1"), second, true, 0);
      assert.deepEqual(doubled(), [undefined, false]);
    }
  });

  it("take no more memory than they may: the tenant with the most loses what it has not used for longest", () => {
    const places = new Holders();
    places.learn("small", file("first"), a, true, 0);
    for (let index = 0; index < 1_000; index++) {
      places.learn("large", file(`file_${index}`), a, true, index);
      places.find("large", file("file_0"), index);
      places.shrink(32_000);
      assert.ok(places.bytes <= 32_000);
    }
    assert.ok(places.find("small", file("first"), 0));
    assert.ok(places.find("large", file("file_0"), 0));
    assert.equal(places.find("large", file("file_1"), 0), undefined);
    assert.equal(places.forgotten.pushedOut, 1_001 - places.size);
    places.shrink(0);
    assert.deepEqual([places.size, places.bytes, places.isKnown(file("first"))], [0, 0, false]);
  });

  it("are forgotten when nobody has asked for so long", () => {
    const places = new Holders();
    places.learn("one", file("1"), a, true, 0);
    places.learn("one", file("2"), a, true, 10);
    places.find("one", file("1"), 20);
    places.expire(10);
    assert.deepEqual([places.find("one", file("2"), 20), places.size, places.forgotten.expired], [undefined, 1, 1]);
  });
});
