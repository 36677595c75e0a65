import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { KubernetesError } from "../../../../apps/kubernetes/kubernetes-error.ts";
import type { Link } from "../../../../core/pool/carrier.ts";
import { type ClusterWay, kubernetesStore } from "../../../../plugins/features/shared/kubernetes-link.ts";
import { collectedLog } from "../../../support/collected-log.ts";
import { FakeClock } from "../../../support/fake-clock.ts";
import { ScriptedConfigMaps } from "../../../support/scripted-config-maps.ts";

const SECOND_MS = 1_000;
const CHANNEL = "signalbox:1:llama";
const LABELS = { "signalbox.dev/shared": "1.llama" };
const FORBIDDEN = new KubernetesError(403, "Forbidden", "The Kubernetes API refuses it. Its role has to allow that.");
const AWAY = new KubernetesError(0, "", "The Kubernetes API gives no response: refused.", {
  isSilence: true,
  isUnconnected: true,
});

/** Links by one API server, on a clock that the test moves. */
function setUp(wayTo?: (way: ClusterWay) => ClusterWay) {
  const api = new ScriptedConfigMaps();
  const clock = new FakeClock();
  const log = collectedLog();
  const way: ClusterWay = { client: api, namespace: "llm" };
  const place = { credentials: {}, namespace: "llm", everyMs: SECOND_MS };
  const open = (channel = CHANNEL) => {
    const heard: string[] = [];
    const told: string[] = [];
    const lost = { count: 0 };
    let last = "";
    const tell = (what: string) => {
      if (what !== last) told.push(what);
      last = what;
    };
    const store = kubernetesStore(place, () => wayTo?.(way) ?? way);
    const events = {
      received: (message: string) => void heard.push(message),
      up: () => tell("up"),
      down: tell,
      lost: () => void lost.count++,
    };
    const link: Link = store.open(channel, events, { clock, random: () => 1, log });
    return { link, heard, told, lost };
  };
  const of = (...methods: string[]) => api.asked.filter(({ method }) => methods.includes(method));
  return { api, clock, log, open, of };
}

const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => String(from + index));

describe("links by ConfigMaps", () => {
  it("carry each message to all of the channel once and in order, by at most one write in the time that is set", async () => {
    const { api, clock, open, of } = setUp();
    // Of a name that is too long for a label, and ends as none may.
    const long = `${"x".repeat(120)}-`;
    const [one, two, stranger] = [open(), open(), open(`signalbox:1:${long}`)];
    await clock.advance(SECOND_MS);
    assert.deepEqual([one.told, two.told], [["up"], ["up"]]);
    assert.deepEqual(stranger.told, ["up"]);
    assert.equal(api.objects.size, 3);
    for (const { metadata } of api.objects.values())
      assert.match(metadata.labels["signalbox.dev/shared"] ?? "", /^[a-z0-9][\w.-]{0,61}[a-z0-9]$/);
    stranger.link.publish("strange");
    for (const n of numbers(0, 100)) {
      one.link.publish(n);
      await clock.advance(100);
    }
    await clock.advance(SECOND_MS);
    assert.deepEqual([one.heard, two.heard, stranger.heard], [numbers(0, 100), numbers(0, 100), ["strange"]]);
    assert.equal(of("PATCH").length, 12);
    // Behind a pause, the first goes at once.
    await clock.advance(SECOND_MS);
    assert.equal(one.link.waitMs, 0);
    one.link.publish("first");
    await clock.advance(1);
    assert.equal(two.heard.at(-1), "first");
    assert.equal(one.link.waitMs, SECOND_MS - 1);
    for (const { link } of [one, two, stranger]) link.close();
  });

  it("read nothing twice when all is listed anew, and nothing that was said before they came", async () => {
    const { api, clock, open } = setUp();
    const one = open();
    await clock.advance(SECOND_MS);
    one.link.publish("old");
    await clock.advance(SECOND_MS);
    const two = open();
    await clock.advance(SECOND_MS);
    one.link.publish("a");
    await clock.advance(SECOND_MS);
    api.endWatches(new KubernetesError(410, "Expired", "too old"));
    one.link.publish("b");
    await clock.advance(10 * SECOND_MS);
    one.link.publish("c");
    await clock.advance(SECOND_MS);
    assert.deepEqual(
      [two.heard, one.heard],
      [
        ["a", "b", "c"],
        ["old", "a", "b", "c"],
      ],
    );
    assert.deepEqual(two.told, ["up"]);
    for (const { link } of [one, two]) link.close();
  });

  it("lose what is more than a write may have, or more than a cluster should keep, and count it", async () => {
    const { api, clock, open } = setUp();
    const one = open();
    await clock.advance(10 * SECOND_MS);
    for (const n of numbers(0, 100)) one.link.publish(n);
    assert.equal(one.lost.count, 36);
    await clock.advance(10 * SECOND_MS);
    assert.equal(one.heard.length, 64);
    const large = "é".repeat(150_000);
    for (let n = 0; n < 60; n++) {
      one.link.publish(`${n}${large}`);
      await clock.advance(SECOND_MS);
    }
    const heard = one.heard.slice(64);
    assert.equal(heard.length + one.lost.count, 60 + 36);
    // 1 MB at once, and 200 kB in each second.
    assert.ok(heard.length >= 40 && heard.length <= 44, String(heard.length));
    const [object] = api.objects.values();
    assert.ok(Buffer.byteLength(object!.data["messages"]!) < 2 ** 20);
    one.link.close();
  });

  it("say what their role lacks, or that the server is away, and try on", async () => {
    const { api, clock, open, of } = setUp();
    api.failures.set("POST", FORBIDDEN);
    const one = open();
    await clock.advance(30 * SECOND_MS);
    assert.deepEqual(one.told, [FORBIDDEN.message]);
    assert.ok(of("POST").length < 20, "ever more seldom");
    api.failures.clear();
    await clock.advance(10 * SECOND_MS);
    assert.deepEqual(one.told.splice(0), [FORBIDDEN.message, "up"]);
    api.failures.set("PATCH", "silence");
    one.link.publish("lost");
    await clock.advance(3 * SECOND_MS);
    assert.match(
      one.told.splice(0).join(),
      /^The Kubernetes API has not answered PATCH .*\/configmaps\/signalbox-shared-\S+ in 2 s\.$/,
    );
    assert.equal(one.lost.count, 1);
    api.failures.clear();
    await clock.advance(10 * SECOND_MS);
    api.away = AWAY;
    await clock.advance(SECOND_MS);
    assert.deepEqual(one.told.splice(0), ["up", AWAY.message]);
    api.away = undefined;
    await clock.advance(10 * SECOND_MS);
    one.link.publish("heard");
    await clock.advance(SECOND_MS);
    assert.deepEqual([one.told, one.heard], [["up"], ["heard"]]);
    one.link.close();
  });

  it("that find no way to a cluster say why, and look for it again", async () => {
    let isThere = false;
    const { clock, open } = setUp((way) => {
      if (!isThere) throw new Error("There is no way to the Kubernetes API.");
      return way;
    });
    const one = open();
    await clock.advance(SECOND_MS);
    assert.deepEqual(one.told, ["There is no way to the Kubernetes API."]);
    isThere = true;
    await clock.advance(10 * SECOND_MS);
    assert.equal(one.told.at(-1), "up");
    one.link.close();
    await clock.advance(0);
    assert.equal(clock.pending, 0);
  });

  it("make their ConfigMap again when somebody deletes it, and patch one that is there already", async () => {
    const { api, clock, open } = setUp();
    const one = open();
    await clock.advance(SECOND_MS);
    const [name] = api.objects.keys();
    api.remove(name!);
    one.link.publish("a");
    await clock.advance(SECOND_MS);
    assert.deepEqual([[...api.objects.keys()], one.heard, one.told], [[name], ["a"], ["up"]]);
    api.failures.set("PATCH", new KubernetesError(404, "NotFound", "gone"));
    one.link.publish("b");
    await clock.advance(100);
    api.failures.clear();
    await clock.advance(10 * SECOND_MS);
    one.link.publish("c");
    await clock.advance(SECOND_MS);
    assert.equal(one.heard.at(-1), "c");
    one.link.close();
  });

  it("say their last words when they are closed, take their ConfigMap with them, and leave no timer", async () => {
    const { api, clock, open } = setUp();
    const [one, two] = [open(), open()];
    await clock.advance(SECOND_MS);
    one.link.publish("a");
    await clock.advance(10);
    one.link.publish("gone");
    one.link.close();
    await clock.advance(10);
    assert.deepEqual(two.heard, ["a", "gone"]);
    assert.equal(api.objects.size, 1);
    two.link.close();
    await clock.advance(10);
    assert.equal(api.objects.size, 0);
    api.failures.set("DELETE", "silence");
    const three = open();
    await clock.advance(SECOND_MS);
    three.link.close();
    await clock.advance(5 * SECOND_MS);
    assert.equal(clock.pending, 0);
  });

  it("delete the ConfigMaps of routers that have gone, and of nobody else", async () => {
    const { api, clock, log, open, of } = setUp();
    const one = open();
    const gone = "signalbox-shared-01234567-89ab-cdef-0123-456789abcdef";
    const busy = "signalbox-shared-11234567-89ab-cdef-0123-456789abcdef";
    const strange: readonly [name: string, data: Record<string, string>][] = [
      ["my-settings", { sequence: "1", messages: "mine" }],
      ["signalbox-shared-21234567-89ab-cdef-0123-456789abcdef", { sequence: "many", messages: "" }],
      ["signalbox-shared-31234567-89ab-cdef-0123-456789abcdef", {}],
    ];
    api.put(gone, { sequence: "7", messages: "" }, LABELS);
    for (const [name, data] of strange) api.put(name, data, LABELS);
    for (let second = 0; second < 28; second++) {
      api.put(busy, { sequence: String(second), messages: "" }, LABELS);
      one.link.publish("here");
      await clock.advance(SECOND_MS);
    }
    assert.equal(of("DELETE").length, 0);
    // While nobody could write, nobody has gone.
    api.away = AWAY;
    await clock.advance(60 * SECOND_MS);
    api.away = undefined;
    await clock.advance(20 * SECOND_MS);
    assert.equal(of("DELETE").length, 0);
    api.put(busy, { sequence: "100", messages: "\n".repeat(1_000_000) }, LABELS);
    await clock.advance(15 * SECOND_MS);
    assert.deepEqual(
      of("DELETE").map(({ path }) => path),
      [`/api/v1/namespaces/llm/configmaps/${gone}`],
    );
    assert.ok(!api.objects.has(gone) && api.objects.has(busy));
    assert.ok(strange.every(([name]) => api.objects.has(name)));
    assert.equal(one.heard.filter((message) => message === "").length, 64, "no more of one write are looked at");
    const lines = log.lines.filter((line) => line.startsWith("warning: A ConfigMap has the label"));
    assert.ok(lines.length >= 1 && lines.length <= 4, JSON.stringify(log.lines));
    one.link.close();
  });
});
