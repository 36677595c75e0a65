import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import { type LoadNumbers, makeEndpoint, makeEndpoints, makeLoad, seededRandom } from "../../../core/contract/test-kit.ts";
import { holdBack, trialFirst } from "../../../core/decide/hold-back.ts";

const ejection = { reason: "", sinceMs: 0, untilMs: 0 };
const onTrial = (slot: number) => makeEndpoint(slot, { phase: "ejected", isAvailable: true, isOnTrial: true, ejection });
const warming = (slot: number, share: number) => makeEndpoint(slot, { share });
const [a, b, c] = makeEndpoints(3) as [Endpoint, Endpoint, Endpoint];

const keptOf = (candidates: readonly Endpoint[], numbers: LoadNumbers = {}, random = () => 0.5) =>
  holdBack(candidates, makeLoad(8, numbers), random).candidates.map(({ slot }) => slot);

describe("candidates that are held back", () => {
  const rows: readonly (readonly [
    name: string,
    candidates: readonly Endpoint[],
    numbers: LoadNumbers,
    kept: readonly number[],
  ])[] = [
    ["none", [a, b, c], {}, [0, 1, 2]],
    ["one on trial leaves the others as its spares", [onTrial(0), b, c], {}, [0, 1, 2]],
    ["of two on trial one is tried", [onTrial(0), onTrial(1), c], {}, [0, 2]],
    ["of two on trial the other is its spare where there is none else", [onTrial(0), onTrial(1)], {}, [0, 1]],
    ["those that warm up are spares of one on trial", [onTrial(0), warming(1, 0.05)], {}, [0, 1]],
    ["and their shares count among them", [warming(0, 0.05), onTrial(1), warming(2, 0.5)], {}, [1, 2]],
    ["so is one that asked to be left alone, where there is none else", [onTrial(0), b], { isPaused: [false, true] }, [0, 1]],
    ["one on trial that asked to be left alone", [onTrial(0), b], { isPaused: [true, false] }, [1]],
    ["one on trial with requests from before it", [onTrial(0), b, c], { inFlight: [9, 0, 0] }, [0, 1, 2]],
    ["the only candidate is used, on trial or not", [onTrial(0)], { inFlight: [1] }, [0]],
    ["one that asked to be left alone", [a, b, c], { isPaused: [true, false, false] }, [1, 2]],
    ["all asked to be left alone: all are used", [a, b], { isPaused: () => true }, [0, 1]],
    ["one that warms up, by its share", [warming(0, 0.4), b, c], {}, [1, 2]],
    ["the same where the dice fall well", [warming(0, 0.6), b, c], {}, [0, 1, 2]],
    ["shares count against the largest: all alike are used", [warming(0, 0.1), warming(1, 0.1)], {}, [0, 1]],
  ];
  for (const [name, candidates, numbers, kept] of rows) it(name, () => assert.deepEqual(keptOf(candidates, numbers), kept));

  it("name the one on trial, which is then tried first", () => {
    const trial = onTrial(1);
    const trialOf = (numbers: LoadNumbers) => holdBack([a, trial, c], makeLoad(8, numbers), () => 0.5).trial;
    assert.equal(trialOf({}), trial);
    assert.equal(trialOf({ isPaused: [false, true, false] }), undefined);
    assert.deepEqual(trialFirst(trial, [c, trial, a]), [trial, c, a]);
    assert.deepEqual(trialFirst(trial, [c]), [trial, c]);
    assert.deepEqual(trialFirst(undefined, [c, a]), [c, a]);
  });

  it("are named with the reason", () => {
    const { dropped } = holdBack([a, b, c], makeLoad(3, { isPaused: [true, false, false] }), Math.random);
    assert.deepEqual(dropped, [{ filter: "asked to be left alone", endpoints: [a] }]);
  });

  it("get their share over many requests", () => {
    const random = seededRandom(3);
    let kept = 0;
    for (let i = 0; i < 2_000; i++) if (keptOf([warming(0, 0.25), b], {}, random).includes(0)) kept += 1;
    assert.ok(Math.abs(kept / 2_000 - 0.25) < 0.03, String(kept));
  });
});
