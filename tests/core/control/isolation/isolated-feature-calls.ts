import type { RouterError } from "../../../../core/contract/errors.ts";
import type { Feature } from "../../../../core/contract/feature.ts";
import type { WaitOwner } from "../../../../core/contract/slots/admit.ts";
import type { RequestRun } from "../../../../core/contract/slots/request-run.ts";
import { makeEndpoints, makeLoad, makeRequest } from "../../../../core/contract/test-kit.ts";
import { isolatedFeature } from "../../../../core/control/isolation/isolated-feature.ts";
import { Outside } from "../../../../core/control/isolation/outside.ts";
import { ReadOnlyViews } from "../../../../core/control/isolation/read-only-views.ts";
import { makeDecision, makeOutcome } from "../../../../core/test-kit/records.ts";
import { FakeClock } from "../../../support/fake-clock.ts";
import { makeView } from "../../../support/view.ts";
import { requestHead } from "../../../support/wire-heads.ts";

export const makeRun = (): RequestRun & { readonly parts: object } => ({
  ticket: makeOutcome(),
  head: requestHead(["x-tier: gold"]),
  query: "",
  peer: "127.0.0.1",
  dialect: "openai",
  body: { bytes: new Uint8Array([1, 2]), span: () => undefined },
  parsed: makeRequest(),
  parts: { secret: true },
});

export const response = () => {
  const inserted: Uint8Array[] = [];
  return {
    inserted,
    ...{ status: 200, headers: requestHead(["etag: 1"]), length: -1, isEventStream: true, isBetweenEvents: true },
    insert: (bytes: Uint8Array) => inserted.push(bytes) > 0,
  };
};

export const compared = () => ({
  request: makeRequest(),
  load: makeLoad(2),
  profile: { name: "default" },
  random: Math.random,
  decide: () => makeDecision(),
});

export const owner = (said: unknown[] = []): WaitOwner => ({
  admitted: () => void said.push("admitted"),
  failed: (why) => void said.push(why),
});

/** The feature behind its guard, and what was reported of it. */
export function behind(feature: object) {
  const reports: string[] = [];
  const clock = new FakeClock();
  const faults = { report: (plugin: string, fault: string) => void reports.push(`${plugin}: ${fault}`) };
  const outside = new Outside({ name: "mine", file: "", views: new ReadOnlyViews(), clock, faults, waitMs: 1_000 });
  return { reports, clock, plugin: isolatedFeature(feature as Feature, outside) as Required<Feature> };
}

/** Calls a slot as the router does. */
export const CALLS: Readonly<Record<string, (plugin: Required<Feature>) => unknown>> = {
  enter: (plugin) => plugin.enter(makeRun()),
  admit: (plugin) => plugin.admit(makeRun(), owner()),
  admitAgain: (plugin) => plugin.admitAgain(makeRun(), owner()),
  answer: (plugin) => plugin.answer(makeRun()),
  compare: (plugin) => plugin.compare(makeRun(), compared()).model,
  copy: (plugin) => plugin.copy(makeRun(), makeRequest(), () => makeDecision()),
  tap: (plugin) => plugin.tap(makeRun(), response()),
  lines: (plugin) => plugin.lines(makeRun()),
  settled: (plugin) => plugin.settled(makeOutcome()),
  explain: (plugin) => plugin.explain(makeOutcome()),
  status: (plugin) => plugin.status(undefined, undefined),
  warnings: (plugin) => plugin.warnings(makeView(makeEndpoints(1))),
  metrics: (plugin) => plugin.metrics(makeView(makeEndpoints(1))),
  notes: (plugin) => plugin.notes("rule"),
  configured: (plugin) => plugin.configured({ pool: "default" }),
  endpointsChanged: (plugin) => plugin.endpointsChanged(makeEndpoints(2)),
  lost: (plugin) => plugin.lost(makeRun(), makeEndpoints(1)[0]!, 5),
  freesBody: (plugin) => plugin.freesBody(makeRun()),
  replicaGone: (plugin) => plugin.replicaGone(makeEndpoints(1)[0]!),
  stopAnnounced: (plugin) => plugin.stopAnnounced(),
  closed: (plugin) => plugin.closed(),
};

export const fail = () => {
  throw new Error("broken on purpose");
};

export const faultOf = (thrown: unknown) => (thrown as RouterError).fault?.text;
