import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import { LatencyModel } from "../../../plugins/scorers/latency-model.ts";
import { makeEndpoint, makeEndpoints, seededRandom } from "../../support/endpoints.ts";

const FIRST = [0, 125, 8];
const random = seededRandom(5);

/** A pool whose replicas take 20 + 125 x thousands of tokens + 8 x requests, times their own factor. */
class Pool {
  readonly model = new LatencyModel(3, 10);
  readonly endpoints = makeEndpoints(4);
  nowMs = 0;

  /** `count` requests to each of these endpoints. */
  serve(count: number, factorOf: (endpoint: Endpoint) => number, among = this.endpoints): void {
    for (let i = 0; i < count * among.length; i++) {
      const endpoint = among[i % among.length]!;
      const features = [1, 20 * random(), Math.floor(30 * random())];
      const expectedMs = this.expected(features, endpoint);
      this.nowMs += 100;
      const ms = factorOf(endpoint) * truthOf(features) * (0.9 + 0.2 * random());
      this.model.learn(features, endpoint, this.nowMs, ms, expectedMs, FIRST);
    }
  }

  expected(features: readonly number[], endpoint: Endpoint): number {
    return this.model.predict(features, endpoint, this.nowMs, 125 * features[1]! + 8 * features[2]!);
  }

  /** Expected / what a usual replica takes. */
  factorOf(endpoint: Endpoint): number {
    const features = [1, 8, 10];
    return this.expected(features, endpoint) / truthOf(features);
  }
}

const truthOf = ([, thousands, requests]: readonly number[]) => 20 + 125 * thousands! + 8 * requests!;
const near = (actual: number, wanted: number, tolerance = 0.15) =>
  assert.ok(Math.abs(actual / wanted - 1) < tolerance, `${actual}, not ${wanted}`);

describe("a model of a pool's times", () => {
  it("says what it is told before anything was learned", () => {
    assert.equal(new LatencyModel(3, 10).predict([1, 2, 3], makeEndpoint(0), 0, 77), 77);
  });

  it("gives replicas that are alike the same times", () => {
    const pool = new Pool();
    pool.serve(50, () => 1);
    for (const endpoint of pool.endpoints) near(pool.factorOf(endpoint), 1, 0.05);
  });

  it("begins with the pool's times where another machine has a slow one's name", () => {
    const pool = new Pool();
    pool.serve(50, ({ slot }) => (slot === 2 ? 8 : 1));
    const slow = pool.endpoints[2]!;
    near(pool.factorOf(slow), 8, 0.3);
    near(pool.factorOf({ ...slow, url: { ...slow.url } }), 1, 0.5);
  });

  it("sees within a dozen requests that one replica has become slow, and the others are not blamed", () => {
    const pool = new Pool();
    pool.serve(50, () => 1);
    pool.serve(12, ({ slot }) => (slot === 2 ? 4 : 1));
    near(pool.factorOf(pool.endpoints[2]!), 4, 0.3);
    near(pool.factorOf(pool.endpoints[0]!), 1);
  });

  it("sees that it is fast again", () => {
    const pool = new Pool();
    pool.serve(100, ({ slot }) => (slot === 2 ? 4 : 1));
    pool.serve(25, () => 1);
    near(pool.factorOf(pool.endpoints[2]!), 1, 0.3);
  });

  it("forgets a replica's own slowness while nothing comes from it, so that it gets requests again", () => {
    const pool = new Pool();
    pool.serve(60, ({ slot }) => (slot === 2 ? 4 : 1));
    near(pool.factorOf(pool.endpoints[2]!), 4, 0.3);
    pool.nowMs += 600_000;
    near(pool.factorOf(pool.endpoints[2]!), 1);
  });

  it("expects of a new replica what the pool takes, also where another one had its slot", () => {
    const pool = new Pool();
    pool.serve(60, ({ slot }) => (slot === 2 ? 4 : 1));
    near(pool.factorOf(makeEndpoint(9)), 1);
    near(pool.factorOf(makeEndpoint(2, { name: "another" })), 1);
  });

  it("does not judge a replica by a few requests", () => {
    const pool = new Pool();
    pool.serve(60, () => 1, pool.endpoints.slice(0, 3));
    pool.serve(3, () => 4, pool.endpoints.slice(3));
    near(pool.factorOf(pool.endpoints[3]!), 1);
  });
});

test("nine of ten times are below the expected one x the late factor", () => {
  const pool = new Pool();
  pool.serve(50, () => (random() < 0.3 ? 2 : 1));
  assert.ok(pool.model.lateFactor > 1.5 && pool.model.lateFactor < 2.6, `${pool.model.lateFactor}`);
});
