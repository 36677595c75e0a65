import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { RouterError } from "../../../core/contract/errors.ts";
import type { Observer } from "../../../core/contract/observer.ts";
import { settle } from "../../../core/intake/settle.ts";
import type { Run } from "../../../core/run.ts";
import { makeRequest } from "../../support/endpoints.ts";
import { MemoryParts, makeRun } from "../../support/memory-parts.ts";

const CHAT = "/v1/chat/completions";
const observer = (name: string, finished: Observer["finished"]) => ({ name, type: name, plugin: { finished } });

/** A router that tells in `told` who was told of a request, in order. */
function setUp(observers?: MemoryParts["config"]["observers"]) {
  const told: string[] = [];
  const tell = (name: string) => () => void told.push(name);
  const parts = new MemoryParts({
    observers: observers ?? [observer("first", tell("first")), observer("second", tell("second"))],
  });
  Object.assign(parts.pool, { figures: { ended: tell("figures") } });
  const feature = { name: "f", type: "f", plugin: { settled: tell("features") } };
  parts.config = { ...parts.config, slots: { ...parts.config.slots, settled: [feature] } };
  Object.assign(parts.configs, { giveBack: tell("config") });
  return { parts, told };
}

function endedRun(parts: MemoryParts, path = CHAT): Run {
  const run = makeRun(parts, "{}");
  run.ticket.path = path;
  if (path === CHAT) run.ticket.request = makeRequest();
  return run;
}

describe("who is told that a request has ended", () => {
  const ALL = ["figures", "features", "first", "second", "config"];
  const failed = new RouterError("method_not_allowed", "No.");
  const rows: readonly (readonly [name: string, path: string, error: RouterError | undefined, told: readonly string[]])[] = [
    ["a request: all, and its config is given back last", CHAT, undefined, ALL],
    ["a request that failed: the same", CHAT, failed, ALL],
    ["a path that needs no replica: the same", "/v1/models", undefined, ALL],
    ["a probe of the router: no observer", "/health", undefined, ["figures", "config"]],
    ["the other one: no observer", "/ready", undefined, ["figures", "config"]],
    ["what is refused on a probe's path: all", "/health", failed, ALL],
  ];
  for (const [name, path, error, expected] of rows) {
    it(name, () => {
      const { parts, told } = setUp();
      settle(endedRun(parts, path), error);
      assert.deepEqual(told, expected);
    });
  }

  it("observers of the config that the request took, of a ticket with its end, its time and its error", async () => {
    const seen: unknown[] = [];
    const { parts } = setUp([observer("o", ({ durationMs, wallMs, error }) => void seen.push(durationMs, wallMs, error))]);
    const run = endedRun(parts);
    parts.config = { ...parts.config, observers: [] };
    await parts.clock.advance(40);
    settle(run, new RouterError("saturated", "Later."));
    assert.deepEqual(seen, [40, parts.clock.wall(), { code: "saturated", message: "Later." }]);
  });
});

describe("an observer that fails", () => {
  const ways: readonly (readonly [name: string, finished: () => void])[] = [
    [
      "by throwing",
      () => {
        throw new Error("no disk");
      },
    ],
    ["later", () => Promise.reject(new Error("no disk"))],
  ];
  for (const [name, finished] of ways) {
    it(`${name} is told to the operator, and keeps nobody from the ticket`, async () => {
      const seen: string[] = [];
      const { parts, told } = setUp([observer("broken", finished), observer("other", ({ id }) => void seen.push(id))]);
      settle(endedRun(parts), undefined);
      await Promise.resolve();
      assert.deepEqual(seen, ["request-1"]);
      assert.deepEqual(told, ["figures", "features", "config"]);
      assert.deepEqual(parts.logged, [["An observer failed", "broken", "Error: no disk"]]);
    });
  }
});
