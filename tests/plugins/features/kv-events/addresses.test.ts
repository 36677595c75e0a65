import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { configuredAddresses, toldAddresses } from "../../../../plugins/features/kv-events/addresses.ts";
import type { KvEventsSettings } from "../../../../plugins/features/kv-events/kv-events-config.ts";
import { makeEndpoint } from "../../../support/endpoints.ts";

const endpoint = makeEndpoint(0);
const BEYOND = /ports beyond 65535/;

describe("the ports of events", () => {
  it("are one after the other for ranks, and never beyond the last port there is", () => {
    const at = (port: number, ranks: number, replayPort = 0) => {
      const settings = { port, replayPort, ranks, label: "", replayLabel: "" } as KvEventsSettings;
      return configuredAddresses(endpoint, settings)!.map(({ url }) => url.port);
    };
    assert.deepEqual(at(65_532, 4), [65_532, 65_533, 65_534, 65_535]);
    assert.throws(() => at(65_533, 4), BEYOND);
    assert.throws(() => at(5_557, 4, 65_533), BEYOND);
  });

  it("are as a replica tells, whatever ranks it names", () => {
    const told = (ranks: readonly unknown[]) =>
      toldAddresses(JSON.stringify(ranks.map((rank) => ({ endpoint: "tcp://*:5557", data_parallel_rank: rank }))), endpoint).map(
        ({ url }) => url.port,
      );
    assert.deepEqual(told([0, 1, 2]), [5_557, 5_558, 5_559]);
    for (const rank of [9e15, 2 ** 53, -1, 0.5, "x"]) assert.deepEqual(told([0, rank]), [5_557, 5_557], String(rank));
    assert.throws(() => told([0, 65_535]), BEYOND);
  });
});
