import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import {
  type ConversationSettings,
  conversationsSection,
} from "../../../../plugins/features/conversations/conversations-config.ts";
import type { Turn } from "../../../../plugins/features/conversations/turn.ts";
import { type OpenTurn, TurnStore } from "../../../../plugins/features/conversations/turn-store.ts";
import { FakeClock } from "../../../support/fake-clock.ts";

const bytes = (length: number) => ({ items: new Uint8Array(length).fill(0x31), ids: new Map() });

function setUp(settings: Partial<ConversationSettings> = {}) {
  const clock = new FakeClock();
  const store = new TurnStore(clock);
  const all = { ...conversationsSection.schema.parse({})!, ...settings };
  store.use(all);
  /** A turn from its request to its end. */
  const add = (id: string, parent?: string, { tenant = "", length = 10 } = {}) => {
    const open = store.begin(tenant, parent === undefined ? undefined : store.find(tenant, parent), bytes(length), 0);
    if (open === undefined) return "no_room";
    const kept = store.keep(open, id, bytes(0));
    store.end(open);
    return kept;
  };
  const has = (id: string, tenant = "") => store.find(tenant, id) !== undefined;
  return { clock, store, add, has, all };
}

describe("turns that are held", () => {
  it("are found by their tenant alone, with all before them", () => {
    const { store, add, has } = setUp();
    add("a", undefined, { tenant: "t" });
    add("b", "a", { tenant: "t" });
    assert.ok(!has("a") && !has("b", "u") && has("b", "t"));
    assert.deepEqual(
      store
        .find("t", "b")!
        .history()
        .map(({ id }) => id),
      ["a", "b"],
    );
  });

  it("are forgotten when nothing has continued them for so long, and then nothing is left", async () => {
    const { clock, store, add, has } = setUp({ ttlMs: 60_000 });
    add("a");
    add("b", "a");
    add("other");
    await clock.advance(50_000);
    add("c", "b");
    await clock.advance(10_001);
    assert.ok(has("a") && has("b") && has("c") && !has("other"));
    await clock.advance(50_000);
    assert.ok(!has("a") && !has("c"));
    await clock.advance(60_000);
    assert.deepEqual([store.turns, store.bytes, store.tenants, clock.pending], [0, 0, 0, 0]);
    assert.equal(store.forgotten.expired, 4);
  });

  it("stay while a request that continues them is under way, however long and whatever else comes", async () => {
    const { clock, store, add, has } = setUp({ ttlMs: 60_000, maxTenantBytes: 100_000 });
    add("a");
    add("b", "a");
    const open = store.begin("", store.find("", "b"), bytes(10), 0)!;
    await clock.advance(200_000);
    for (let at = 0; at < 50; at++) add(`x${at}`, undefined, { length: 10_000 });
    assert.ok(has("a") && has("b") && !has("x0") && has("x49"));
    store.end(open);
    store.end(open);
    await clock.advance(70_000);
    assert.deepEqual([store.turns, store.bytes, store.tenants], [0, 0, 0]);
  });

  it("push out those of the tenant that has the most", () => {
    const { store, add, has } = setUp({ maxBytes: 100_000, maxTenantBytes: 90_000 });
    add("small", undefined, { tenant: "one", length: 20_000 });
    for (let at = 0; at < 40; at++) add(`x${at}`, undefined, { tenant: "many", length: 5_000 });
    assert.ok(has("small", "one") && has("x39", "many") && !has("x0", "many"));
    assert.ok(store.bytes <= 100_000);
    assert.equal(add("huge", undefined, { tenant: "one", length: 90_000 }), "no_room");
    assert.ok(has("small", "one"));
  });

  it("are 10,000 in a row, and each is quick to continue", () => {
    const { store, add } = setUp();
    add("0");
    for (let at = 1; at < 10_000; at++) assert.equal(add(`${at}`, `${at - 1}`), "");
    assert.equal(store.find("", "9999")!.history().length, 10_000);
    assert.equal(store.find("", "9999")!.historyBytes, 110_000);
  });

  it("are none once the feature is off, also not those of requests under way", () => {
    const { store, add, has, all } = setUp();
    add("a");
    const one = store.begin("", store.find("", "a"), bytes(10), 0)!;
    const other = store.begin("", undefined, bytes(10), 0)!;
    store.use(undefined);
    assert.ok(!has("a"));
    store.use(all);
    assert.equal(store.keep(one, "b", bytes(1)), "no_room");
    assert.equal(store.keep(other, "c", bytes(1)), "");
    store.end(one);
    store.end(other);
    assert.ok(!has("a") && !has("b") && has("c"));
    store.use(undefined);
    assert.deepEqual([store.turns, store.bytes, store.tenants], [0, 0, 0]);
  });

  it("keep to the bounds, and never lose the beginning of what they keep", () => {
    const step = fc.record({
      kind: fc.constantFrom("begin", "keep", "end", "flaw", "wait"),
      tenant: fc.constantFrom("a", "b"),
      pick: fc.nat(1_000),
      length: fc.nat(9_000),
    });
    fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 120 }), async (steps) => {
        const { clock, store } = setUp({ maxBytes: 60_000, maxTenantBytes: 40_000, ttlMs: 10_000 });
        const open: OpenTurn[] = [];
        const ids: Record<string, string[]> = { a: [], b: [] };
        for (const [index, { kind, tenant, pick, length }] of steps.entries()) {
          const known = ids[tenant]!.filter((id) => store.find(tenant, id)?.flaw === "");
          const own = open[pick % Math.max(1, open.length)];
          if (kind === "begin") {
            const begun = store.begin(tenant, store.find(tenant, known[pick % (known.length + 1)] ?? ""), bytes(length), 0);
            if (begun !== undefined) open.push(begun);
          } else if (kind === "wait") await clock.advance(length);
          else if (own !== undefined) {
            if (kind === "keep" && store.keep(own, `${index}`, bytes(length)) === "") ids[own.tenant.name]!.push(`${index}`);
            if (kind === "flaw") store.keepFlaw(own, `${index}`, "why");
            store.end(own);
            open.splice(open.indexOf(own), 1);
          }
          assert.ok(store.bytes <= 60_000);
          for (const [name, all] of Object.entries(ids))
            for (const turn of all.flatMap((id) => store.find(name, id) ?? []))
              for (let at: Turn | undefined = turn; at !== undefined; at = at.parent) assert.ok(!at.isForgotten);
        }
        for (const own of open) store.end(own);
        await clock.advance(30_000);
        assert.deepEqual([store.turns, store.bytes, store.tenants, clock.pending], [0, 0, 0, 0]);
      }),
      { numRuns: 200 },
    );
  });
});
