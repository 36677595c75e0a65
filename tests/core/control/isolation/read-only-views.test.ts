import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readJsonBody } from "../../../../core/body/json-body.ts";
import { RouterError } from "../../../../core/contract/errors.ts";
import { makeEndpoint, makeEndpoints, makePrefix, makeRequest } from "../../../../core/contract/test-kit.ts";
import { ReadOnlyViews } from "../../../../core/control/isolation/read-only-views.ts";
import { LoadTable } from "../../../../core/state/load.ts";
import { PrefixIndex } from "../../../../core/state/prefix-index.ts";
import { makeAttempt, makeDecision, makeOutcome } from "../../../../core/test-kit/records.ts";
import { Ticket } from "../../../../core/ticket.ts";
import { requestHead } from "../../../support/wire-heads.ts";
import { snapshot, writeEverywhere } from "../../../support/write-everywhere.ts";

const request = makeRequest({
  body: Buffer.from('{"model":"m"}'),
  prefix: { ...makePrefix(2, 16, [1]), hashes: [1, 2, 3, 4] },
  promptSpans: [[2, 5]],
  promptParts: [{ kind: "image", span: [3, 4], tokens: 5 } as never],
  draw: { by: "share", header: "", targets: [{ name: "a", weight: 1 }] },
  headers: requestHead(["host: a", "x-tier: gold"]),
});
const decision = makeDecision({ refusal: new RouterError("model_not_found", "Nobody has it.") });
const load = new LoadTable();
const slot = load.slotOf("e0");
load.attributes[slot] = new Map([["GPUUtilization", 0.5]]);
load.adapters[slot] = { names: new Set(["a"]), use: { running: new Set(["a"]), waiting: new Set(), max: 2 } };
const ticket = Object.assign(new Ticket("id", "POST", 5), { request, decision });
ticket.attempts.push(makeAttempt("e0", 200));

/** What plugins of all kinds are given, as the router has it. */
const GIVEN: Readonly<Record<string, object>> = {
  request,
  body: readJsonBody(Buffer.from('{"model":"m","prompt":"Hi"}'), { keys: ["model", "prompt"] }, 8),
  decision,
  outcome: makeOutcome({ request, decision }),
  ticket,
  load: load.at(1_000),
  "an endpoint that may be written": { ...makeEndpoint(0), labels: { gpu: "h100" } },
  "a list of endpoints": makeEndpoints(2),
  "what is frozen, and holds what is not": Object.freeze({ deep: { value: 1 }, list: [{ value: 2 }], bytes: new Uint8Array(2) }),
  "a map and a set": { map: new Map([["a", { value: 1 }]]), set: new Set(["a"]) },
};

describe("views", () => {
  for (const [name, given] of Object.entries(GIVEN)) {
    it(`show ${name}, and no write at any depth of it takes effect`, () => {
      const before = snapshot(given);
      const views = new ReadOnlyViews();
      const thrown = writeEverywhere(views.of(given));
      assert.deepEqual(snapshot(given), before);
      for (const [path, fault] of thrown)
        assert.ok(fault instanceof TypeError || fault instanceof RangeError || fault instanceof RouterError, `${path}: ${fault}`);
    });
  }

  it("name what was written", () => {
    const view = new ReadOnlyViews().of(request);
    assert.throws(() => Object.assign(view, { target: "mine" }), /^TypeError: "target" was written: .* write into a copy/);
    assert.throws(() => Object.assign(view.draw!, { by: "header" }), /"by" was written/);
    assert.throws(() => delete (view as { rule?: string }).rule, /"rule" was written/);
  });

  it("read as what they show: fields, methods, copies by spread, JSON, and errors by their class", () => {
    const views = new ReadOnlyViews();
    const view = views.of(request);
    assert.equal(view.headers.get("x-tier"), "gold");
    assert.equal(view.prefix.matchedTokens(0), 16);
    assert.deepEqual({ ...view, target: "other" }.modelSpan, [9, 15]);
    assert.equal(JSON.parse(JSON.stringify(view)).model, "base");
    assert.ok(views.of(decision).refusal instanceof RouterError);
    const seen = views.of(load.at(5));
    assert.equal(seen.nowMs, 5);
    assert.equal(seen.inFlight(slot), 0);
    assert.equal(seen.attributes(slot).get("GPUUtilization"), 0.5);
    assert.ok(seen.adapters(slot)?.names?.has("a"));
    assert.deepEqual(Object.keys(view), Object.keys(request));
  });

  it("are live, but for bytes, which are one copy as long as the object has the same", () => {
    const views = new ReadOnlyViews();
    const real = { count: 1, body: new Uint8Array([1, 2]) };
    const view = views.of(real);
    assert.equal(view.body, view.body);
    view.body[0] = 9;
    real.count = 2;
    assert.deepEqual([view.count, real.body[0]], [2, 1]);
    real.body = new Uint8Array(0);
    assert.equal(view.body.length, 0);
  });

  it("are the same for the same object, and others for another plugin", () => {
    const [one, other] = [new ReadOnlyViews(), new ReadOnlyViews()];
    assert.equal(one.of(request), one.of(request));
    assert.notEqual(one.of(request), other.of(request));
    assert.equal(one.real(one.of(request)), request);
    assert.deepEqual(one.real([one.of(request), 1]), [request, 1]);
  });

  it("hide methods that are in no contract, as those that change an index or a head", () => {
    const index = new PrefixIndex({ blockBytes: 16, maxBytes: 1 << 20, countGenerated: false });
    const prefix = index.match({ api: "", target: "m", cacheSalt: "" }, Buffer.alloc(64, 65), [[0, 64]], 16);
    const view = new ReadOnlyViews().of({ prefix, headers: request.headers });
    assert.equal(view.prefix.matchedBlocks(0), 0);
    assert.equal(view.prefix.admit, undefined);
    assert.equal((view.headers as { keptLines?: unknown }).keptLines, undefined);
    assert.equal(Object.getPrototypeOf(view.prefix), Object.prototype);
  });

  it("leave alone what is frozen all the way down", () => {
    const endpoint = Object.freeze({ ...makeEndpoint(0), labels: Object.freeze({}), url: Object.freeze(makeEndpoint(0).url) });
    assert.equal(new ReadOnlyViews().of(endpoint), endpoint);
  });
});
