import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { KubernetesError } from "../../../apps/kubernetes/kubernetes-error.ts";
import { settle } from "../../support/fake-clock.ts";
import { eventOf, listOf, objectOf } from "../../support/scripted-kubernetes.ts";
import { scriptedWatch } from "../../support/scripted-watch.ts";

const GONE = new KubernetesError(410, "Expired", "too old resource version");
const NOBODY = new KubernetesError(0, "", "connection refused", { isUnconnected: true });
const DOWN = new KubernetesError(0, "", "the connection ended early");

describe("a watch", () => {
  it("lists in pages, then watches from there", async () => {
    const { started, lists, told, watch } = scriptedWatch();
    const first = await started(listOf("7", ["a", "other-1"], "page 2"), listOf("7", ["b"]));
    assert.deepEqual(
      lists.map((query) => Object.fromEntries(query)),
      [
        { labelSelector: "app=vllm", limit: "100" },
        { labelSelector: "app=vllm", limit: "100", continue: "page 2" },
      ],
    );
    assert.deepEqual(told, [["a", "b"]]);
    assert.deepEqual(Object.fromEntries(first.query), {
      labelSelector: "app=vllm",
      watch: "1",
      allowWatchBookmarks: "true",
      resourceVersion: "7",
      timeoutSeconds: "480",
    });
    assert.equal(watch.isSynced, true);
    assert.equal(watch.staleSinceMs, undefined);
  });

  it("tells what comes, changes and goes, the first change at once and others together", async () => {
    const { started, told, clock } = scriptedWatch();
    const first = await started(listOf("7", ["a"]));
    await clock.advance(1000);
    first.begin();
    first.write(eventOf("ADDED", "b", "8"));
    assert.deepEqual(told.slice(1), [["a", "b"]]);
    first.write(eventOf("ADDED", "c", "9"), eventOf("MODIFIED", "b", "10"));
    first.write(eventOf("DELETED", "a", "11"));
    assert.equal(told.length, 2);
    await clock.advance(50);
    assert.deepEqual(told.slice(2), [["b", "c"]]);
  });

  it("goes on where it was, after bookmarks too, when the server ends it", async () => {
    const { started, clock, watches, lists, log, watch } = scriptedWatch();
    const first = await started(listOf("7", ["a"]));
    first.begin();
    first.write(eventOf("MODIFIED", "a", "8"), { type: "BOOKMARK", object: objectOf("", "31") });
    await clock.advance(20_000);
    first.end();
    await settle();
    assert.equal(watches.length, 2);
    assert.equal(watches[1]?.query.get("resourceVersion"), "31");
    assert.equal(lists.length, 1);
    assert.deepEqual(log.lines, []);
    assert.equal(watch.staleSinceMs, undefined);
  });

  it("reads events wherever their bytes are split", async () => {
    const { started, told, clock } = scriptedWatch();
    const first = await started(listOf("7", []));
    first.begin();
    const bytes = Buffer.from(
      `${JSON.stringify(eventOf("ADDED", "grün", "8"))}\n${JSON.stringify(eventOf("ADDED", "b", "9"))}\n`,
    );
    for (let at = 0; at < bytes.length; at++) first.write(bytes.subarray(at, at + 1));
    await clock.advance(100);
    assert.deepEqual(told.at(-1), ["grün", "b"]);
  });

  for (const [what, expire] of [
    ["a response", (first: { fail(error: Error): void }) => first.fail(GONE)],
    [
      "an event",
      (first: { write(line: object): void }) =>
        first.write({ type: "ERROR", object: { kind: "Status", code: 410, reason: "Expired", message: "too old" } }),
    ],
  ] as const) {
    it(`lists anew after 410 in ${what}, and what was known stays until then`, async () => {
      const { started, told, clock, answers, lists, watches } = scriptedWatch();
      const first = await started(listOf("7", ["a", "b"]));
      first.begin();
      answers.push(listOf("90", ["b", "c"]));
      expire(first);
      await settle();
      assert.equal(lists.length, 1, "not at once");
      await clock.advance(800);
      assert.deepEqual(told, [
        ["a", "b"],
        ["b", "c"],
      ]);
      assert.equal(watches[1]?.query.get("resourceVersion"), "90");
    });
  }

  it("begins the list anew when its pages have expired", async () => {
    const { started, told, clock } = scriptedWatch();
    await started(listOf("7", ["a"], "page 2"), GONE, listOf("8", ["a", "b"]));
    assert.deepEqual(told, []);
    await clock.advance(800);
    assert.deepEqual(told, [["a", "b"]]);
  });

  it("keeps what was known while the server is down, tells it once, and tries again at least every five seconds", async () => {
    const { started, told, clock, watches, log, watch } = scriptedWatch();
    const first = await started(listOf("7", ["a"]));
    first.begin();
    await clock.advance(60_000);
    first.write({ type: "BOOKMARK", object: objectOf("", "9") });
    await clock.advance(40_000);
    first.fail(DOWN);
    const waits: number[] = [];
    for (let tries = 2; tries < 30; tries++) {
      await settle();
      waits.push(clock.nextMs - clock.now());
      await clock.advance(clock.nextMs - clock.now());
      assert.equal(watches.length, tries);
      watches.at(-1)?.fail(DOWN);
    }
    assert.deepEqual(waits.slice(0, 4), [800, 1600, 2000, 2000]);
    assert.deepEqual(waits.slice(18, 24), [2000, 2000, 5000, 5000, 5000, 5000]);
    assert.equal(watch.staleSinceMs, 100_000, "since the watch broke, however long it was quiet before");
    assert.deepEqual(told, [["a"]]);
    assert.equal(log.lines.length, 1);
    assert.match(log.lines[0]!, /^warning: The Kubernetes API can't be watched; what it said last stays .*ended early/);
    await clock.advance(30_000);
    watches.at(-1)?.begin();
    assert.equal(watch.staleSinceMs, undefined);
    assert.match(log.lines[1]!, /^info: The Kubernetes API is watched again/);
    watches.at(-1)?.write(eventOf("DELETED", "a", "10"));
    assert.deepEqual(told.at(-1), []);
  });

  it("tries each second while nobody listens, and begins with short waits once somebody does", async () => {
    const { started, clock, watches } = scriptedWatch();
    const first = await started(listOf("7", ["a"]));
    first.begin();
    await clock.advance(60_000);
    first.fail(DOWN);
    const waitsAfter = async (error: Error, times: number) => {
      const waits: number[] = [];
      for (let time = 0; time < times; time++) {
        watches.at(-1)?.fail(error);
        await settle();
        waits.push(clock.nextMs - clock.now());
        await clock.advance(clock.nextMs - clock.now());
      }
      return waits;
    };
    assert.deepEqual(new Set((await waitsAfter(NOBODY, 40)).slice(1)), new Set([1000]));
    assert.deepEqual(await waitsAfter(DOWN, 3), [800, 1600, 2000]);
  });

  for (const [askedMs, waitMs] of [
    [1_000, 1_250],
    [0, 800],
    [5_000, 6_250],
    [86_400_000, 37_500],
  ] as const) {
    it(`waits up to ${waitMs} ms where the server asks for ${askedMs} ms`, async () => {
      const { started, clock } = scriptedWatch();
      const first = await started(listOf("7", ["a"]));
      first.fail(new KubernetesError(429, "TooManyRequests", "storage is (re)initializing", { retryAfterMs: askedMs }));
      await settle();
      assert.equal(clock.nextMs - clock.now(), waitMs);
    });
  }

  it("lists anew soon when a server that was away for long has forgotten, and less and less often when it goes on forgetting", async () => {
    const { started, told, clock, watches, answers } = scriptedWatch();
    await started(listOf("7", ["a"]));
    for (let tries = 0; tries < 8; tries++) {
      watches.at(-1)?.fail(DOWN);
      await clock.advance(30_000);
    }
    const waits: number[] = [];
    for (let turn = 0; turn < 3; turn++) {
      answers.push(listOf("90", ["b"]));
      watches.at(-1)?.begin();
      watches.at(-1)?.fail(GONE);
      await settle();
      waits.push(clock.nextMs - clock.now());
      await clock.advance(clock.nextMs - clock.now());
    }
    assert.deepEqual(waits, [800, 1600, 3200]);
    assert.deepEqual(told.at(-1), ["b"]);
  });

  it("spreads its attempts by chance", async () => {
    const { started, clock } = scriptedWatch({ random: () => 0 });
    const first = await started(listOf("7", []));
    assert.equal(first.query.get("timeoutSeconds"), "240");
    first.fail(DOWN);
    await settle();
    assert.equal(clock.nextMs - clock.now(), 400);
  });

  it("is no busy loop when each watch ends at once", async () => {
    const { started, clock, watches } = scriptedWatch();
    await started(listOf("7", ["a"]));
    for (let second = 0; second < 120; second++) {
      for (const each of watches) {
        if (each.isOver) continue;
        each.begin();
        each.end();
      }
      await clock.advance(1000);
    }
    assert.ok(watches.length < 12, `${watches.length} watches in two minutes`);
  });

  it("finds a watch that hangs, and goes on with another", async () => {
    const { started, clock, watches, watch, log } = scriptedWatch();
    const first = await started(listOf("7", ["a"]));
    first.begin();
    await clock.advance(149_000);
    assert.equal(first.isOver, false);
    await clock.advance(1000);
    assert.equal(first.isOver, true);
    assert.equal(watches.length, 2);
    assert.equal(watch.staleSinceMs, undefined);
    watches[1]?.fail(DOWN);
    await settle();
    assert.equal(watch.staleSinceMs, 0);
    assert.equal(log.lines.length, 1);
  });

  for (const [what, line] of [
    ["no JSON", "<html>\n"],
    ["no event", "[1]\n"],
    ["endless", "x".repeat(9 * 1024 * 1024)],
  ] as const) {
    it(`lists anew after a line that is ${what}`, async () => {
      const { started, told, clock, answers, log, lists } = scriptedWatch();
      const first = await started(listOf("7", ["a"]));
      first.begin();
      answers.push(listOf("9", ["b"]));
      first.write(line);
      await clock.advance(800);
      assert.equal(lists.length, 2);
      assert.deepEqual(told.at(-1), ["b"]);
      assert.match(log.lines[0]!, /^warning: .*A line of the watch/);
    });
  }

  it("leaves events and objects alone that mean nothing to it", async () => {
    const { started, told, clock } = scriptedWatch();
    const page = { metadata: { resourceVersion: "7" }, items: [null, { metadata: {} }, { metadata: { name: "a" } }] };
    const first = await started(page);
    first.begin();
    first.write({ type: "NEWS", object: {} }, { type: "ADDED", object: { metadata: null } }, "\n");
    await clock.advance(100);
    assert.deepEqual(told, [["a"]]);
    assert.equal(first.isOver, false);
  });

  it("tries again when the first answer is no list", async () => {
    const { started, told, clock, log, watch } = scriptedWatch();
    await started({ kind: "Status" }, listOf("7", ["a"]));
    assert.equal(watch.isSynced, false);
    assert.ok(Number.isNaN(watch.staleSinceMs));
    assert.match(log.lines[0]!, /something that is no list/);
    await clock.advance(800);
    assert.deepEqual(told, [["a"]]);
  });

  it("ends with stop, whatever it is doing", async () => {
    const { started, clock, watch, watches, told } = scriptedWatch();
    const first = await started(listOf("7", ["a"]));
    first.begin();
    first.write(eventOf("ADDED", "b", "8"));
    watch.stop();
    await settle();
    assert.equal(first.isOver, true);
    assert.equal(clock.pending, 0);
    await clock.advance(600_000);
    assert.equal(watches.length, 1);
    assert.deepEqual(told, [["a"]]);
  });
});
