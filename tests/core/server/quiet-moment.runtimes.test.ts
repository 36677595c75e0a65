import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { quietMoment } from "../../../core/server/quiet-moment.ts";
import { FakeClock } from "../../support/fake-clock.ts";

/** How often the loop turned until the moment came, where `turns` says what each turn brings. */
async function turnsUntilQuiet(turns: (turn: number) => { readonly ms?: number; readonly accepted?: number }): Promise<number> {
  let looked = 0;
  let nowMs = 0;
  let accepted = 0;
  const clock = Object.assign(new FakeClock(), { now: () => nowMs });
  await quietMoment(clock, () => {
    // Looked at before and after each turn.
    looked += 1;
    if (looked % 2 === 0) {
      const { ms = 0, accepted: more = 0 } = turns(looked / 2);
      nowMs += ms;
      accepted += more;
    }
    return accepted;
  });
  return looked / 2;
}

describe("a quiet moment", () => {
  it("comes after three quiet turns", async () => assert.equal(await turnsUntilQuiet(() => ({})), 3));

  it("waits for three quiet turns in a row", async () => {
    assert.equal(await turnsUntilQuiet((turn) => (turn === 2 || turn === 4 ? { accepted: 1 } : {})), 7);
    assert.equal(await turnsUntilQuiet((turn) => (turn === 3 ? { ms: 5 } : {})), 6);
  });

  it("comes after 50 ms in a turn that took nobody, where no turn is quiet", async () => {
    assert.equal(await turnsUntilQuiet(() => ({ ms: 5 })), 10);
    assert.equal(await turnsUntilQuiet((turn) => ({ ms: 5, accepted: turn < 40 ? 1 : 0 })), 40);
  });

  it("comes after two seconds at the latest", async () => {
    assert.equal(await turnsUntilQuiet(() => ({ ms: 5, accepted: 1 })), 400);
  });
});
