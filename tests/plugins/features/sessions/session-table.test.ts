import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Session } from "../../../../plugins/features/sessions/session.ts";
import { SessionTable } from "../../../../plugins/features/sessions/session-table.ts";

function makeTable() {
  const forgotten: string[] = [];
  const table = new SessionTable(({ key }) => void forgotten.push(key));
  const add = (key: string, tenant = "", atMs = 0) => {
    const session = new Session({ key, tenant, model: "m", name: key, source: "session-id" });
    session.cameAtMs = atMs;
    session.endedAtMs = atMs;
    table.add(session);
    return session;
  };
  const keys = () => [...table.all()].map(({ key }) => key);
  return { table, add, keys, forgotten };
}

describe("a table of sessions that is full", () => {
  it("forgets those of the tenant that has the most, the one that was quiet longest first", () => {
    const { table, add, keys, forgotten } = makeTable();
    add("small 1", "small");
    for (let index = 0; index < 10; index++) add(`big ${index}`, "big");
    add("small 2", "small");
    table.touch(table.get("big 0")!);
    assert.equal(table.shrink(5), 7);
    assert.deepEqual(
      forgotten,
      [1, 2, 3, 4, 5, 6, 7].map((index) => `big ${index}`),
    );
    assert.deepEqual(keys().sort(), ["big 0", "big 8", "big 9", "small 1", "small 2"]);
  });

  it("takes turns between tenants that have as many", () => {
    const { table, add } = makeTable();
    const tenants = ["a", "b", "c"];
    for (let index = 0; index < 30; index++) add(`${index}`, tenants[index % 3]);
    table.shrink(6);
    const left = [...table.all()].map(({ tenant }) => tenant).sort();
    assert.deepEqual(left, ["a", "a", "b", "b", "c", "c"]);
    assert.equal(table.shrink(0), 6);
    assert.equal(table.size, 0);
    add("again");
    assert.equal(table.shrink(0), 1);
  });

  it("keeps those with a turn under way as long as others are idle", () => {
    const { table, add, keys } = makeTable();
    add("busy").underWay = 1;
    add("idle");
    table.shrink(1);
    assert.deepEqual(keys(), ["busy"]);
    table.shrink(0);
    assert.deepEqual(keys(), []);
  });

  it("forgets nobody else when a tenant opens very many", () => {
    const { table, add } = makeTable();
    for (let index = 0; index < 50; index++) add(`good ${index}`, `tenant ${index}`);
    for (let index = 0; index < 5_000; index++) {
      table.shrink(99);
      add(`bad ${index}`, "bad");
    }
    const good = [...table.all()].filter(({ tenant }) => tenant !== "bad").length;
    assert.deepEqual([table.size, good], [100, 50]);
  });
});

describe("sessions that are idle", () => {
  it("are forgotten after their time, but not while a turn is under way", () => {
    const { table, add, keys } = makeTable();
    add("old", "a", 0);
    add("busy", "a", 0).underWay = 1;
    add("new", "a", 900);
    add("other", "b", 0);
    assert.equal(table.sweep(1_000, 1_000), 0);
    assert.equal(table.sweep(1_000, 1_001), 2);
    assert.deepEqual(keys(), ["busy", "new"]);
  });
});
