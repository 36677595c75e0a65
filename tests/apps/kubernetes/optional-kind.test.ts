import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { KubernetesError } from "../../../apps/kubernetes/kubernetes-error.ts";
import { eventOf, listOf } from "../../support/scripted-kubernetes.ts";
import { scriptedWatch } from "../../support/scripted-watch.ts";

const ABSENT = new KubernetesError(404, "NotFound", "the server could not find the requested resource");

const NOBODY = new KubernetesError(0, "", "connection refused", { isUnconnected: true });

const setUp = () => scriptedWatch({ path: "/apis/llm-d.ai/v1alpha2/namespaces/llm/inferencemodelrewrites", isOptional: true });

describe("a watch of a kind that the server may not know", () => {
  it("has found nothing, without a complaint, and looks again", async () => {
    const { started, watch, told, lists, clock, log } = setUp();
    await started(ABSENT, ABSENT, listOf("7", ["a"]));
    assert.deepEqual([watch.isSynced, watch.staleSinceMs, told, lists.length], [true, undefined, [[]], 1]);
    await clock.advance(61_000);
    assert.deepEqual(told.at(-1), ["a"]);
    assert.deepEqual(log.lines, []);
  });

  it("is as old as the first question without an answer, not as the last one with an answer", async () => {
    const { started, watch, clock, lists } = setUp();
    await started(...Array.from({ length: 40 }, () => ABSENT), NOBODY, NOBODY, NOBODY);
    while (lists.length < 41) await clock.advance(clock.nextMs - clock.now());
    const askedAtMs = clock.now();
    assert.equal(watch.staleSinceMs, askedAtMs);
    await clock.advance(2_000);
    assert.ok(lists.length > 41, "it was asked again");
    assert.equal(watch.staleSinceMs, askedAtMs);
  });

  it("keeps what it has while a server that has just begun says so, and gives it up when that stays", async () => {
    const { started, told, clock } = setUp();
    const first = await started(listOf("7", ["a"]), ...Array.from({ length: 30 }, () => ABSENT));
    first.begin();
    first.write(eventOf("ADDED", "b", "8"));
    first.fail(ABSENT);
    await clock.advance(40_000);
    assert.deepEqual(told.at(-1), ["a", "b"]);
    await clock.advance(70_000);
    assert.deepEqual(told.at(-1), []);
  });

  it("is listed within two seconds once a server that has just begun knows it, also where nothing of it was known", async () => {
    const { started, told, clock, answers, lists } = setUp();
    await started(ABSENT, ABSENT, ABSENT, ABSENT, ABSENT);
    await clock.advance(7_000);
    assert.ok(lists.length >= 4, `${lists.length}`);
    answers.length = 0;
    answers.push(listOf("7", ["a"]));
    await clock.advance(2_000);
    assert.deepEqual(told.at(-1), ["a"]);
  });
});
