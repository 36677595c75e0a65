import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Endpoint, EndpointSpec } from "../../../core/contract/endpoint.ts";
import { type Log, silentLog } from "../../../core/contract/log.ts";
import { EndpointTable } from "../../../core/control/endpoint-table.ts";
import { NEW_REPLICA, type ReplicaHealth } from "../../../core/control/readiness/replica-health.ts";
import { NOTHING } from "../../../core/judge.ts";
import { nextTurn } from "../../../core/runtime/next-turn.ts";
import { LoadTable, MAX_SLOTS } from "../../../core/state/load.ts";

const spec = (name: string, url = `http://${name}:8000`, labels: Readonly<Record<string, string>> = {}): EndpointSpec => ({
  name,
  url,
  labels,
});

const READY: ReplicaHealth = { ...NEW_REPLICA, phase: "ready", models: ["base"], generation: 0 };

function setup() {
  const load = new LoadTable();
  const seen: (readonly Endpoint[])[] = [];
  const replaced: number[] = [];
  const errors: string[] = [];
  const log: Log = { ...silentLog, error: (_, fields) => void errors.push(`${fields?.["endpoint"]}: ${fields?.["cause"]}`) };
  const table = new EndpointTable({
    load,
    log,
    changed: (endpoints) => void seen.push(endpoints),
    standingOf: () => ({ ...NOTHING, intent: "serve", isInGrace: false }),
    replaced: (slot) => void replaced.push(slot),
  });
  const names = () => table.endpoints.map((endpoint) => endpoint.name);
  return { load, seen, replaced, errors, table, names };
}

describe("the list from discovery", () => {
  test("becomes endpoints in its order, starting and without models", () => {
    const { table, seen } = setup();
    table.discovered([spec("b"), spec("a", "http://gpu1:8000/v1", { gpu: "h100" })]);
    assert.equal(seen.length, 1);
    const [b, a] = table.endpoints;
    assert.deepEqual([b?.name, b?.slot, b?.phase, b?.models.size], ["b", 0, "starting", 0]);
    assert.deepEqual([a?.name, a?.slot, a?.url.href, a?.labels["gpu"]], ["a", 1, "http://gpu1:8000", "h100"]);
  });

  test("says of a replica's state what decides with its probes, at once and as it changes", () => {
    const { table, seen } = setup();
    const list = (reported: EndpointSpec["reported"]) => table.discovered([{ ...spec("a"), reported }]);
    list("not-ready");
    table.probed("a", READY);
    assert.deepEqual([table.endpoints[0]?.phase, table.endpoints[0]?.isAvailable], ["not-ready", false]);
    list("ready");
    assert.deepEqual([table.endpoints[0]?.phase, table.endpoints[0]?.isAvailable], ["ready", true]);
    const count = seen.length;
    list("ready");
    assert.equal(seen.length, count);
    list("leaving");
    assert.deepEqual([table.endpoints[0]?.phase, table.endpoints[0]?.isAvailable], ["draining", false]);
    table.probed("a", { ...READY, phase: "not-ready" });
    assert.equal(table.endpoints[0]?.phase, "draining");
  });

  test("the same list again reports no change and keeps every object", () => {
    const { table, seen } = setup();
    table.discovered([spec("a", "http://a:8000", { gpu: "h100" }), spec("b")]);
    const before = table.endpoints;
    table.discovered([spec("a", "http://a:8000", { gpu: "h100" }), spec("b")]);
    assert.equal(seen.length, 1);
    assert.equal(table.endpoints, before);
  });

  const changes: readonly (readonly [string, readonly EndpointSpec[]])[] = [
    ["one more", [spec("a"), spec("b"), spec("c")]],
    ["one less", [spec("a")]],
    ["none", []],
    ["another order", [spec("b"), spec("a")]],
    ["another address", [spec("a"), spec("b", "http://b:9000")]],
    ["other labels", [spec("a"), spec("b", "http://b:8000", { gpu: "l4" })]],
  ];
  for (const [name, list] of changes) {
    test(`${name}: reported once, and the old array stays the same`, () => {
      const { table, seen, names } = setup();
      table.discovered([spec("a"), spec("b")]);
      table.discovered(list);
      assert.equal(seen.length, 2);
      assert.deepEqual(
        seen[0]?.map((endpoint) => endpoint.name),
        ["a", "b"],
      );
      assert.deepEqual(
        names(),
        list.map((each) => each.name),
      );
    });
  }

  test("an entry that can't be used is logged and left out, the others are kept", () => {
    const { table, names, errors } = setup();
    table.discovered([spec("a"), spec("bad", "http://user:secret@bad:8000"), spec("a", "http://twin:8000"), spec("b")]);
    assert.deepEqual(names(), ["a", "b"]);
    assert.equal(table.endpoints[0]?.url.hostname, "a");
    assert.equal(errors.length, 2);
    assert.match(errors[0] ?? "", /^bad: .*leave out/);
    assert.match(errors[1] ?? "", /^a: Two endpoints have this name/);
    assert.equal(errors.join().includes("secret"), false);
  });

  test("an entry that is left out again is not logged again, until its fault is another one", () => {
    const { table, errors } = setup();
    for (let time = 0; time < 3; time++) table.discovered([spec("a"), spec("bad", "ftp://a")]);
    assert.equal(errors.length, 1);
    table.discovered([spec("a"), spec("bad", "http://user:secret@a")]);
    assert.equal(errors.length, 2);
    table.discovered([spec("a")]);
    table.discovered([spec("a"), spec("bad", "ftp://a")]);
    assert.equal(errors.length, 3);
  });

  test("endpoints beyond the last slot are left out", () => {
    const { table, errors } = setup();
    table.discovered(Array.from({ length: MAX_SLOTS + 1 }, (_, i) => spec(`r${i}`)));
    assert.equal(table.endpoints.length, MAX_SLOTS);
    assert.match(errors.join(), new RegExp(`^r${MAX_SLOTS}: More than`));
  });

  test("names of built-in object members work like other names", () => {
    const { table, names } = setup();
    table.discovered([spec("__proto__", "http://a:1"), spec("constructor", "http://a:2")]);
    table.probed("__proto__", READY);
    assert.deepEqual(names(), ["__proto__", "constructor"]);
    assert.equal(table.endpoints[0]?.phase, "ready");
  });
});

describe("slots", () => {
  test("stay the same while the endpoint is listed", () => {
    const { table } = setup();
    table.discovered([spec("a"), spec("b"), spec("c")]);
    table.discovered([spec("c"), spec("d")]);
    const slots = new Map(table.endpoints.map((endpoint) => [endpoint.name, endpoint.slot]));
    assert.equal(slots.get("c"), 2);
    assert.equal(slots.get("d"), 0);
  });

  test("are not reused while a request is under way", () => {
    const { table, load } = setup();
    table.discovered([spec("a")]);
    load.begin(0, { tokens: 100, hasFirstByte: true }, 0);
    table.discovered([spec("b")]);
    assert.equal(table.endpoints[0]?.slot, 1);
    load.end(0);
    table.discovered([spec("b"), spec("c")]);
    assert.equal(table.endpoints[1]?.slot, 0);
  });

  test("an endpoint whose new address can't be used frees its slot", () => {
    const { table } = setup();
    table.discovered([spec("a"), spec("b")]);
    table.discovered([spec("a", "nonsense"), spec("b")]);
    table.discovered([spec("b"), spec("c")]);
    assert.deepEqual(
      table.endpoints.map((endpoint) => endpoint.slot),
      [1, 0],
    );
  });
});

describe("health from the prober", () => {
  test("a new phase or new models make a new endpoint object; the others stay the same objects", () => {
    const { table, seen } = setup();
    table.discovered([spec("a"), spec("b")]);
    const [a, b] = table.endpoints;
    table.probed("a", READY);
    assert.equal(seen.length, 2);
    assert.equal(table.endpoints[0]?.phase, "ready");
    assert.deepEqual([...(table.endpoints[0]?.models ?? [])], ["base"]);
    assert.equal(a?.phase, "starting");
    assert.equal(table.endpoints[1], b);
  });

  test("a change that the endpoint does not show is not reported", () => {
    const { table, seen } = setup();
    table.discovered([spec("a")]);
    table.probed("a", READY);
    table.probed("a", { ...READY });
    assert.equal(seen.length, 2);
  });

  test("another process under the same name makes a new endpoint object", () => {
    const { table, seen } = setup();
    table.discovered([spec("a")]);
    table.probed("a", READY);
    const [before] = table.endpoints;
    table.probed("a", { ...READY, generation: 1 });
    assert.equal(seen.length, 3);
    assert.equal(table.endpoints[0]?.slot, before?.slot);
    assert.notEqual(table.endpoints[0]?.generation, before?.generation);
  });

  test("an endpoint is frozen", () => {
    const { table } = setup();
    table.discovered([spec("a", "http://a:8000", { gpu: "h100" })]);
    table.probed("a", READY);
    const endpoint = table.endpoints[0]!;
    for (const part of [endpoint, endpoint.labels, endpoint.url, endpoint.models]) assert.ok(Object.isFrozen(part));
    assert.equal("clear" in endpoint.models || "add" in endpoint.models, false);
  });

  test("models are replaced as a whole", () => {
    const { table } = setup();
    table.discovered([spec("a")]);
    table.probed("a", READY);
    table.probed("a", { ...READY, models: ["base", "a1"] });
    assert.deepEqual([...(table.endpoints[0]?.models ?? [])], ["base", "a1"]);
  });

  test("an endpoint that is not listed is ignored", () => {
    const { table, seen } = setup();
    table.probed("a", READY);
    assert.equal(seen.length, 0);
  });

  test("labels may change in service; another address starts again without health", () => {
    const { table } = setup();
    table.discovered([spec("a")]);
    table.probed("a", READY);
    table.discovered([spec("a", "http://a:8000", { gpu: "l4" })]);
    assert.equal(table.endpoints[0]?.phase, "ready");
    table.discovered([spec("a", "http://a:9000", { gpu: "l4" })]);
    assert.equal(table.endpoints[0]?.phase, "starting");
    assert.equal(table.endpoints[0]?.slot, 0);
  });
});

describe("another process in a slot", () => {
  test("is reported for a new endpoint, another address and another generation, not for a phase", () => {
    const { table, replaced } = setup();
    table.discovered([spec("a"), spec("b")]);
    assert.deepEqual(replaced.splice(0), [0, 1]);
    table.probed("b", READY);
    table.probed("b", { ...READY, phase: "not-ready" });
    assert.deepEqual(replaced, []);
    table.probed("b", { ...READY, generation: 1 });
    table.discovered([spec("a", "http://a:9000"), spec("b")]);
    assert.deepEqual(replaced, [1, 0]);
  });
});

test("many changes of a large pool in one turn are told twice: the first at once, the others together", async () => {
  const { table, seen } = setup();
  const names = Array.from({ length: 100 }, (_, index) => `e${index}`);
  table.discovered(names.map((name) => spec(name)));
  for (const name of names) table.probed(name, READY);
  assert.equal(seen.length, 2);
  await new Promise<void>((resolve) => nextTurn(() => nextTurn(resolve)));
  assert.equal(seen.length, 3);
  assert.ok(table.endpoints.every(({ phase }) => phase === "ready"));
});
