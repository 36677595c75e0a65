import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import topologyFilter from "../../../plugins/filters/topology-filter.ts";
import topologyScorer from "../../../plugins/scorers/topology-scorer.ts";
import { makeEndpoint, makeHeaders, makeLoad, makeRequest } from "../../support/endpoints.ts";
import { createPlugin, issuesOf } from "../../support/plugins.ts";

const NAMES = { host: "kubernetes.io/hostname", rack: "topology.kubernetes.io/rack" };
const ZONE = "topology.kubernetes.io/zone";
const REGION = "topology.kubernetes.io/region";

const pool = [
  { [NAMES.host]: "n1", [NAMES.rack]: "r1", [ZONE]: "a", [REGION]: "eu" },
  { [NAMES.host]: "n2", [NAMES.rack]: "r1", [ZONE]: "a", [REGION]: "eu" },
  { [NAMES.host]: "n3", [NAMES.rack]: "r2", [ZONE]: "a", [REGION]: "eu" },
  { [NAMES.host]: "n4", [ZONE]: "b", [REGION]: "eu" },
  { [ZONE]: "c", [REGION]: "us" },
  {},
].map((labels, slot) => makeEndpoint(slot, { labels: labels as Readonly<Record<string, string>> }));

const HEADER = { peerTopologyHeader: "X-Peer-Topology" };
const asking = (text?: string) => makeRequest({ headers: makeHeaders(text === undefined ? {} : { "x-peer-topology": text }) });
const keptBy = (parameters: object, text?: string) =>
  createPlugin(topologyFilter, parameters)
    .filter(asking(text), pool, makeLoad(6), Math.random)
    .map(({ slot }) => slot);
const scoresBy = (parameters: object, text?: string) =>
  createPlugin(topologyScorer, parameters).score(asking(text), pool, makeLoad(6));

const ALL = [0, 1, 2, 3, 4, 5];
const HERE = "host=n1,rack=r1,zone=a,region=eu";

describe("what stays", () => {
  const cases: readonly [name: string, parameters: object, text: string | undefined, kept: readonly number[]][] = [
    ["on the same host", HEADER, HERE, [0]],
    ["in the same rack", { ...HEADER, minAffinity: "rack" }, HERE, [0, 1]],
    ["in the same zone", { ...HEADER, minAffinity: "zone" }, HERE, [0, 1, 2]],
    ["in the same region", { ...HEADER, minAffinity: "region" }, HERE, [0, 1, 2, 3]],
    ["all where none is near", HEADER, "host=n9,zone=a", ALL],
    ["all where the request says nothing", HEADER, undefined, ALL],
    ["all where it says nothing that is known", HEADER, "planet=earth,host=,=,,", ALL],
    ["near the router", { near: { zone: "b" }, minAffinity: "zone" }, undefined, [3]],
    ["near what the request asks first", { ...HEADER, near: { zone: "b" }, minAffinity: "zone" }, "zone=c", [4]],
    ["else near the router", { ...HEADER, near: { zone: "b" }, minAffinity: "zone" }, "nonsense", [3]],
    ["by labels with other names", { near: { host: "us" }, labels: { host: REGION } }, undefined, [4]],
    ["spaces and repeated levels", { ...HEADER, minAffinity: "zone" }, " zone = a ,zone= b ", [3]],
    ["a value with an equals sign matches as it is", { ...HEADER }, "host=n=1", ALL],
    [
      "a label that every object has",
      { near: { zone: "x" }, labels: { zone: "constructor" }, minAffinity: "zone" },
      undefined,
      ALL,
    ],
    ["a long hostile text", HEADER, `${"host=n1;".repeat(2_000)}${",zone=a".repeat(2_000)}`, ALL],
  ];
  for (const [name, parameters, text, kept] of cases) it(name, () => assert.deepEqual(keptBy(parameters, text), kept));
});

describe("scores", () => {
  const cases: readonly [name: string, parameters: object, text: string | undefined, scores: readonly number[] | null][] = [
    ["host, rack, zone, region, nothing", HEADER, HERE, [1, 0.2, 0.05, 0.02, 0, 0]],
    ["by zone alone", { near: { zone: "a" } }, undefined, [0.05, 0.05, 0.05, 0, 0, 0]],
    ["no opinion where nothing says what to be near to", HEADER, undefined, null],
  ];
  for (const [name, parameters, text, scores] of cases) it(name, () => assert.deepEqual(scoresBy(parameters, text), scores));
});

test("an empty label is near to nothing, not even to another", () => {
  const endpoints = [makeEndpoint(0, { labels: { [ZONE]: "" } }), makeEndpoint(1, { labels: { [ZONE]: "a" } })];
  const filter = createPlugin(topologyFilter, { ...HEADER, minAffinity: "zone" });
  assert.deepEqual(
    filter.filter(asking("zone=,region=x"), endpoints, makeLoad(2), Math.random).map(({ slot }) => slot),
    [0, 1],
  );
});

test("parameters that are refused", () => {
  const pathOf = (parameters: object) => issuesOf(topologyFilter, parameters)[0]?.path?.join(".");
  assert.equal(pathOf({}), "near");
  assert.equal(pathOf({ near: {} }), "near");
  assert.equal(pathOf({ ...HEADER, minAffinity: "node" }), "minAffinity");
  assert.equal(pathOf({ peerTopologyHeader: "x peer" }), "peerTopologyHeader");
  assert.equal(pathOf({ near: { zone: "" } }), "near.zone");
  assert.equal(pathOf({ near: { hostname: "a" } }), "near");
});
