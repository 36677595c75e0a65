import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { errorRateTest, type SequentialTest, slownessTest } from "../../../../plugins/features/rollouts/sequential-test.ts";
import { drawShare } from "../../../../plugins/rewriters/share-draw.ts";
import { shuffledTurn } from "../../../../plugins/rewriters/shuffled-turn.ts";

// A seeded simulation. False alarms are counted where they are most likely: equal targets, and a margin of 0.

const CONFIDENCE = 0.95;
const RUNS = 10_000;
const REQUESTS = 2_000;
/** Weights of target and baseline. */
const SPLITS = [
  [50, 50],
  [10, 90],
  [1, 99],
  [90, 10],
] as const;

type Random = () => number;

/** Mulberry32: uniform in [0, 1). */
function seeded(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The values of requests to one target, by the share of the run that is over. */
type Values = (random: Random, progress: number) => number;

const errors =
  (rate: number): Values =>
  (random) =>
    random() < rate ? 1 : 0;
/** Errors come and go for both targets. */
const driftingErrors: Values = (random, progress) => (random() < 0.1 + 0.09 * Math.sin(progress * 20) ? 1 : 0);
/** An outage in which everything fails, for both targets. */
const outage: Values = (random, progress) => (progress > 0.4 && progress < 0.5 ? 1 : random() < 0.01 ? 1 : 0);
const logNormal =
  (median: number): Values =>
  (random) =>
    median * Math.exp(Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random()));
/** Without a variance, and with a tail exponent of 1.1 almost without a mean. */
const pareto: Values = (random) => 100 * (1 - random()) ** (-1 / 1.1);
/** Twenty times as long at the end as at the start, for both targets. */
const driftingTimes: Values = (random, progress) => logNormal(100)(random, progress) * (1 + 19 * progress);

interface Scene {
  readonly name: string;
  readonly make: () => SequentialTest;
  readonly target: Values;
  readonly baseline: Values;
}

/** The same for both. */
const equal = (name: string, make: Scene["make"], values: Values): Scene => ({ name, make, target: values, baseline: values });

const noErrorMargin = () => errorRateTest(0);
const noTimeMargin = () => slownessTest(0);

const EQUAL_ERRORS: readonly Scene[] = [
  ...[0.001, 0.01, 0.05, 0.2].map((rate) => equal(`${rate * 100} % errors`, noErrorMargin, errors(rate))),
  equal("errors that come and go", noErrorMargin, driftingErrors),
  equal("an outage of both", noErrorMargin, outage),
];
const EQUAL_TIMES: readonly Scene[] = [
  equal("log-normal times", noTimeMargin, logNormal(100)),
  equal("Pareto times", noTimeMargin, pareto),
  equal("times that drift", noTimeMargin, driftingTimes),
];

/** So many draws of the router, in which every split has whole runs; whether each is for the target. */
const DRAWS = 10_000;
const DRAWN = new Map(
  SPLITS.map((weights) => [
    weights,
    Array.from({ length: DRAWS }, (_, n) => drawShare(weights, shuffledTurn("food/0", weights, n)) === 0),
  ]),
);

/** After how many requests the evidence was enough; undefined if it never was. */
function firstAlarm(scene: Scene, weights: (typeof SPLITS)[number], requests: number, random: Random, isRouters: boolean) {
  const test = scene.make();
  const share = weights[0]! / (weights[0]! + weights[1]!);
  const offset = Math.floor(random() * DRAWS);
  const drawn = DRAWN.get(weights)!;
  for (let n = 0; n < requests; n++) {
    // The router's own draw, or that of a population of clients.
    const isTarget = isRouters ? drawn[(offset + n) % DRAWS]! : random() < share;
    test.add(isTarget, (isTarget ? scene.target : scene.baseline)(random, n / requests));
    if (test.evidence >= 1 / (1 - CONFIDENCE)) return n + 1;
  }
  return undefined;
}

/** Share of the runs with an alarm, for each scene and split; both ways of drawing take turns. */
function falseAlarms(scenes: readonly Scene[]): ReadonlyMap<string, number> {
  const random = seeded(7);
  const alarms = new Map<string, number>();
  const cells = scenes.flatMap((scene) => SPLITS.map((weights) => ({ scene, weights })));
  const runs = Math.ceil(RUNS / cells.length);
  for (const { scene, weights } of cells) {
    let count = 0;
    for (let run = 0; run < runs; run++)
      if (firstAlarm(scene, weights, REQUESTS, random, run % 2 === 0) !== undefined) count += 1;
    alarms.set(`${scene.name}, ${weights.join("/")}`, count / runs);
  }
  return alarms;
}

describe("equal targets", () => {
  for (const [what, scenes] of [
    ["errors", EQUAL_ERRORS],
    ["times", EQUAL_TIMES],
  ] as const) {
    it(`raise an alarm for their ${what} in at most 5 % of ${RUNS} runs, judged after each of ${REQUESTS} requests`, {
      timeout: 60_000,
    }, () => {
      const alarms = falseAlarms(scenes);
      const runs = Math.ceil(RUNS / alarms.size);
      const mean = [...alarms.values()].reduce((sum, share) => sum + share, 0) / alarms.size;
      console.log(
        `false alarms over ${what}: ${(mean * 100).toFixed(2)} %, at most ${(Math.max(...alarms.values()) * 100).toFixed(2)} %`,
      );
      assert.ok(mean <= 1 - CONFIDENCE, `${mean}`);
      // A single cell has fewer runs: four standard deviations more.
      const most = 0.05 + 4 * Math.sqrt((0.05 * 0.95) / runs);
      for (const [cell, share] of alarms) assert.ok(share <= most, `${cell}: ${share}`);
    });
  }
});

it("equal targets whose clients ask for short and long answers in turns raise no alarm where draws are shuffled", () => {
  const weights = [50, 50];
  const alarms = [
    drawShare,
    (weights: readonly number[], n: number) => drawShare(weights, shuffledTurn("food/0", weights, n)),
  ].map((draw) => {
    const test = slownessTest(0.5);
    let isRaised = false;
    for (let n = 0; n < REQUESTS; n++) {
      test.add(draw(weights, n) === 0, n % 2 === 0 ? 1_000 : 100);
      isRaised ||= test.evidence >= 20;
    }
    return isRaised;
  });
  assert.deepEqual(alarms, [true, false], "in step with the exact draw, and not with the shuffled one");
});

describe("a worse target", () => {
  const worse: readonly (readonly [scene: Scene, within: number])[] = [
    [
      {
        name: "10 % errors against 0.1 %, margin 2 points",
        make: () => errorRateTest(0.02),
        target: errors(0.1),
        baseline: errors(0.001),
      },
      200,
    ],
    [
      {
        name: "5 % errors against 1 %, margin 1 point",
        make: () => errorRateTest(0.01),
        target: errors(0.05),
        baseline: errors(0.01),
      },
      800,
    ],
    [
      {
        name: "every request fails, margin 2 points",
        make: () => errorRateTest(0.02),
        target: errors(1),
        baseline: errors(0.01),
      },
      15,
    ],
    [
      { name: "twice as slow, margin 20 %", make: () => slownessTest(0.2), target: logNormal(200), baseline: logNormal(100) },
      150,
    ],
    [
      {
        name: "four times as slow, margin 50 %",
        make: () => slownessTest(0.5),
        target: logNormal(400),
        baseline: logNormal(100),
      },
      80,
    ],
  ];
  for (const [scene, within] of worse) {
    it(`(${scene.name}) is found within ${within} of its requests in most runs, at any split`, () => {
      const random = seeded(11);
      for (const weights of SPLITS.slice(0, 3)) {
        const ratio = (weights[0] + weights[1]) / weights[0];
        const found = Array.from(
          { length: 41 },
          () => firstAlarm(scene, weights, within * 4 * ratio, random, true) ?? Number.POSITIVE_INFINITY,
        );
        const median = found.sort((a, b) => a - b)[20]! / ratio;
        console.log(`${scene.name}, ${weights.join("/")}: after ${Math.ceil(median)} of its requests`);
        assert.ok(median <= within, `${weights.join("/")}: ${median}`);
      }
    });
  }

  it("that becomes worse after 20,000 equal requests is still found", () => {
    const random = seeded(13);
    const test = errorRateTest(0.02);
    for (let n = 0; n < 20_000; n++) test.add(n % 2 === 0, errors(0.01)(random, 0));
    let needed = 0;
    for (; test.evidence < 20 && needed < 10_000; needed++)
      test.add(needed % 2 === 0, errors(needed % 2 === 0 ? 0.2 : 0.01)(random, 0));
    console.log(`20 % errors after 20,000 equal requests: after ${needed / 2} of its requests`);
    assert.ok(needed / 2 < 300, `${needed}`);
  });

  it("within the margin raises no alarm", () => {
    const random = seeded(17);
    const scenes: readonly Scene[] = [
      { name: "errors", make: () => errorRateTest(0.05), target: errors(0.06), baseline: errors(0.01) },
      { name: "times", make: () => slownessTest(0.5), target: logNormal(150), baseline: logNormal(100) },
    ];
    for (const scene of scenes) {
      const alarms = Array.from({ length: 300 }, () => firstAlarm(scene, SPLITS[1], REQUESTS, random, true)).filter(
        (at) => at !== undefined,
      );
      assert.ok(alarms.length <= 25, `${scene.name}: ${alarms.length}`);
    }
  });
});

describe("evidence", () => {
  it("is 1 at the start, finite and positive whatever comes, and does not move while only one target has requests", () => {
    const test = slownessTest(0.5);
    assert.equal(test.evidence, 1);
    for (let n = 0; n < 1000; n++) test.add(true, n + 1);
    assert.equal(test.evidence, 1);
    for (let n = 0; n < 100_000; n++) test.add(n % 2 === 0, n % 2 === 0 ? 1e9 : 1e-9);
    assert.ok(Number.isFinite(test.evidence) && test.evidence > 1e90);
    for (let n = 0; n < 100_000; n++) test.add(n % 2 === 0, n % 2 === 0 ? 1e-9 : 1e9);
    assert.ok(test.evidence > 0 && test.evidence < 1);
  });
});
