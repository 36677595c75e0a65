import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import fc from "fast-check";
import { type NextStep, nextStep, type TryEvent, type TryState } from "../../../core/forward/retry-policy.ts";
import type { UpstreamFailure } from "../../../core/wire/response-reader.ts";

const FIRST: TryState = {
  hasStarted: false,
  wasDelivered: false,
  hasSpare: true,
  retriesLeft: 2,
  hasBudget: true,
  mayTryFresh: true,
  mayHaveDied: false,
  mayLeaveWedged: false,
};
const UNDELIVERED: readonly UpstreamFailure[] = ["connect-failed", "connect-timeout"];
const DELIVERED: readonly UpstreamFailure[] = ["reset", "timeout", "gone", "invalid"];

const failed = (failure: UpstreamFailure, isDelivered = !UNDELIVERED.includes(failure)): TryEvent => ({
  type: "failed",
  failure,
  isDelivered,
});
const missing = (isConfigured: boolean): TryEvent => ({ type: "missing", isConfigured });
const NOTHING_LEFT = { retriesLeft: 0, hasBudget: false, hasSpare: false };
const status = (code: number): TryEvent => ({ type: "status", status: code });

describe("the next step", () => {
  const rows: readonly (readonly [name: string, event: TryEvent, state: Partial<TryState>, step: NextStep])[] = [
    ...UNDELIVERED.flatMap((failure) => [
      [`${failure}: the next replica`, failed(failure), {}, "next"] as const,
      [`${failure} without a spare`, failed(failure), { hasSpare: false }, "fail"] as const,
      [`${failure} without a retry left`, failed(failure), { retriesLeft: 0 }, "fail"] as const,
      [`${failure} after a delivered try: no other replica gets it`, failed(failure), { wasDelivered: true }, "fail"] as const,
    ]),
    ...DELIVERED.map((failure) => [`${failure}: the replica may have processed it`, failed(failure), {}, "fail"] as const),
    ["stale: once more on the same replica", failed("stale"), {}, "fresh"],
    ["stale, nothing else left: the same", failed("stale"), NOTHING_LEFT, "fresh"],
    ["stale, and it had closed the connection before: the same", failed("stale", false), {}, "fresh"],
    ["stale, where no further delivery is allowed", failed("stale"), { mayTryFresh: false }, "fail"],
    ["stale and closed before, where no further try is allowed", failed("stale", false), { mayTryFresh: false }, "fail"],
    ...UNDELIVERED.map(
      (failure) =>
        [`${failure} behind stale: it may have died of the request`, failed(failure), { mayHaveDied: true }, "fail"] as const,
    ),
    ["nothing sent behind stale: the same", { type: "not-sent" }, { mayHaveDied: true }, "fail"],
    ["reset behind stale", failed("reset"), { mayHaveDied: true }, "fail"],
    ["wedged: it may have been worked on", failed("wedged"), {}, "fail"],
    ["wedged, and the config lets it leave", failed("wedged"), { mayLeaveWedged: true }, "next"],
    ["503 without budget: the client sees it", status(503), { hasBudget: false }, "relay"],
    ["connect-failed without budget: it cost no replica anything", failed("connect-failed"), { hasBudget: false }, "next"],
    ["503: the next replica", status(503), {}, "next"],
    ["429: the next replica", status(429), {}, "next"],
    ["503 without a spare: the client gets it", status(503), { hasSpare: false }, "relay"],
    ["503 without a retry left: the client gets it", status(503), { retriesLeft: 0 }, "relay"],
    ["503 after a delivered try: the client gets it", status(503), { wasDelivered: true }, "relay"],
    ["500: the client gets it", status(500), {}, "relay"],
    ["200", status(200), {}, "relay"],
    ["404 for a target of the config: chosen again", missing(true), {}, "again"],
    ["404 for a target of the config, no retry and no budget left: chosen again", missing(true), NOTHING_LEFT, "again"],
    ["404 for a target of the config after a delivered try: the client gets it", missing(true), { wasDelivered: true }, "relay"],
    ["404 for a name that a client gave: chosen again", missing(false), {}, "again"],
    ["404 for a name that a client gave, no retry left: the client gets it", missing(false), { retriesLeft: 0 }, "relay"],
    ["404 for a name that a client gave, no budget: the client gets it", missing(false), { hasBudget: false }, "relay"],
    ["nothing sent: the next replica, even with no retry left", { type: "not-sent" }, { retriesLeft: 0 }, "next"],
    ["nothing sent, no endpoint left", { type: "not-sent" }, { hasSpare: false }, "fail"],
    ["nothing sent after a delivered try", { type: "not-sent" }, { wasDelivered: true }, "fail"],
  ];
  for (const [name, event, state, step] of rows) it(name, () => assert.equal(nextStep(event, { ...FIRST, ...state }), step));
});

const anyState = fc.record<TryState>({
  hasStarted: fc.boolean(),
  wasDelivered: fc.boolean(),
  hasSpare: fc.boolean(),
  retriesLeft: fc.nat(3),
  hasBudget: fc.boolean(),
  mayLeaveWedged: fc.constant(false),
  mayTryFresh: fc.boolean(),
  mayHaveDied: fc.boolean(),
});
const anyFailure = fc.constantFrom(...UNDELIVERED, ...DELIVERED, "stale" as const).map((failure) => failed(failure));
const anyEvent = fc.oneof(
  anyFailure,
  fc.integer({ min: 200, max: 599 }).map(status),
  fc.constant<TryEvent>({ type: "not-sent" }),
  fc.boolean().map(missing),
);

test("a request that one replica may have processed goes to no other, for any later event", () => {
  fc.assert(
    fc.property(anyEvent, anyState, (event, state) => {
      const isUnanswered = event.type === "failed" || event.type === "not-sent";
      const isDelivered =
        state.wasDelivered || (isUnanswered && state.mayHaveDied) || (event.type === "failed" && event.isDelivered);
      const step = nextStep(event, state);
      return !(isDelivered && (step === "next" || step === "again"));
    }),
  );
});

test("after a response has begun, nothing is tried again", () => {
  fc.assert(fc.property(anyFailure, anyState, (event, state) => nextStep(event, { ...state, hasStarted: true }) === "fail"));
});
