import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { RouterError } from "../../../core/contract/errors.ts";
import type { Observer } from "../../../core/contract/observer.ts";
import { settle } from "../../../core/intake/settle.ts";
import { Ticket } from "../../../core/request/ticket.ts";
import { makeRequest } from "../../support/endpoints.ts";
import { MemoryParts } from "../../support/memory-parts.ts";

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
  Object.assign(parts.features, { settled: tell("features") });
  Object.assign(parts.configs, { giveBack: tell("config") });
  return { parts, told };
}

function endedTicket(path = CHAT): Ticket {
  const ticket = new Ticket("id", "GET", 0);
  ticket.path = path;
  if (path === CHAT) ticket.request = makeRequest();
  return ticket;
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
      settle(endedTicket(path), error, parts.config, parts);
      assert.deepEqual(told, expected);
    });
  }

  it("observers of the config that the request took, of a ticket with its end, its time and its error", async () => {
    const seen: unknown[] = [];
    const { parts } = setUp([observer("o", ({ durationMs, wallMs, error }) => void seen.push(durationMs, wallMs, error))]);
    const { config } = parts;
    parts.config = { ...config, observers: [] };
    const ticket = endedTicket();
    await parts.clock.advance(40);
    settle(ticket, new RouterError("saturated", "Later."), config, parts);
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
      settle(endedTicket(), undefined, parts.config, parts);
      await Promise.resolve();
      assert.deepEqual(seen, ["id"]);
      assert.deepEqual(told, ["figures", "features", "config"]);
      assert.deepEqual(parts.logged, [["An observer failed", "broken", "Error: no disk"]]);
    });
  }
});
