import assert from "node:assert/strict";
import { test } from "node:test";
import type { EndpointRecord } from "signalbox/plugin";
import { createPlugin } from "signalbox/test-kit";
import plugin from "./plugin.ts";

const record = (excessMs: number) => ({ excessMs }) as EndpointRecord;
const detector = createPlugin(plugin);

const cases = [
  { name: "one that is much slower", own: 3000, others: [100, 300], reason: "waits of 3000 ms, 200 ms elsewhere" },
  { name: "one that is a little slower", own: 590, others: [300, 300], reason: undefined },
  { name: "one whose waits are short", own: 400, others: [10], reason: undefined },
  { name: "one of which nothing is known", own: Number.NaN, others: [10], reason: undefined },
  { name: "one that is alone", own: 3000, others: [], reason: undefined },
];
for (const { name, own, others, reason } of cases)
  test(name, () => assert.equal(detector.detect(record(own), others.map(record)), reason));
