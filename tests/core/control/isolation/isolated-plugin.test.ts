import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { KNOWN_KINDS } from "../../../../core/contract/kinds.ts";
import type { PluginKind } from "../../../../core/contract/plugin.ts";
import { makeEndpoints, makeLoad, makePrefix, makeRequest, makeRoom, makeWaiting } from "../../../../core/contract/test-kit.ts";
import { isolated } from "../../../../core/control/isolation/isolated-plugin.ts";
import { ReadOnlyViews } from "../../../../core/control/isolation/read-only-views.ts";
import { makeBody } from "../../../../core/test-kit/body.ts";
import { makeDecision, makeOutcome } from "../../../../core/test-kit/records.ts";
import { makeView } from "../../../support/view.ts";
import { snapshot, writeEverywhere } from "../../../support/write-everywhere.ts";

const request = () => makeRequest({ body: new Uint8Array([1, 2, 3]), prefix: makePrefix(2, 16, [1]), promptSpans: [[0, 2]] });
const outcome = () => makeOutcome({ request: request(), decision: makeDecision() });
const endpoints = () => makeEndpoints(2).map((endpoint) => ({ ...endpoint, labels: { gpu: "h100" } }));
const record = () => ({ endpoint: "e0", consecutiveFailures: 1, lastFailure: "reset" });
const asked = () => ({ model: "m", headers: request().headers, served: new Set(["m"]), mayBeLoaded: () => true });
const profile: Readonly<Record<string, () => unknown[]>> = {
  chosen: () => [request(), endpoints()[0], makeLoad(2)],
  responseHeader: () => [request(), endpoints()[0]],
};

/** What each method of each kind is given. */
const METHODS: {
  readonly [Kind in Exclude<PluginKind, `${string}/${string}` | "feature">]: Readonly<Record<string, () => unknown[]>>;
} = {
  authenticator: { authenticate: () => ["key"] },
  parser: { parse: () => [makeBody({ model: "m" }, { keys: ["model"] }), "/v1/chat/completions"] },
  rewriter: { draw: () => [asked()], preview: () => [asked()] },
  filter: {
    filter: () => [request(), endpoints(), makeLoad(2), Math.random],
    refuse: () => [request(), endpoints(), ["m"]],
    ...profile,
  },
  scorer: { score: () => [request(), endpoints(), makeLoad(2)], confidence: () => [endpoints()[0], makeLoad(2)], ...profile },
  picker: { pick: () => [endpoints(), [0.1, 0.9], Math.random], ...profile },
  admission: {
    ...{ join: () => [makeWaiting()], leave: () => [makeWaiting()], take: () => [makeRoom()], least: () => [makeWaiting()] },
    ...{ ceiling: () => [0, 0.5], spent: () => [makeWaiting(), 5] },
  },
  discovery: { start: () => [() => {}] },
  source: { read: () => ["{}", endpoints()[0]] },
  detector: { detect: () => [record(), [record()]] },
  observer: { finished: () => [outcome()], trace: () => [request().headers] },
};

describe("a plugin with `from`", () => {
  it("is isolated whatever its kind", () =>
    assert.deepEqual([...Object.keys(METHODS), "feature"].sort(), [...KNOWN_KINDS].sort()));

  for (const [kind, methods] of Object.entries(METHODS)) {
    for (const [method, make] of Object.entries(methods)) {
      it(`that is a ${kind} changes nothing of what ${method} is given`, () => {
        const given = make();
        const before = snapshot(given);
        let calls = 0;
        const plugin = { [method]: (...seen: unknown[]) => seen.forEach((each) => void writeEverywhere(each), calls++) };
        const called = isolated(plugin, new ReadOnlyViews())[method] as (...all: unknown[]) => unknown;
        called(...given);
        assert.equal(calls, 1);
        assert.deepEqual(snapshot(given), before);
      });
    }
  }

  it("gives back what it was given: endpoints, and requests that wait", () => {
    const all = endpoints();
    const waiting = makeWaiting();
    const room = makeRoom({ isFor: (request) => request === waiting });
    const line: unknown[] = [];
    const plugin = isolated(
      {
        filter: (_request: unknown, candidates: readonly unknown[]) => candidates.slice(1),
        pick: (candidates: readonly unknown[]) => [...candidates].reverse(),
        join: (request: unknown) => void line.push(request),
        take: ({ isFor }: { isFor(request: unknown): boolean }) => line.find(isFor),
      },
      new ReadOnlyViews(),
    );
    assert.equal(plugin.filter(request(), all)[0], all[1]);
    assert.deepEqual(plugin.pick(all), [...all].reverse());
    plugin.join(waiting);
    assert.equal(plugin.take(room), waiting);
  });

  it("may be a class with fields of its own, with members that change, and with pages", () => {
    class Mine {
      #count = 0;
      clientModels = ["a"];
      readonly pages = [{ path: "/mine", render: (view: object) => String(writeEverywhere(view).size > 0) }];
      get trouble() {
        return this.#count;
      }
      draw(asked: object) {
        this.#count += 1;
        this.clientModels = [...this.clientModels, "b"];
        Object.assign(asked, { model: "mine" });
      }
    }
    const plugin = isolated(new Mine(), new ReadOnlyViews());
    assert.throws(() => plugin.draw(asked()), /"model" was written/);
    assert.deepEqual([plugin.trouble, plugin.clientModels], [1, ["a", "b"]]);
    const view = makeView(makeEndpoints(1));
    const before = snapshot(view.pool.endpoints);
    assert.equal(plugin.pages[0]!.render(view), "true");
    assert.deepEqual(snapshot(view.pool.endpoints), before);
  });
});
