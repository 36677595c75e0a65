import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { KubernetesError } from "../../../apps/kubernetes/kubernetes-error.ts";
import { settle } from "../../support/fake-clock.ts";
import { eventOf, listOf } from "../../support/scripted-kubernetes.ts";
import { scriptedWatch } from "../../support/scripted-watch.ts";

const GONE = new KubernetesError(410, "Expired", "too old resource version");

/** A long list takes many turns. */
async function settleAll(isDone: () => boolean): Promise<void> {
  for (let turn = 0; turn < 1_000 && !isDone(); turn++) await settle();
}

describe("a watch of a server that does not come to an end", () => {
  it("gives up a list without end, keeps what was known, and tries again ever later", async () => {
    const { started, answers, lists, told, clock, log, watch } = scriptedWatch();
    const first = await started(listOf("7", ["a"]));
    first.begin();
    answers.push(...Array.from({ length: 1_200 }, (_, page) => listOf("8", [`of-${page % 7}`], `page ${page}`)));
    first.fail(GONE);
    await clock.advance(1_000);
    await settleAll(() => log.lines.length > 0);
    assert.match(log.lines[0]!, /more than 50000 objects: narrow it by a selector/);
    assert.equal(lists.length, 1 + 500);
    assert.deepEqual([told, watch.isSynced], [[["a"]], true]);
    await clock.advance(10_000);
    await settleAll(() => lists.length >= 1_001);
    assert.deepEqual(told, [["a"]]);
  });

  it("takes no more objects from a watch than from a list", async () => {
    const { started, clock, log, watch } = scriptedWatch();
    const first = await started(listOf("7", ["a"]));
    first.begin();
    for (let index = 1; index <= 50_000; index++) first.write(eventOf("ADDED", `of-${index}`, "8"));
    await clock.advance(100);
    assert.equal(first.isOver, true);
    assert.match(log.lines[0]!, /more than 50000 objects/);
    assert.equal(watch.isSynced, true);
  });
});
