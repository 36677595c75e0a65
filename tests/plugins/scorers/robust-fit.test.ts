import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Prior, RobustFit } from "../../../plugins/scorers/robust-fit.ts";
import { seededRandom } from "../../support/endpoints.ts";

/** y = 20 + 125 x tokens / 1000 + 8 x requests, up to 5 % off. */
const TRUTH = [20, 125, 8];
/** What is believed at first is wrong by a factor of two, and worth eight samples. */
const GUESS = [0, 60, 20];
const priorOf =
  (fit: RobustFit): Prior =>
  (moments, cross) => {
    for (const [index, guess] of GUESS.entries()) {
      const pull = (8 / fit.samples) * Math.max(moments[4 * index]!, 0.01 * moments[0]!);
      moments[4 * index]! += pull;
      cross[index]! += pull * guess;
    }
  };

interface Sample {
  readonly features: Float64Array;
  readonly truth: number;
  readonly noise: number;
}

function* samples(count: number, seed: number): Generator<Sample> {
  const random = seededRandom(seed);
  for (let i = 0; i < count; i++) {
    const features = Float64Array.from([1, 20 * random(), Math.floor(30 * random())]);
    const truth = features.reduce((sum, feature, index) => sum + feature * TRUTH[index]!, 0);
    yield { features, truth, noise: 0.95 + 0.1 * random() };
  }
}

/** Learns with what it expects itself, and with the guess at first. */
function learn(fit: RobustFit, { features }: Sample, y: number): void {
  const guessed = features.reduce((sum, feature, index) => sum + feature * GUESS[index]!, 0);
  fit.learn(features, y, fit.samples === 0 ? guessed : fit.predict(features), priorOf(fit));
}

const isNear = (fit: RobustFit) =>
  [...samples(50, 99)].every(({ features, truth }) => Math.abs(fit.predict(features) / truth - 1) < 0.08);

describe("a robust fit", () => {
  const outliers: readonly [name: string, spoil: (y: number, random: () => number) => number][] = [
    ["no outlier", (y) => y],
    ["20 % of the times 10 times as long", (y, random) => (random() < 0.2 ? 10 * y : y)],
    ["20 % of the times a minute", (y, random) => (random() < 0.2 ? 60_000 : y)],
    ["20 % of the times close to 0", (y, random) => (random() < 0.2 ? 0.001 : y)],
    ["10 % far longer, 10 % far shorter", (y, random) => y * (random() < 0.1 ? 30 : random() < 0.1 ? 0.01 : 1)],
  ];
  for (const [name, spoil] of outliers) {
    it(`finds the coefficients with ${name}`, () => {
      const fit = new RobustFit(3, 512, 10);
      const random = seededRandom(7);
      for (const sample of samples(1_500, 1)) learn(fit, sample, spoil(sample.truth * sample.noise, random));
      const [base, perThousand, perRequest] = fit.coefficients;
      assert.ok(Math.abs(perThousand! - 125) < 4, `${fit.coefficients}`);
      assert.ok(Math.abs(perRequest! - 8) < 1.5, `${fit.coefficients}`);
      assert.ok(Math.abs(base! - 20) < 20, `${fit.coefficients}`);
      assert.ok(isNear(fit), `${fit.coefficients}`);
    });
  }

  it("follows a change of all times, because they are no outliers any more", () => {
    const fit = new RobustFit(3, 128, 10);
    for (const sample of samples(500, 1)) learn(fit, sample, sample.truth * sample.noise);
    for (const sample of samples(1_000, 2)) learn(fit, sample, 4 * sample.truth * sample.noise);
    const expected = fit.predict([1, 10, 15]);
    assert.ok(Math.abs(expected / (4 * (20 + 1_250 + 120)) - 1) < 0.1, `${expected} by ${fit.coefficients}`);
  });

  it("has no negative coefficient, whatever comes", () => {
    const fit = new RobustFit(3, 128, 10);
    for (const sample of samples(300, 3)) learn(fit, sample, 5_000 - sample.truth);
    for (const coefficient of fit.coefficients) assert.ok(coefficient >= 0, `${fit.coefficients}`);
  });
});
