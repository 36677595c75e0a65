import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { seededRandom } from "../../../core/contract/test-kit.ts";
import { DEFAULT_RATE, type ReplicaSpeed, ReplicaSpeeds } from "../../../core/state/replica-speeds.ts";

/** What prompts cost a modelled replica. */
interface Hardware {
  readonly rate: number;
  readonly fixedMs: number;
}

/** Lets a replica compute so many prompts, each of `tokens()` tokens of which the router believes `believed(tokens)`. */
function serve(
  speed: ReplicaSpeed,
  { rate, fixedMs }: Hardware,
  prompts: number,
  tokens: () => number,
  believed: (tokens: number) => readonly [tokens: number, uncertain: number] = (exact) => [exact, 0],
  nowMs = 0,
): void {
  for (let prompt = 0; prompt < prompts; prompt++) {
    const exact = tokens();
    speed.measured(...believed(exact), fixedMs + exact / rate, nowMs);
  }
}

const near = (value: number, expected: number, share: number) =>
  assert.ok(Math.abs(value / expected - 1) <= share, `${value} instead of ${expected}`);

describe("the speed of a pool's replicas", () => {
  it("is a usual one before anything is measured", () => assert.equal(new ReplicaSpeeds().add().rateAt(0), DEFAULT_RATE));

  for (const rate of [0.5, 8, 60]) {
    it(`is learned from a few long prompts: ${rate} tokens a millisecond`, () => {
      const pool = new ReplicaSpeeds();
      const first = pool.add();
      serve(first, { rate, fixedMs: 7 }, 10, () => 16_000);
      near(pool.rate, rate, 0.1);
      near(first.rateAt(0), rate, 0.1);
      assert.equal(pool.add().rateAt(0), pool.rate, "a new replica begins with the pool's");
    });
  }

  it("is the hardware's, not the traffic's: one that computes little of each prompt is as fast as one that computes all", () => {
    const pool = new ReplicaSpeeds();
    const [cold, warm] = [pool.add(), pool.add()];
    const hardware = { rate: 8, fixedMs: 20 };
    for (let round = 0; round < 40; round++) {
      serve(cold, hardware, 4, () => 6_000);
      serve(warm, hardware, 32, () => 120);
    }
    near(cold.rateAt(0), 8, 0.1);
    near(warm.rateAt(0), 8, 0.25);
  });

  it("does not follow beliefs about caches that are too low, nor some that are too high", () => {
    const random = seededRandom(7);
    const pool = new ReplicaSpeeds();
    const speeds = [pool.add(), pool.add(), pool.add()];
    const hardware = { rate: 8, fixedMs: 7 };
    const believed = (exact: number): readonly [number, number] => {
      const luck = random();
      if (luck < 0.2) return [exact, 0];
      // A quarter was evicted without the router's knowledge.
      if (luck < 0.4) return [Math.round(exact / 4), 500];
      // The index knows whole blocks only: much of what it believes uncached is cached.
      const uncertain = Math.round(1_500 * random());
      return [exact + Math.round(uncertain * random()), uncertain];
    };
    for (let round = 0; round < 60; round++)
      for (const speed of speeds) serve(speed, hardware, 1, () => 500 + 8_000 * random(), believed);
    for (const speed of speeds) near(speed.rateAt(0), 8, 0.2);
  });
});

describe("a replica at half speed", () => {
  const normal = { rate: 8, fixedMs: 7 };
  const slow = { rate: 4, fixedMs: 14 };
  const mixes: readonly (readonly [name: string, tokens: number])[] = [
    ["long prompts", 12_000],
    ["prompts of a chat", 1_000],
    ["short prompts", 200],
  ];
  for (const [name, tokens] of mixes) {
    it(`is found after five samples, and found again when it is as fast as the others: ${name}`, () => {
      const pool = new ReplicaSpeeds();
      const speeds = Array.from({ length: 4 }, () => pool.add());
      const samples = (hardware: Hardware, count: number) => {
        for (let round = 0; round < count; round++)
          for (const [at, speed] of speeds.entries())
            serve(speed, at === 0 ? hardware : normal, Math.ceil(4_000 / tokens), () => tokens);
      };
      samples(normal, 20);
      near(speeds[0]!.rateAt(0), pool.rate, 0.1);
      samples(slow, 5);
      near(speeds[0]!.rateAt(0), pool.rate / 2, 0.2);
      near(speeds[1]!.rateAt(0), pool.rate, 0.1);
      samples(normal, 5);
      near(speeds[0]!.rateAt(0), pool.rate, 0.1);
    });
  }

  it("is not believed after three odd samples", () => {
    const pool = new ReplicaSpeeds();
    const speed = pool.add();
    serve(pool.add(), normal, 20, () => 12_000);
    serve(speed, slow, 3, () => 12_000);
    near(speed.rateAt(0), pool.rate, 0.15);
  });
});

for (const replicas of [1, 3, 8, 40]) {
  it(`without long prompts the rate stays the first guess, and slowdowns learn the rest: ${replicas} replicas`, () => {
    const pool = new ReplicaSpeeds();
    const speeds = Array.from({ length: replicas }, () => pool.add());
    const fast = { rate: 40, fixedMs: 7 };
    for (let prompt = 0; prompt < 400; prompt++) for (const speed of speeds) serve(speed, fast, 1, () => 1_000);
    const effective = 1_000 / (fast.fixedMs + 1_000 / fast.rate);
    for (const speed of speeds) near(speed.rateAt(0), effective, 0.15);
    serve(speeds[0]!, { rate: 20, fixedMs: 14 }, 400, () => 1_000);
    near(speeds[0]!.rateAt(0), effective / 2, 0.15);
  });
}

it("replicas of three kinds are told apart", () => {
  const pool = new ReplicaSpeeds();
  const speeds = Array.from({ length: 12 }, () => pool.add());
  const rateOf = (at: number) => [8, 4, 2][at % 3]!;
  for (let prompt = 0; prompt < 100; prompt++)
    for (const [at, speed] of speeds.entries()) serve(speed, { rate: rateOf(at), fixedMs: 0 }, 1, () => 12_000);
  for (const [at, speed] of speeds.entries()) near(speed.rateAt(0), rateOf(at), 0.15);
});

for (const noise of [0.05, 0.15, 0.25]) {
  it(`a replica at half speed is found through noise of ${100 * noise} percent in each sample`, () => {
    const random = seededRandom(21);
    // Three uniform numbers: nearly a normal distribution of standard deviation 0.5.
    const noisy = () => Math.exp(2 * noise * (random() + random() + random() - 1.5));
    const pool = new ReplicaSpeeds();
    const speeds = Array.from({ length: 8 }, () => pool.add());
    const compute = (slowdown: number, count: number) => {
      for (let sample = 0; sample < count; sample++)
        for (const [at, speed] of speeds.entries()) speed.measured(12_000, 0, 1_500 * noisy() * (at === 0 ? slowdown : 1), 0);
    };
    compute(1, 40);
    compute(2, 60);
    near(speeds[0]!.rateAt(0), pool.rate / 2, 0.25);
    for (const speed of speeds.slice(1)) near(speed.rateAt(0), pool.rate, 0.35);
  });
}

it("where many samples are wrong, more of them must agree", () => {
  const random = seededRandom(5);
  const samplesUntilFound = (wrongShare: number) => {
    const pool = new ReplicaSpeeds();
    const [usual, speed] = [pool.add(), pool.add()];
    const compute = (of: ReplicaSpeed, slowdown: number) => {
      const evicted = random() < wrongShare ? 1 + 9 * random() : 1;
      of.measured(12_000, 0, (12_000 / 8) * slowdown * evicted, 0);
    };
    for (let sample = 0; sample < 300; sample++) for (const each of [usual, speed]) compute(each, 1);
    for (let sample = 1; sample < 100; sample++) {
      compute(speed, 2);
      if (speed.rateAt(0) < 0.7 * pool.rate) return sample;
    }
    return Number.POSITIVE_INFINITY;
  };
  const [few, many] = [samplesUntilFound(0.02), samplesUntilFound(0.3)];
  assert.ok(few <= 4, `${few}`);
  assert.ok(many > few && many <= 30, `${many}`);
});

it("prompts of which nearly everything may have been cached slow no replica down, whatever they took", () => {
  const pool = new ReplicaSpeeds();
  const [usual, speed] = [pool.add(), pool.add()];
  serve(usual, { rate: 8, fixedMs: 0 }, 30, () => 12_000);
  // Their whole context was evicted: 80,000 tokens were computed where 5,000 were expected.
  for (let prompt = 0; prompt < 30; prompt++) speed.measured(5_000, 4_500, 10_000, 0);
  assert.equal(speed.rateAt(0), pool.rate);
});

it("no belief stays that all samples contradict, however many were wrong before", () => {
  const random = seededRandom(11);
  const pool = new ReplicaSpeeds();
  const [usual, speed] = [pool.add(), pool.add()];
  const compute = (of: ReplicaSpeed, slowdown: number) => of.measured(12_000, 0, (12_000 / 8) * slowdown, 0);
  for (let round = 0; round < 20; round++) {
    for (let sample = 0; sample < 300; sample++) for (const each of [usual, speed]) compute(each, 0.2 + 9 * random());
    for (let sample = 0; sample < 200; sample++) compute(usual, 1);
    for (let sample = 0; sample < 20; sample++) compute(speed, 1);
    near(speed.rateAt(0), pool.rate, 0.11);
  }
});

it("a slowdown of which nothing is measured any more fades, because a slow replica gets little traffic; a sample that agrees with it renews it", () => {
  const pool = new ReplicaSpeeds();
  const [usual, speed] = [pool.add(), pool.add()];
  serve(usual, { rate: 8, fixedMs: 0 }, 30, () => 12_000);
  serve(speed, { rate: 2, fixedMs: 0 }, 20, () => 12_000);
  const slowdownAt = (nowMs: number) => pool.rate / speed.rateAt(nowMs);
  const atOnce = slowdownAt(0);
  near(atOnce, 4, 0.15);
  near(slowdownAt(120_000) - 1, (atOnce - 1) / 2, 0.001);
  near(slowdownAt(1_320_000), 1, 0.01);
  serve(speed, { rate: 8, fixedMs: 0 }, 1, () => 12_000, undefined, 1_320_000);
  near(slowdownAt(1_320_000), 1, 0.01);
  serve(speed, { rate: 2, fixedMs: 0 }, 1, () => 12_000, undefined, 1_320_000);
  near(slowdownAt(1_320_000), atOnce, 0.001);
  assert.equal(slowdownAt(0), slowdownAt(1_320_000), "a time before that is no reason for more");
});

it("nothing that is measured makes a rate 0, negative or endless", () => {
  const random = seededRandom(3);
  const pool = new ReplicaSpeeds();
  const speed = pool.add();
  const odd = [0, 1, 1e-9, 1e9, 5_000, 100_000];
  const draw = () => odd[Math.floor(random() * odd.length)]!;
  for (let step = 0; step < 20_000; step++) {
    const tokens = draw();
    speed.measured(tokens, tokens * random(), draw(), step);
    const rate = speed.rateAt(step);
    assert.ok(rate > 0 && Number.isFinite(rate), `${rate}`);
  }
});
