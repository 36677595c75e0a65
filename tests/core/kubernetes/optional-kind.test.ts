import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { KubernetesError } from "../../../core/kubernetes/kubernetes-error.ts";
import { Watch } from "../../../core/kubernetes/watch.ts";
import { collectedLog } from "../../support/collected-log.ts";
import { FakeClock, settle } from "../../support/fake-clock.ts";
import { eventOf, listOf, scriptedKubernetes } from "../../support/scripted-kubernetes.ts";

const ABSENT = new KubernetesError(404, "NotFound", "the server could not find the requested resource");

function setUp() {
  const server = scriptedKubernetes();
  const clock = new FakeClock();
  const log = collectedLog();
  const told: string[][] = [];
  const watch = new Watch<string>({
    client: server.client,
    path: "/apis/llm-d.ai/v1alpha2/namespaces/llm/inferencemodelrewrites",
    isOptional: true,
    pick: ({ metadata: { name } }) => name,
    changed: (items) => told.push([...items.keys()]),
    clock,
    random: () => 1,
    log,
  });
  after(() => watch.stop());
  return { ...server, clock, log, told, watch };
}

describe("a watch of a kind that the server may not know", () => {
  it("has found nothing, without a complaint, and looks again", async () => {
    const { answers, watch, told, lists, clock, log } = setUp();
    answers.push(ABSENT, ABSENT, listOf("7", ["a"]));
    watch.start();
    await settle();
    assert.deepEqual([watch.isSynced, watch.staleSinceMs, told, lists.length], [true, undefined, [[]], 1]);
    await clock.advance(61_000);
    assert.deepEqual(told.at(-1), ["a"]);
    assert.deepEqual(log.lines, []);
  });

  it("keeps what it has while a server that has just begun says so, and gives it up when that stays", async () => {
    const { answers, watch, told, watches, clock } = setUp();
    answers.push(listOf("7", ["a"]), ABSENT, ABSENT, ABSENT);
    watch.start();
    await settle();
    watches[0]?.begin();
    watches[0]?.write(eventOf("ADDED", "b", "8"));
    watches[0]?.fail(ABSENT);
    await clock.advance(40_000);
    assert.deepEqual(told.at(-1), ["a", "b"]);
    await clock.advance(60_000);
    assert.deepEqual(told.at(-1), []);
  });
});
