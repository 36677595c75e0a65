import assert from "node:assert/strict";
import { it } from "node:test";
import { ENGINE_TIMES } from "../../apps/lab/engine/engine-times.ts";
import { makeTrace, makeTraced } from "../apps/lab/simulate/traces.ts";
import { playSessions } from "./closed-loop.ts";

const MS = 1 / 3_600_000;
const turn = (session: string, atMs: number, block: number) => {
  return { ...makeTraced(atMs, [block], 5), turn: { session, tookMs: 0 } };
};
const TRACE = makeTrace([turn("a", 0, 1), turn("b", 0, 2), turn("a", 5, 3), turn("b", 5, 4)]);

function play(hours: number, warmUpHours: number, warmedUp: () => void, send: Parameters<typeof playSessions>[1]) {
  const loop = { perReplica: 1, hours, warmUpHours };
  return playSessions({ trace: TRACE, replicas: 2, timeScale: 1, model: ENGINE_TIMES, seed: 1, loop, warmedUp }, send);
}

it("a session's next turn is sent after the end of the one before, and what is under way at the end is given up", async () => {
  const sent: string[] = [];
  const open = new Set<string>();
  const played = await play(
    1500 * MS,
    0,
    () => {},
    async ({ request, signal, firstToken }) => {
      const session = request.headers!["x-session-id"]!;
      assert.ok(!open.has(session), session);
      open.add(session);
      sent.push(`${session} ${request.line}`);
      if (request.line >= 3) await new Promise((resolve) => signal.addEventListener("abort", resolve));
      else firstToken();
      open.delete(session);
      return request.line >= 3 ? "aborted" : "";
    },
  );
  assert.deepEqual(sent.toSorted(), ["a 1", "a 3", "b 2", "b 4"]);
  assert.deepEqual(played.failures, []);
  assert.equal(played.figures.unended.turns, 2);
  assert.equal(played.firstTokenMs.length, 2);
});

it("turns before the warm-up's end are not counted, and a turn that failed is followed by the next", async () => {
  let warm = false;
  const counted: boolean[] = [];
  const warmedUp = () => {
    warm = true;
  };
  const played = await play(3000 * MS, 500 * MS, warmedUp, async ({ firstToken }) => {
    counted.push(firstToken() === warm);
    return "refused";
  });
  assert.ok(counted.length >= 6, "After the sessions' ends others begin");
  assert.ok(counted.every(Boolean));
  assert.equal(played.failures.length, counted.length);
  assert.ok(played.firstTokenMs.length < counted.length);
});
