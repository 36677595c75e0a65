import assert from "node:assert/strict";
import { test } from "node:test";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import { KeptState } from "../../../core/control/kept-state.ts";
import roundRobin from "../../../plugins/pickers/round-robin.ts";
import { makeEndpoint, makeEndpoints, makeLoad, makeRequest } from "../../support/endpoints.ts";
import { createPlugin, makeHost } from "../../support/plugins.ts";

const never = () => assert.fail("nothing to draw");

/** The slot that gets the turn for each list of candidates. */
function turns(lists: readonly (readonly Endpoint[])[]): readonly number[] {
  const picker = createPlugin(roundRobin);
  return lists.map((candidates) => {
    const [first] = picker.pick(candidates, new Array<number>(candidates.length).fill(0), never);
    picker.chosen?.(makeRequest(), first!, makeLoad(1));
    return first!.slot;
  });
}

test("each in turn", () => {
  assert.deepEqual(turns(new Array<readonly Endpoint[]>(7).fill(makeEndpoints(3))), [0, 1, 2, 0, 1, 2, 0]);
});

test("the order of the candidates does not matter once each had a turn", () => {
  const [a, b] = makeEndpoints(2);
  assert.deepEqual(
    turns([
      [a!, b!],
      [b!, a!],
      [b!, a!],
      [a!, b!],
      [b!, a!],
    ]),
    [0, 1, 0, 1, 0],
  );
});

test("every endpoint gets turns, even if every second request has only one candidate", () => {
  const all = makeEndpoints(4);
  const lists = Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? all : all.slice(0, 1)));
  const counts = [0, 0, 0, 0];
  for (const slot of turns(lists)) counts[slot]! += 1;
  for (const slot of [1, 2, 3]) assert.ok(counts[slot]! >= 6, counts.join());
});

test("a new endpoint gets one turn at once, then waits like the others", () => {
  const two = makeEndpoints(2);
  const three = [...two, makeEndpoint(2)];
  assert.deepEqual(turns([two, two, two, two, three, three, three, three]), [0, 1, 0, 1, 2, 0, 1, 2]);
});

test("spares follow in the order of their turns", () => {
  const picker = createPlugin(roundRobin);
  const pool = makeEndpoints(3);
  picker.chosen?.(makeRequest(), pool[0]!, makeLoad(1));
  assert.deepEqual(
    picker.pick(pool, [0, 0, 0], never).map(({ slot }) => slot),
    [1, 2, 0],
  );
});

test("a pick that is not chosen takes no turn", () => {
  const picker = createPlugin(roundRobin);
  const pool = makeEndpoints(3);
  assert.deepEqual(picker.pick(pool, [0, 0, 0], never), picker.pick(pool, [0, 0, 0], never));
});

test("a slot's new endpoint does not inherit its turn", () => {
  const picker = createPlugin(roundRobin);
  const pool = makeEndpoints(2);
  for (const endpoint of pool) picker.chosen?.(makeRequest(), endpoint, makeLoad(1));
  const [first] = picker.pick([pool[0]!, makeEndpoint(1, { name: "other" })], [0, 0], never);
  assert.equal(first?.name, "other");
});

test("turns outlive a reload", () => {
  const kept = new KeptState();
  const keep = <State>(version: number, make: () => State) => kept.get("round-robin", "mine", version, make);
  const pool = makeEndpoints(2);
  createPlugin(roundRobin, {}, makeHost({ keep })).chosen?.(makeRequest(), pool[0]!, makeLoad(1));
  const [next] = createPlugin(roundRobin, {}, makeHost({ keep })).pick(pool, [0, 0], never);
  assert.equal(next?.slot, 1);
});
