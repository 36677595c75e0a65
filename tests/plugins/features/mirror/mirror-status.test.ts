import assert from "node:assert/strict";
import { it } from "node:test";
import { makeEndpoint } from "../../../../core/contract/test-kit.ts";
import { mirrorsOf, mirrorWarnings } from "../../../../plugins/features/mirror/mirror-status.ts";
import { MirrorTally } from "../../../../plugins/features/mirror/mirror-tally.ts";
import { makeView } from "../../../support/view.ts";

const mirror = new MirrorTally("food/0", "v2", { percent: 10, maxInFlight: 2, timeoutMs: 1_000 });
const mirrors = [mirror, new MirrorTally("other/0", "v3", mirror.bounds)];

it("the mirrors of a rule, with mean times", () => {
  mirror.compare(120, 80);
  const [status, ...more] = mirrorsOf(mirrors, "food/0");
  assert.deepEqual(more, []);
  assert.deepEqual(status, {
    ...{ target: "v2", percent: 10, maxInFlight: 2, inFlight: 0, sent: 0, results: {}, skipped: {} },
    ...{ compared: 1, meanFirstByteMs: 120, originalMeanFirstByteMs: 80 },
  });
});

it("a warning where no ready replica lists the target, unless none is ready", () => {
  const warningsOver = (...pool: ReturnType<typeof makeEndpoint>[]) => mirrorWarnings(mirrors, makeView(pool));
  assert.deepEqual(warningsOver(makeEndpoint(0, { models: ["v2"] })), [
    'No ready replica lists "v3", to which other/0 is mirrored: no copies are sent. Load it, or remove the mirror.',
  ]);
  assert.deepEqual(warningsOver(makeEndpoint(0, { phase: "not-ready", models: ["v2"] })), []);
});
