import assert from "node:assert/strict";
import { createServer, type Socket } from "node:net";
import { after, before, describe, it } from "node:test";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import { parseEndpointUrl } from "../../../core/contract/endpoint-url.ts";
import { makeEndpoint } from "../../../core/contract/test-kit.ts";
import { DEFAULT_LIMITS } from "../../../core/settings.ts";
import { UpstreamPools } from "../../../core/wire/upstream-pools.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { waitUntil } from "../../support/router.ts";

const UNHEARD = { unasked() {}, tlsFailed() {} };
const sockets = new Set<Socket>();
const server = createServer((socket) => {
  sockets.add(socket);
  socket.on("error", () => {});
  socket.on("close", () => sockets.delete(socket));
  socket.resume();
});
let url = "";
before(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  url = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
});
after(() => server.close());

const endpointAt = (path: string): Endpoint => makeEndpoint(0, { url: parseEndpointUrl(`${url}${path}`) });

describe("pools that are replaced while connections are in use", () => {
  const changes: readonly { readonly name: string; readonly change: (pools: UpstreamPools) => void }[] = [
    { name: "the endpoint is removed", change: (pools) => pools.follow([]) },
    { name: "the endpoint has another address", change: (pools) => void pools.of(endpointAt("/other")) },
  ];
  for (const { name, change } of changes) {
    it(`${name}: they stay open, and end with the router`, async () => {
      const pools = new UpstreamPools(DEFAULT_LIMITS, new FakeClock(), UNHEARD);
      pools.of(endpointAt("")).take(true);
      await waitUntil(() => sockets.size === 1);
      change(pools);
      pools.follow([endpointAt("")]);
      assert.equal([...sockets][0]!.destroyed, false);
      pools.close();
      await waitUntil(() => sockets.size === 0);
    });
  }
});

it("an endpoint whose new address is not ready says nothing of what is under way at the old one", () => {
  const pools = new UpstreamPools(DEFAULT_LIMITS, new FakeClock(), UNHEARD);
  const old = pools.of(endpointAt(""));
  old.take(true);
  pools.follow([{ ...endpointAt("/other"), phase: "starting" }]);
  assert.equal(old.goneSinceMs, Number.POSITIVE_INFINITY);
  pools.follow([{ ...endpointAt("/other"), phase: "not-ready" }]);
  assert.equal(old.goneSinceMs, Number.POSITIVE_INFINITY);
  pools.close();
});

it("what is under way from before an endpoint left and came back is known by its address", async () => {
  const pools = new UpstreamPools(DEFAULT_LIMITS, new FakeClock(), UNHEARD);
  const endpoint = endpointAt("");
  const old = pools.of(endpoint);
  const busy = old.take(true)!;
  await waitUntil(() => sockets.size === 1);
  assert.equal(pools.leftOpenAt(endpoint), 0, "it has not left");
  pools.follow([]);
  pools.follow([{ ...endpoint, slot: 1 }]);
  assert.deepEqual([pools.leftOpenAt(endpoint), pools.leftOpenAt(endpointAt("/other"))], [1, 0]);
  old.idle(busy);
  assert.equal(pools.leftOpenAt(endpoint), 0, "its request has ended");
  pools.close();
  await waitUntil(() => sockets.size === 0);
});

describe("other limits", () => {
  it("hold for the pools that there are, and for new ones", () => {
    const clock = new FakeClock();
    const pools = new UpstreamPools(DEFAULT_LIMITS, clock, UNHEARD);
    assert.ok(pools.of(endpointAt("")).take(true));
    pools.useLimits({ ...DEFAULT_LIMITS, upstreamConnections: 1 });
    assert.equal(pools.of(endpointAt("")).take(true), undefined);
    pools.of(endpointAt("/other"));
    pools.useLimits(DEFAULT_LIMITS);
    assert.ok(pools.of(endpointAt("/other")).take(true));
    pools.close();
    assert.equal(clock.pending, 0);
  });
});

describe("a spare connection", () => {
  it("is a new one while one is idle, and the one that is idle for the longest time when there are more", () => {
    const pool = new UpstreamPools(DEFAULT_LIMITS, new FakeClock(), UNHEARD).of(endpointAt(""));
    const [one, two] = [pool.take(true)!, pool.take(true)!];
    pool.idle(one);
    const spare = pool.takeSpare();
    assert.ok(spare !== undefined && spare !== one && spare !== two);
    pool.idle(two);
    assert.equal(pool.takeSpare(), one);
    assert.equal(pool.take(false), two);
    pool.close();
  });

  it("is none while three quarters are in use", () => {
    const pool = new UpstreamPools({ ...DEFAULT_LIMITS, upstreamConnections: 4 }, new FakeClock(), UNHEARD).of(endpointAt(""));
    const [first] = [pool.take(true)!, pool.take(true)!, pool.take(true)!];
    assert.equal(pool.takeSpare(), undefined);
    pool.idle(first);
    assert.ok(pool.takeSpare());
    pool.close();
  });
});
