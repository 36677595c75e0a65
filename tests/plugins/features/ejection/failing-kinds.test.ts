import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Endpoint } from "../../../../core/contract/endpoint.ts";
import { EndpointRecords } from "../../../../plugins/features/ejection/endpoint-records.ts";
import { FailingKinds } from "../../../../plugins/features/ejection/failing-kinds.ts";
import { ServedPaths } from "../../../../plugins/features/ejection/served-paths.ts";
import { makeEndpoint } from "../../../support/endpoints.ts";

const [a, b] = [makeEndpoint(0, { models: ["m"] }), makeEndpoint(1, { models: ["m"] })] as const;
const other = makeEndpoint(2, { models: ["n"] });

/** Responses in their order, a second from one to the next: "a chat 200", "b embed 500". Returns whether each failure counted, and what was taken back. */
function play(steps: readonly string[], pool: readonly Endpoint[] = [a, b], startMs = 1_000_000, stepMs = 1_000) {
  const records = new EndpointRecords();
  const servedPaths = new ServedPaths();
  const kinds = new FailingKinds({ records, servedPaths, endpoints: () => pool });
  const verdicts: string[] = [];
  let nowMs = startMs;
  for (const step of steps) {
    const [name, path, status] = step.split(" ") as [string, string, string];
    const endpoint = name === "a" ? a : b;
    const asked = { target: "m", path };
    nowMs += stepMs;
    if (status === "200") {
      servedPaths.add("m", path, nowMs);
      records.succeeded(endpoint, 0, nowMs);
      for (const { endpoint: cleared, timesMs } of kinds.succeeded(asked, endpoint))
        verdicts.push(`takes back ${timesMs.length} at ${cleared.name}`);
      continue;
    }
    const back = kinds.failed(asked, endpoint, nowMs);
    verdicts.push(back === undefined ? "counts" : "says nothing");
    if (back === undefined) records.failed(endpoint, `status ${status}`, nowMs);
    for (const { endpoint: cleared, timesMs } of back ?? []) verdicts.push(`takes back ${timesMs.length} at ${cleared.name}`);
  }
  return verdicts;
}

describe("a response of 5xx", () => {
  const rows: readonly (readonly [name: string, steps: readonly string[], verdicts: readonly string[]])[] = [
    [
      "on a path that nobody serves, at an endpoint that serves others, says nothing",
      ["a chat 200", "a embed 500", "a embed 500", "a embed 500"],
      ["says nothing", "says nothing", "says nothing"],
    ],
    [
      "on a path that another endpoint serves counts",
      ["b embed 200", "a chat 200", "a embed 500", "a embed 500"],
      ["counts", "counts"],
    ],
    [
      "counts as soon as another endpoint has served the path",
      ["a chat 200", "a embed 500", "b embed 200", "a embed 500"],
      ["says nothing", "counts"],
    ],
    ["at an endpoint that has served nothing counts", ["b chat 200", "a embed 500", "a embed 500"], ["counts", "counts"]],
    [
      "is taken back when the endpoint serves others",
      ["a embed 500", "a embed 500", "a chat 200", "a embed 500"],
      ["counts", "counts", "takes back 2 at e0", "says nothing"],
    ],
    [
      "is taken back at one endpoint for what another one shows",
      ["a embed 500", "a embed 500", "b embed 500", "b chat 200"],
      ["counts", "counts", "counts", "takes back 2 at e0", "takes back 1 at e1"],
    ],
    [
      "counts where all that the endpoint is asked for fails, of whatever kinds",
      ["a chat 200", "a embed 500", "a rerank 500", "a embed 500", "a score 500", "a chat 500"],
      ["says nothing", "counts", "counts", "counts", "counts"],
    ],
    [
      "on a path that was served before says nothing once all endpoints fail there and serve others since",
      ["a chat 200", "b chat 200", "a embed 200", "a embed 500", "a chat 200", "b embed 500", "b chat 200", "a embed 500"],
      ["counts", "counts", "takes back 1 at e0", "takes back 1 at e1", "says nothing"],
    ],
    [
      "counts where all endpoints fail at the only path that there is",
      ["a chat 200", "b chat 200", "a chat 500", "b chat 500", "a chat 500", "b chat 500"],
      ["counts", "counts", "counts", "counts"],
    ],
  ];
  for (const [name, steps, verdicts] of rows) it(name, () => assert.deepEqual(play(steps), verdicts));

  it("is not excused by what the endpoint served more than a minute ago", () => {
    assert.deepEqual(play(["a chat 200", "a embed 500"], [a, b], 1_000_000, 61_000), ["counts"]);
  });

  it("needs no failure at an endpoint that does not have the model", () => {
    const steps = ["a chat 200", "a embed 200", "a embed 500", "a chat 200", "a embed 500"];
    assert.deepEqual(play(steps, [a, other]), ["counts", "takes back 1 at e0", "says nothing"]);
    assert.deepEqual(play(steps, [a, b]), ["counts", "counts"]);
  });
});

it("remembers a bounded number of kinds", () => {
  const records = new EndpointRecords();
  const kinds = new FailingKinds({ records, servedPaths: new ServedPaths(), endpoints: () => [a, b] });
  for (let n = 0; n < 10_000; n++) kinds.failed({ target: "m", path: `/${n}` }, a, n);
  records.succeeded(a, 0, 10_000);
  const times = kinds.succeeded({ target: "m", path: "/other" }, a).flatMap(({ timesMs }) => timesMs);
  assert.ok(times.length > 0 && times.length <= 64, `${times.length}`);
});
