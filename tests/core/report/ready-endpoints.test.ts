import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import { nameSet } from "../../../core/contract/name-set.ts";
import { readyEndpoints } from "../../../core/report/ready-endpoints.ts";
import { makeEndpoints } from "../../support/endpoints.ts";

const serving = (count: number, model: string) =>
  makeEndpoints(count).map((endpoint) => ({ ...endpoint, models: nameSet([model]) }));
const POOLS = new Map<string, readonly Endpoint[]>([
  ["own", [...serving(2, "m"), ...serving(1, "m").map((endpoint) => ({ ...endpoint, isAvailable: false }))]],
  ["canary", serving(1, "m")],
]);

describe("endpoints that serve a target now", () => {
  const rows: readonly (readonly [name: string, target: { name: string; pool?: string }, count: number])[] = [
    ["of all pools", { name: "m" }, 3],
    ["of its own pool", { name: "m", pool: "canary" }, 1],
    ["of a pool that is gone", { name: "m", pool: "x" }, 0],
    ["of a model that nobody lists", { name: "n" }, 0],
  ];
  for (const [name, target, count] of rows) it(name, () => assert.equal(readyEndpoints(target, POOLS), count));
});
