import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseEndpointUrl } from "../../../../core/contract/endpoint-url.ts";
import type { Source } from "../../../../core/contract/source.ts";
import { Prober } from "../../../../core/control/readiness/prober.ts";
import { groupSources } from "../../../../core/control/readiness/source-facts.ts";
import { PROBE_DEFAULTS } from "../../../../core/settings/tables.ts";
import { LoadTable } from "../../../../core/state/load.ts";
import { GetError } from "../../../../core/wire/get-error.ts";
import type { HttpGet } from "../../../../core/wire/http-get-result.ts";
import { collectedLog } from "../../../support/collected-log.ts";
import { makeEndpoint } from "../../../support/endpoints.ts";
import { FakeClock } from "../../../support/fake-clock.ts";

/** A source on another server, at the address that a label names. */
const exporter = (more: Partial<Source> = {}): Source => ({
  path: "/metrics",
  periodMs: 1_000,
  origin: {
    name: "<gpu>",
    urlFor({ labels: { gpu } }) {
      if (gpu === undefined) throw new Error("It has no label gpu");
      return parseEndpointUrl(gpu);
    },
  },
  read: (body, { name }) => ({ attributes: { [name]: Number(body) } }),
  ...more,
});

const metrics: Source = { path: "/metrics", periodMs: 1_000, read: (body) => ({ waiting: Number(body) }) };

function setup(sources: readonly Source[]) {
  const clock = new FakeClock();
  const load = new LoadTable();
  const log = collectedLog();
  const bodies = new Map<string, string>();
  const calls: { readonly name: string | undefined; readonly url: string; readonly path: string }[] = [];
  const get: HttpGet = async ({ name, url }, path) => {
    calls.push({ name, url: url.href, path });
    if (bodies.get(`${url.href}${path}`) === "refused") throw new GetError("refused", "as the test asked");
    const body = bodies.get(`${url.href}${path}`) ?? (path === "/metrics" ? "" : "ok");
    return { status: 200, body };
  };
  const options = { clock, load, log, get, random: () => 0, probes: PROBE_DEFAULTS, changed: () => {} };
  const prober = new Prober({ ...options, sources });
  const target = (labels: Readonly<Record<string, string>>) =>
    makeEndpoint(0, { name: "a", url: parseEndpointUrl("http://a:8000"), labels });
  return { clock, load, log, bodies, calls, prober, target };
}

const GPU_1 = { gpu: "http://node1:9400" };

describe("a source with a server of its own", () => {
  it("is read there, under no replica's name, beside the replica's own path", async () => {
    const { clock, load, bodies, calls, prober, target } = setup([metrics, exporter()]);
    bodies.set("http://a:8000/metrics", "3").set("http://node1:9400/metrics", "0.5");
    prober.watch([target(GPU_1)]);
    await clock.advance(10);
    const read = calls.filter(({ path }) => path === "/metrics").map(({ name, url }) => `${name} ${url}`);
    assert.deepEqual(read.sort(), ["a http://a:8000", "undefined http://node1:9400"]);
    assert.deepEqual([load.waiting[0], load.attributes[0]?.get("a")], [3, 0.5]);
    prober.stop();
    assert.equal(load.attributes[0]?.size, 0);
  });

  it("follows the replica's labels", async () => {
    const { clock, load, bodies, prober, target } = setup([exporter()]);
    bodies.set("http://node1:9400/metrics", "0.5").set("http://node2:9400/metrics", "0.75");
    prober.watch([target(GPU_1)]);
    await clock.advance(10);
    prober.watch([target({ gpu: "http://node2:9400" })]);
    await clock.advance(5_000);
    assert.equal(load.attributes[0]?.get("a"), 0.75);
    prober.stop();
  });

  it("that can't be read is told once, until it could be read again", async () => {
    const { clock, load, bodies, log, prober, target } = setup([exporter()]);
    const causes = () => log.lines.map((line) => line.replace(/^.*"cause":/, ""));
    bodies.set("http://node1:9400/metrics", "0.5");
    prober.watch([target({})]);
    await clock.advance(200_000);
    prober.watch([target({ gpu: "nonsense" })]);
    await clock.advance(200_000);
    assert.deepEqual(causes(), ['"It has no label gpu"}']);
    assert.deepEqual(prober.of(target({}))?.unreadableSources, ["<gpu>/metrics"]);
    prober.watch([target(GPU_1)]);
    await clock.advance(200_000);
    assert.equal(load.attributes[0]?.get("a"), 0.5);
    assert.deepEqual(prober.of(target({}))?.unreadableSources, []);
    prober.watch([target({ gpu: "nonsense" })]);
    await clock.advance(200_000);
    assert.equal(causes().length, 2);
    assert.match(causes()[1]!, /starts with http/);
    assert.equal(load.attributes[0]?.size, 0);
    prober.stop();
  });

  it("that nobody answers is told too, because no probe asks it", async () => {
    const { clock, log, prober, target, bodies } = setup([exporter()]);
    bodies.set("http://node1:9400/metrics", "refused");
    prober.watch([target(GPU_1)]);
    await clock.advance(100_000);
    assert.deepEqual(
      log.lines.map((line) => line.replace(/^.*"cause":/, "")),
      ['"refused"}'],
    );
    prober.stop();
  });

  it("attributes that are no numbers are left out, and numbers of several sources come together", async () => {
    const strange: Source = {
      path: "/x",
      periodMs: 1_000,
      read: () => ({ attributes: { b: 7, c: Number.NaN, d: "8" as unknown as number } }),
    };
    const { clock, load, bodies, prober, target } = setup([exporter(), strange]);
    bodies.set("http://node1:9400/metrics", "0.5");
    prober.watch([target(GPU_1)]);
    await clock.advance(10);
    assert.deepEqual([...(load.attributes[0] ?? [])].sort(), [
      ["a", 0.5],
      ["b", 7],
    ]);
    prober.stop();
  });
});

describe("groups", () => {
  const probe = { path: "/metrics", periodMs: 7 };
  it("one for each server and path; another server's path is not the probe's", () => {
    const groups = groupSources([metrics, exporter(), exporter({ periodMs: 500 }), { ...metrics, path: "/x" }], probe);
    assert.deepEqual(
      groups.map(({ id, path, periodMs, sources }) => [id, path, periodMs, sources.length]),
      [
        ["/metrics", "/metrics", 7, 1],
        ["<gpu>/metrics", "/metrics", 500, 2],
        ["/x", "/x", 1_000, 1],
      ],
    );
  });
});

it("what a source leaves out is told when it begins to, and again only after it left out nothing", async () => {
  const odd: Source = { path: "/metrics", periodMs: 1_000, read: (body) => (body === "" ? {} : { leftOut: body }) };
  const { clock, log, prober, target, bodies } = setup([odd]);
  const say = async (text: string) => {
    bodies.set("http://a:8000/metrics", text);
    await clock.advance(20_000);
  };
  prober.watch([target({})]);
  for (const text of ["", "one", "two", "", "three"]) await say(text);
  assert.deepEqual(
    log.lines.map((line) => line.replace(/^.*"cause":/, "")),
    ['"one"}', '"three"}'],
  );
  assert.deepEqual(prober.of(target({}))?.leftOut, ["three"]);
  prober.stop();
});
