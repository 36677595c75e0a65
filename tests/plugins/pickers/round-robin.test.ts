import assert from "node:assert/strict";
import { test } from "node:test";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import roundRobin from "../../../plugins/pickers/round-robin.ts";
import { makeEndpoint, makeEndpoints } from "../../support/endpoints.ts";
import { createPlugin } from "../../support/plugins.ts";

const never = () => assert.fail("nothing to draw");

/** The slots that get the turn for each list of candidates. */
function turns(lists: readonly (readonly Endpoint[])[]): readonly number[] {
  const picker = createPlugin(roundRobin);
  return lists.map((candidates) => picker.pick(candidates, new Array<number>(candidates.length).fill(0), never)[0]!.slot);
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

test("nobody starves when every other request has one candidate only", () => {
  const all = makeEndpoints(4);
  const lists = Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? all : all.slice(0, 1)));
  const counts = [0, 0, 0, 0];
  for (const slot of turns(lists)) counts[slot]! += 1;
  for (const slot of [1, 2, 3]) assert.ok(counts[slot]! >= 6, counts.join());
});

test("one that joins gets one turn at once, then waits like the rest", () => {
  const two = makeEndpoints(2);
  const three = [...two, makeEndpoint(2)];
  assert.deepEqual(turns([two, two, two, two, three, three, three, three]), [0, 1, 0, 1, 2, 0, 1, 2]);
});

test("spares follow in the order of their turns", () => {
  const picker = createPlugin(roundRobin);
  const pool = makeEndpoints(3);
  picker.pick(pool, [0, 0, 0], never);
  assert.deepEqual(
    picker.pick(pool, [0, 0, 0], never).map(({ slot }) => slot),
    [1, 2, 0],
  );
});
