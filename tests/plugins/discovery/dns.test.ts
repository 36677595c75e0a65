import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { EndpointSpec } from "../../../core/contract/endpoint.ts";
import { makeHost } from "../../../core/contract/test-kit.ts";
import dns from "../../../plugins/discovery/dns.ts";
import { collectedLog } from "../../support/collected-log.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { startNameServer } from "../../support/name-server.ts";
import { createPlugin, issuesOf } from "../../support/plugins.ts";
import { waitUntil } from "../../support/router.ts";

const TIMEOUT = { timeout: 30_000 };
const HOST = "vllm.test.example";

/** The discovery over a name server, on a clock that the test moves. */
async function setUp(parameters: Record<string, unknown>) {
  const server = await startNameServer();
  const clock = new FakeClock();
  const log = collectedLog();
  const stopping = new AbortController();
  const found: (readonly EndpointSpec[])[] = [];
  const host = makeHost({ clock, log, signal: stopping.signal });
  const plugin = createPlugin(dns, { host: HOST, servers: [server.address], ...parameters }, host);
  const stop = () => {
    stopping.abort();
    plugin.dispose?.();
  };
  after(() => {
    stop();
    server.close();
  });
  /** Resolves when the next question is planned, so that the last one is answered. */
  const settled = () => waitUntil(() => clock.pending === 1 && !isAsking());
  /** The wait for an answer has eight steps. */
  const isAsking = () => clock.nextMs - clock.now() === 10_000 / 8;
  const next = async (ms: number) => {
    await clock.advance(ms);
    await settled();
  };
  const start = async () => {
    plugin.start((specs) => found.push(specs));
    await settled();
  };
  return { plugin, server, clock, log, found, start, next, settled, stop };
}

const urls = (specs: readonly EndpointSpec[]) => specs.map(({ url }) => url);

describe("the dns discovery", () => {
  it("finds the addresses of A records, with port, labels and names", TIMEOUT, async () => {
    const { server, found, start } = await setUp({ record: "A", port: 8000, labels: { zone: "a" } });
    server.names.set(HOST, { ttl: 5, A: ["10.0.0.2", "10.0.0.1"] });
    await start();
    assert.deepEqual(found, [
      [
        { name: "10.0.0.1-8000", url: "http://10.0.0.1:8000", labels: { zone: "a" } },
        { name: "10.0.0.2-8000", url: "http://10.0.0.2:8000", labels: { zone: "a" } },
      ],
    ]);
  });

  it("finds the addresses of AAAA records, each with a name of its own", TIMEOUT, async () => {
    const { server, found, start } = await setUp({ record: "AAAA", port: 8000 });
    server.names.set(HOST, { ttl: 5, AAAA: ["fd00:0:0:0:0:0:1:2", "fd00:0:0:0:0:1:0:2"] });
    await start();
    assert.deepEqual(urls(found[0]!).sort(), ["http://[fd00::1:0:2]:8000", "http://[fd00::1:2]:8000"]);
    assert.equal(new Set(found[0]!.map(({ name }) => name)).size, 2);
  });

  it("finds the targets of SRV records with their ports, and leaves out one without an address", TIMEOUT, async () => {
    const { server, found, start } = await setUp({ record: "SRV" });
    const SRV = ["a", "b", "c", "gone"].map((pod, index) => ({ target: `${pod}.${HOST}`, port: 8000 + index }));
    server.names.set(HOST, { ttl: 5, SRV });
    server.names.set(`a.${HOST}`, { ttl: 5, A: ["10.0.0.1"] });
    server.names.set(`b.${HOST}`, { ttl: 5, A: ["10.0.0.2", "10.0.0.3"] });
    server.names.set(`c.${HOST}`, { ttl: 5, AAAA: ["fd00:0:0:0:0:0:0:1"] });
    await start();
    assert.deepEqual(
      found[0]!.map(({ name, url }) => `${name} ${url}`),
      [
        `a.${HOST}-8000 http://10.0.0.1:8000`,
        `b.${HOST}-10.0.0.2-8001 http://10.0.0.2:8001`,
        `b.${HOST}-10.0.0.3-8001 http://10.0.0.3:8001`,
        `c.${HOST}-8002 http://[fd00::1]:8002`,
      ],
    );
  });

  it("asks again after the TTL, and reports only what has changed", TIMEOUT, async () => {
    const { server, found, start, next } = await setUp({ record: "A", port: 8000 });
    server.names.set(HOST, { ttl: 7, A: ["10.0.0.1", "10.0.0.2"] });
    await start();
    assert.equal(server.asked.length, 1);
    server.names.set(HOST, { ttl: 7, A: ["10.0.0.2", "10.0.0.1"] });
    await next(6_999);
    assert.equal(server.asked.length, 1);
    await next(1);
    assert.equal(server.asked.length, 2);
    server.names.set(HOST, { ttl: 7, A: ["10.0.0.2", "10.0.0.3"] });
    await next(7_000);
    assert.deepEqual(found.map(urls), [
      ["http://10.0.0.1:8000", "http://10.0.0.2:8000"],
      ["http://10.0.0.2:8000", "http://10.0.0.3:8000"],
    ]);
  });

  for (const [ttl, seconds] of [
    [0, 2],
    [3_600, 20],
  ] as const) {
    it(`asks again after ${seconds} seconds, a bound of the config, when the TTL is ${ttl}`, TIMEOUT, async () => {
      const { server, start, next } = await setUp({ record: "A", port: 8000, minSeconds: 2, maxSeconds: 20 });
      server.names.set(HOST, { ttl, A: ["10.0.0.1"] });
      await start();
      await next(seconds * 1_000 - 1);
      assert.equal(server.asked.length, 1);
      await next(1);
      assert.equal(server.asked.length, 2);
    });
  }

  for (const fault of ["fail", "no such name", "no records"] as const) {
    it(`keeps the last answer when the server says: ${fault}; warns once, asks ever more seldom, recovers`, TIMEOUT, async () => {
      const { plugin, server, found, log, start, next } = await setUp({ record: "A", port: 8000 });
      const good = { ttl: 5, A: ["10.0.0.1"] };
      server.names.set(HOST, good);
      await start();
      if (fault === "fail") server.mode = "fail";
      else if (fault === "no records") server.names.set(HOST, { ttl: 5 });
      else server.names.delete(HOST);
      await next(5_000);
      for (const seconds of [2, 4, 8, 16, 30, 30]) await next(seconds * 1_000);
      assert.equal(log.lines.filter((line) => line.startsWith("warning: The name can't be resolved; the last")).length, 1);
      assert.match(plugin.trouble?.text ?? "", /^The name .+ can't be resolved: ./);
      server.mode = "answer";
      server.names.set(HOST, { ttl: 5, A: ["10.0.0.9"] });
      await next(30_000);
      assert.equal(plugin.trouble, undefined);
      assert.match(log.lines.at(-2)!, /resolved again/);
      assert.deepEqual(found.map(urls), [["http://10.0.0.1:8000"], ["http://10.0.0.9:8000"]]);
    });
  }

  it("gives up an answer that does not come, and asks again", TIMEOUT, async () => {
    const { server, clock, found, log, start, settled } = await setUp({ record: "A", port: 8000 });
    server.names.set(HOST, { ttl: 5, A: ["10.0.0.1"] });
    await start();
    server.mode = "silent";
    await clock.advance(5_000);
    await waitUntil(() => server.asked.length >= 2);
    await clock.advance(10_000);
    await settled();
    assert.equal(log.lines.filter((line) => /Nobody answers/.test(line)).length, 1);
    assert.equal(found.length, 1);
  });

  it("has the last answer at once after a reload with the same question, and not with another one", TIMEOUT, async () => {
    const server = await startNameServer();
    after(() => server.close());
    server.names.set(HOST, { ttl: 5, A: ["10.0.0.1"] });
    let state: unknown;
    const keep = <State>(_version: number, make: () => State): State => {
      state ??= make();
      return state as State;
    };
    const startOne = (port: number, labels: Record<string, string>) => {
      const clock = new FakeClock();
      const found: (readonly EndpointSpec[])[] = [];
      const plugin = createPlugin(
        dns,
        { host: HOST, record: "A", port, labels, servers: [server.address] },
        makeHost({ clock, keep }),
      );
      plugin.start((specs) => found.push(specs));
      after(() => plugin.dispose?.());
      return found;
    };
    const first = startOne(8000, {});
    assert.deepEqual(first, []);
    await waitUntil(() => first.length === 1);
    const second = startOne(8000, { zone: "b" });
    assert.deepEqual(second, [[{ name: "10.0.0.1-8000", url: "http://10.0.0.1:8000", labels: { zone: "b" } }]]);
    assert.deepEqual(startOne(9000, {}), []);
  });

  it("asks no more once it is stopped", TIMEOUT, async () => {
    const { server, clock, start, stop } = await setUp({ record: "A", port: 8000 });
    server.names.set(HOST, { ttl: 5, A: ["10.0.0.1"] });
    await start();
    stop();
    await clock.advance(60_000);
    assert.equal(server.asked.length, 1);
    assert.equal(clock.pending, 0);
  });

  it("wants a port for addresses and none for services", () => {
    const valid = [
      { host: HOST, record: "A", port: 1 },
      { host: HOST, record: "SRV" },
    ];
    const invalid = [
      {},
      { host: HOST },
      { host: HOST, record: "A" },
      { host: HOST, record: "SRV", port: 1 },
      { host: HOST, record: "MX" },
      { host: HOST, record: "SRV", minSeconds: 0 },
    ];
    for (const each of valid) assert.deepEqual(issuesOf(dns, each), []);
    for (const each of invalid) assert.ok(issuesOf(dns, each).length > 0, JSON.stringify(each));
    assert.throws(() => createPlugin(dns, { host: HOST, record: "SRV", servers: ["nonsense"] }), /servers/);
    assert.throws(() => createPlugin(dns, { host: HOST, record: "SRV", minSeconds: 5, maxSeconds: 1 }), /minSeconds/);
  });
});
