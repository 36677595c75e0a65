import type { Endpoint } from "../contract/endpoint.ts";
import type { AdapterFacts, LoadView } from "../contract/load-view.ts";
import type { InferenceRequest } from "../contract/request.ts";
import { makeEndpoint, makeLoad, makePrefix, makeRequest, seededRandom } from "../contract/test-kit.ts";
import { deepFreeze } from "./freeze.ts";

/** The inputs of a plugin at one moment, frozen. */
export interface Situation {
  readonly name: string;
  readonly request: InferenceRequest;
  readonly candidates: readonly Endpoint[];
  readonly load: LoadView;
}

/** Pools of 0, 1 and many endpoints, each with equal, random, unknown and extreme numbers. */
export function situations(): readonly Situation[] {
  const random = seededRandom(2024);
  return [0, 1, 2, 8, 17, 60].flatMap((count) =>
    Object.entries(loads(count, random)).map(([name, load]) => {
      const candidates = Array.from({ length: count }, (_, index) => someEndpoint(count - 1 - index, random));
      return deepFreeze({ name: `${count} endpoints, ${name}`, request: someRequest(count, random), candidates, load });
    }),
  );
}

function loads(count: number, random: () => number): Readonly<Record<string, LoadView>> {
  const numbers = (make: () => number) => Array.from({ length: count }, make);
  const upTo = (max: number) => () => Math.floor(random() * max);
  const sometimes = (make: () => number) => () => (random() < 0.5 ? Number.NaN : make());
  const same = (value: number) => numbers(() => value);
  return {
    "nothing scraped": makeLoad(count),
    "all equal": makeLoad(count, {
      inFlight: same(5),
      prefillTokens: same(4096),
      waiting: same(2),
      running: same(5),
      kvUsage: same(0.5),
    }),
    "all different": makeLoad(count, {
      inFlight: numbers(upTo(200)),
      prefillTokens: numbers(upTo(200_000)),
      waiting: numbers(upTo(50)),
      running: numbers(upTo(256)),
      kvUsage: numbers(random),
      scrapedAtMs: numbers(upTo(1000)),
      freshness: numbers(random),
      attributes: numbers(random).map((value) => new Map(value < 0.3 ? [] : [["GPUUtilization", value]])),
      adapters: numbers(random).map((chance) => (chance < 0.3 ? undefined : someAdapters(chance))),
    }),
    "some scraped": makeLoad(count, {
      waiting: numbers(sometimes(upTo(50))),
      running: numbers(sometimes(upTo(50))),
      kvUsage: numbers(sometimes(random)),
    }),
    extreme: makeLoad(count, {
      inFlight: numbers(() => 2 ** 31 - 1),
      prefillTokens: numbers(() => (random() < 0.5 ? 0 : 1e15)),
      waiting: numbers(() => (random() < 0.5 ? Number.POSITIVE_INFINITY : 1e300)),
      kvUsage: numbers(() => random() * 3 - 1),
    }),
  };
}

function someAdapters(chance: number): AdapterFacts {
  const running = new Set(chance < 0.6 ? ["base"] : ["adapter", "another"]);
  const names = chance < 0.8 ? new Set(["adapter"]) : undefined;
  return { names, use: chance < 0.5 ? undefined : { running, waiting: new Set(["waiting"]), max: 3 } };
}

function someEndpoint(slot: number, random: () => number): Endpoint {
  const phase = random() < 0.7 ? "ready" : random() < 0.5 ? "starting" : "not-ready";
  return makeEndpoint(slot, {
    phase,
    models: random() < 0.7 ? ["base", "adapter"] : [],
    labels: { zone: random() < 0.5 ? "a" : "b", "llm-d.ai/context-length-range": random() < 0.5 ? "0-4000" : "none" },
  });
}

function someRequest(count: number, random: () => number): InferenceRequest {
  const blocks = random() < 0.3 ? 0 : 1 + Math.floor(random() * 500);
  const matched = Array.from({ length: count }, () => Math.floor(random() * (blocks + 1)));
  const prefix = makePrefix(blocks, 16, matched);
  return makeRequest({
    target: random() < 0.4 ? "base" : random() < 0.7 ? "adapter" : "unlisted",
    promptTokens: Math.floor(random() * 10_000),
    prefix,
    body: new Uint8Array(64),
  });
}
