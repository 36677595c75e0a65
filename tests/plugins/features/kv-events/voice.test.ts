import assert from "node:assert/strict";
import { it } from "node:test";
import { seededRandom } from "../../../../core/contract/test-kit.ts";
import { Voice } from "../../../../plugins/features/kv-events/voice.ts";

it("a replica that is wrong once in ten promises keeps its voice, as good as always", () => {
  const random = seededRandom(1);
  let lost = 0;
  for (let replica = 0; replica < 200; replica++) {
    const voice = new Voice();
    for (let i = 0; i < 50; i++) voice.judged(random() < 0.05 ? "too-much" : undefined);
    lost += voice.losses;
  }
  assert.ok(lost <= 6, String(lost));
});

it("one that is wrong in half of them loses it soon", () => {
  const random = seededRandom(2);
  for (let replica = 0; replica < 50; replica++) {
    const voice = new Voice();
    let promises = 0;
    for (; !voice.isLost && promises < 100; promises++) voice.judged(random() < 0.5 ? "too-much" : undefined);
    assert.ok(voice.isLost && promises <= 40, String(promises));
  }
});

it("it comes back when promises have been right again, and counts why it was lost", () => {
  const voice = new Voice();
  for (let i = 0; i < 3; i++) assert.equal(voice.judged("too-little"), false);
  assert.equal(voice.judged("silent"), true);
  assert.equal(voice.isLost, true);
  let right = 0;
  while (voice.isLost) {
    voice.judged(undefined);
    right += 1;
  }
  assert.equal(right, 12);
  assert.deepEqual(voice.wrong, { "too-much": 0, "too-little": 3, silent: 1 });
  assert.equal(voice.losses, 1);
});

it("another process begins with a voice", () => {
  const voice = new Voice();
  for (let i = 0; i < 4; i++) voice.judged("silent");
  voice.forget();
  assert.equal(voice.isLost, false);
  assert.equal(voice.judged("silent"), false);
});
