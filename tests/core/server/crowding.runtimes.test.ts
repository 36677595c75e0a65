import assert from "node:assert/strict";
import { test } from "node:test";
import { Crowding } from "../../../core/server/crowding.ts";
import { collectedLog } from "../../support/collected-log.ts";

test("a crowd is logged once, counted once, and over after a period without another", () => {
  const log = collectedLog();
  const crowding = new Crowding(log);
  const steps: readonly (readonly [turnedAway: number, hasRoom: boolean, isNow: boolean, pauses: number])[] = [
    [0, true, false, 0],
    [3, false, true, 1],
    [2, true, true, 1],
    [0, false, true, 1],
    [0, true, false, 1],
    [0, true, false, 1],
    [1, true, true, 2],
    [0, true, false, 2],
  ];
  for (const [turnedAway, hasRoom, isNow, pauses] of steps) {
    for (let n = 0; n < turnedAway; n++) crowding.turnedAway("descriptors");
    crowding.period(hasRoom);
    assert.deepEqual([crowding.isNow, crowding.pauses], [isNow, pauses]);
  }
  assert.equal(log.lines.length, 2);
  assert.match(log.lines[0] ?? "", /out of file descriptors/);
});
