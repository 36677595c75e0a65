import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Place, Rooms } from "../../../../../apps/lab/mock/transfer/rooms.ts";
import { FakeClock } from "../../../../support/fake-clock.ts";

function enter(rooms: Rooms, id: string, side: "prefill" | "decode", digest = "d"): Place {
  const place = rooms.enter(id, side, digest);
  assert.ok(typeof place !== "string", String(place));
  return place;
}

describe("rooms", () => {
  test("end when the blocks have moved, and leave no timer", async () => {
    const clock = new FakeClock();
    const rooms = new Rooms(clock, 1000, () => {});
    const prefill = enter(rooms, "1", "prefill");
    const decode = enter(rooms, "1", "decode");
    await Promise.all([prefill.met, decode.met]);
    prefill.setComputed();
    await decode.computed;
    decode.setMoved();
    await prefill.moved;
    prefill.leave("late");
    assert.deepEqual([rooms.count, clock.pending], [0, 0]);
    assert.match(String(rooms.enter("1", "prefill", "d")), /used already/);
  });

  test("are bounded, open and remembered", () => {
    const clock = new FakeClock();
    const rooms = new Rooms(clock, 1000, () => {});
    for (let id = 0; id < 4096; id++) enter(rooms, String(id), "prefill");
    assert.match(String(rooms.enter("more", "prefill", "d")), /4096 rooms are open/);
    // The other side of one that is open comes in.
    enter(rooms, "0", "decode").leave("gone");
    rooms.clear();
    assert.equal(rooms.count, 0);
    for (let id = 0; id < 5000; id++) enter(rooms, String(id), "prefill").leave("gone");
    enter(rooms, "0", "prefill");
  });

  test("fail on both sides when one leaves or all is lost", async () => {
    const rooms = new Rooms(new FakeClock(), 1000, () => {});
    const prefill = enter(rooms, "1", "prefill");
    const decode = enter(rooms, "1", "decode");
    decode.leave("The decode leg is gone.");
    await assert.rejects(prefill.moved, /decode leg is gone/);
    const other = enter(rooms, "2", "prefill");
    rooms.clear();
    await assert.rejects(other.met, /has ended/);
  });
});
