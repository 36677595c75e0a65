import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { GateReplica } from "../../../../../plugins/features/sessions/gate/gate-replica.ts";
import { ANYWHERE, PlaceGate } from "../../../../../plugins/features/sessions/gate/place-gate.ts";
import { PlacedSession, Turn } from "../../../../../plugins/features/sessions/gate/placed-session.ts";

/** Eight tokens a millisecond, as an H100 computes. */
const replica = (slot: number, cacheTokens = 500_000, backlogTokens = 0): GateReplica => ({
  slot,
  cacheTokens,
  backlogTokens,
  tokensPerMs: 8,
});
const ONE = [replica(0)];
const TOKENS = 200_000;

/** A gate with so many sessions at replica 0 that came and went by turns of 10 s; `turn` has them come again. */
function filled(sessions: number, tokens = TOKENS) {
  const gate = new PlaceGate();
  const all = Array.from({ length: sessions }, () => new PlacedSession());
  const turnOf = (session: PlacedSession, nowMs: number) => {
    const turn = new Turn(session, tokens);
    assert.notEqual(gate.place(turn, "next", ONE, nowMs), undefined);
    gate.ended(turn, 0, tokens, "stop", nowMs);
  };
  for (let round = 0; round < 20; round++) for (const session of all) turnOf(session, round * 10_000);
  return { gate, all, nowMs: 190_000 };
}

const askAt = (gate: PlaceGate, nowMs: number, replicas: readonly GateReplica[] = ONE, tokens = TOKENS) =>
  gate.place(new Turn(new PlacedSession(), tokens), "next", replicas, nowMs);

describe("the gate of sessions", () => {
  it("lets anybody go anywhere while caches have room", () => {
    const gate = new PlaceGate();
    const turn = new Turn(new PlacedSession(), TOKENS);
    assert.equal(gate.place(turn, "alone", [replica(0), replica(1)], 0), ANYWHERE);
    gate.ended(turn, 1, TOKENS, "stop", 1_000);
    assert.deepEqual([turn.session.slot, gate.heldAt(1), gate.placesAt(1), gate.heldAt(0)], [1, TOKENS, 1, 0]);
  });

  it("counts turns that went anywhere before it is known where", () => {
    const gate = new PlaceGate();
    const places = Array.from({ length: 4 }, () => gate.place(new Turn(new PlacedSession(), TOKENS), "alone", ONE, 0));
    assert.deepEqual(places, [ANYWHERE, ANYWHERE, undefined, undefined]);
  });

  it("has a new turn wait while those with places are likely to be back soon, and no longer", () => {
    const { gate, all, nowMs } = filled(2);
    assert.equal(askAt(gate, nowMs + 100), undefined);
    assert.equal(askAt(gate, nowMs + 60_000), 0);
    assert.equal(all.filter(({ slot }) => slot === 0).length, 1);
  });

  it("has a new turn wait behind those that came before it, unless it gains nothing by that", () => {
    const { gate, all, nowMs } = filled(1);
    const behind = (session: PlacedSession, tokens: number) => gate.place(new Turn(session, tokens), "behind", ONE, nowMs);
    assert.equal(behind(new PlacedSession(), 1_000), undefined);
    assert.equal(behind(all[0]!, TOKENS), 0);
    assert.equal(behind(new PlacedSession(), 600_000), ANYWHERE);
  });

  it("counts what was used of a cache since a session's last turn", () => {
    const { gate, all, nowMs } = filled(2);
    const [first, last] = all.map((session) => {
      const turn = new Turn(session, TOKENS);
      gate.place(turn, "next", ONE, nowMs);
      gate.ended(turn, 0, TOKENS, "stop", nowMs + (session === all[0] ? 1_000 : 2_000));
      return session;
    });
    const again = [last!, first!].map((session) => {
      const turn = new Turn(session, TOKENS);
      gate.place(turn, "next", ONE, nowMs + 3_000);
      return [turn.placedBefore, turn.usedTokens];
    });
    assert.deepEqual(again, [
      [0, TOKENS],
      [0, 2 * TOKENS],
    ]);
  });

  it("gives no place away while the replica has other prompts to compute", () => {
    const { gate, nowMs } = filled(2);
    assert.equal(askAt(gate, nowMs + 60_000, [replica(0, 500_000, 50_000)]), undefined);
  });

  it("gives no place away of a session that has a turn under way, however long it takes", () => {
    const { gate, all, nowMs } = filled(2);
    for (const session of all) assert.equal(gate.place(new Turn(session, TOKENS), "next", ONE, nowMs), 0);
    assert.equal(askAt(gate, nowMs + 3_600_000), undefined);
  });

  it("sends a session that has a place there, and counts a place once for all its turns", () => {
    const { gate, all, nowMs } = filled(2);
    const turn = new Turn(all[0]!, 240_000);
    assert.equal(gate.place(turn, "next", [replica(0), replica(1)], nowMs), 0);
    assert.equal(gate.heldAt(0), 440_000);
    gate.ended(turn, 0, 240_500, "stop", nowMs + 1_000);
    assert.deepEqual([gate.heldAt(0), gate.placesAt(0)], [440_500, 2]);
  });

  it("prefers room, and of two replicas with room the one with less to compute", () => {
    const { gate, nowMs } = filled(2);
    const others = [replica(0), replica(1, 500_000, 90_000), replica(2, 500_000, 80_000)];
    assert.equal(askAt(gate, nowMs, others), 2);
  });

  it("takes caches as large as they are", () => {
    const { gate, nowMs } = filled(2);
    assert.equal(askAt(gate, nowMs, [replica(0), replica(1, 150_000), replica(2, 220_000)]), 2);
    assert.equal(askAt(gate, nowMs, [replica(0), replica(1, 150_000), replica(2, 220_000)]), undefined);
  });

  const free: readonly [name: string, replicas: readonly GateReplica[], tokens: number, place: number][] = [
    ["a prompt that no cache can hold", ONE, 600_000, ANYWHERE],
    ["a turn where no cache says how much it holds", [replica(7, Number.NaN)], TOKENS, 7],
    ["a turn where there is no replica", [], TOKENS, ANYWHERE],
  ];
  for (const [name, replicas, tokens, place] of free) {
    it(`lets ${name} go on`, () => assert.equal(askAt(filled(2).gate, 190_100, replicas, tokens), place));
  }

  it("moves a place to where the turn was served in the end", () => {
    const { gate, all, nowMs } = filled(1);
    const turn = new Turn(all[0]!, TOKENS);
    gate.place(turn, "next", ONE, nowMs);
    gate.ended(turn, 3, TOKENS, "stop", nowMs);
    assert.deepEqual([gate.heldAt(0), gate.heldAt(3), all[0]!.slot], [0, TOKENS, 3]);
  });

  it("keeps nothing of a replica that is gone, nor of a session that is forgotten, also with turns under way", () => {
    const { gate, all, nowMs } = filled(2);
    const turn = new Turn(all[0]!, TOKENS);
    gate.place(turn, "next", ONE, nowMs);
    gate.removed(0);
    assert.deepEqual([gate.heldAt(0), all[0]!.slot, all[1]!.slot], [0, -1, -1]);
    gate.ended(turn, -1, TOKENS, "stop", nowMs);
    assert.deepEqual([gate.heldAt(0), gate.placesAt(0)], [0, 0]);
    const other = filled(2);
    other.gate.forgotten(other.all[0]!);
    other.gate.forgotten(other.all[0]!);
    assert.deepEqual([other.gate.heldAt(0), other.gate.placesAt(0)], [TOKENS, 1]);
  });

  it("counts a turn that ends twice, or that waited to its end, no second time", () => {
    const { gate, all, nowMs } = filled(1);
    const turn = new Turn(all[0]!, TOKENS);
    gate.place(turn, "next", ONE, nowMs);
    for (let time = 0; time < 3; time++) gate.ended(turn, 0, TOKENS, "stop", nowMs);
    gate.ended(new Turn(all[0]!, TOKENS), 0, 1, "stop", nowMs);
    assert.deepEqual([all[0]!.underWay, gate.heldAt(0)], [0, TOKENS]);
  });

  it("keeps the replica that will soonest have room for who has waited longest", () => {
    const { gate, all, nowMs } = filled(2);
    for (const session of all) gate.place(new Turn(session, TOKENS), "next", ONE, nowMs);
    const turn = new Turn(new PlacedSession(), TOKENS);
    assert.equal(gate.nearest(turn, [replica(0), replica(1, 500_000, 50_000)]), 1);
    assert.equal(gate.nearest(turn, [replica(0), replica(1, 100_000)]), 0);
    assert.equal(gate.nearest(turn, []), -1);
  });
});
