import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { BodyHold } from "../../../../core/body/receive.ts";
import type { Decision } from "../../../../core/contract/decision.ts";
import type { InferenceRequest } from "../../../../core/contract/request.ts";
import { makeEndpoint } from "../../../../core/contract/test-kit.ts";
import { decide } from "../../../../core/decide/decide.ts";
import { parse, withTarget } from "../../../../core/request/parse.ts";
import type { Ticket } from "../../../../core/ticket.ts";
import type { MirrorSettings } from "../../../../plugins/features/mirror/mirror-config.ts";
import { Mirroring } from "../../../../plugins/features/mirror/mirroring.ts";
import { MemoryParts, type MemoryPartsOptions, makeRun } from "../../../support/memory-parts.ts";
import { jsonAnswer } from "../../../support/scripted-replica.ts";

const TARGETS = ["v1", "v2"].map((name, index) => ({ name, weight: 1 - index }));
const REWRITER = {
  clientModels: ["m"],
  mappings: [{ name: "food/0", models: ["m"], targets: TARGETS, onUnavailable: "refuse" as const }],
  draw: () => ({ target: "v1", rule: "food/0" }),
};
const MIRROR: MirrorSettings = { rule: "food/0", target: "v2", percent: 100, maxInFlight: 1000, timeoutMs: 1000 };

/** Mirrors over replicas in memory; `held` counts the bodies that copies keep. */
function setUp(mirrors: readonly MirrorSettings[] = [MIRROR], options: MemoryPartsOptions = {}) {
  const endpoints = [makeEndpoint(0, { models: ["v1"] }), makeEndpoint(1, { models: ["v2"] })];
  const profile = {
    filters: [
      {
        name: "serves",
        type: "serves",
        plugin: {
          filter: ({ target }: { target: string }, all: typeof endpoints) => all.filter(({ models }) => models.has(target)),
        },
      },
    ],
  };
  const parts = new MemoryParts({
    endpoints,
    rewriters: [{ name: "r", type: "r", plugin: REWRITER }],
    profile: profile as NonNullable<MemoryPartsOptions["profile"]>,
    ...options,
  });
  const mirroring = new Mirroring();
  mirroring.useMirrors(mirrors);
  parts.gate.memory.giveUpSpare = () => mirroring.freeBodies();
  const held = { now: 0 };
  const hold = (): BodyHold => {
    held.now += 1;
    return {
      giveBack() {
        held.now -= 1;
      },
    };
  };
  const { config, pool, clock, services } = parts;
  const decideCopy = (copy: InferenceRequest): Decision =>
    decide(copy, pool.facts, config.profile, pool.load.at(clock.now()), services.random);
  /** The ticket of a request that was sent. */
  const begin = (choose = decideCopy): Ticket => {
    const run = makeRun(parts, '{"model":"m","messages":[]}');
    Object.assign(run.buffer!, { hold });
    const request = withTarget(parse(run), run, config, pool, pool.load.at(clock.now()));
    mirroring.sent(run, request, choose);
    return run.ticket;
  };
  /** It ends, with its first byte so long after its dispatch. */
  const end = (ticket: Ticket, firstByteMs: number) => {
    Object.assign(ticket.times, { dispatchedAtMs: 0, firstByteAtMs: firstByteMs });
    mirroring.settled(ticket);
  };
  return { parts, mirroring, begin, end, held, replica: parts.upstreamOf(endpoints[1]!) };
}

describe("mirroring", () => {
  it("copies about the share that is asked for", () => {
    const { mirroring, begin } = setUp([{ ...MIRROR, percent: 20 }]);
    for (let n = 0; n < 1000; n++) begin();
    const sent = mirroring.counts[0]?.sent ?? 0;
    assert.ok(sent > 150 && sent < 250, `${sent} of 1000`);
  });

  it("counts a copy in its endpoint's load until it ends, and holds the body until it is sent", () => {
    const { parts, begin, held, replica } = setUp();
    const copies = begin();
    assert.deepEqual([parts.pool.load.inFlight[1], held.now], [1, 1]);
    replica.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n");
    assert.deepEqual([parts.pool.load.inFlight[1], held.now], [1, 0]);
    replica.send("{}");
    assert.deepEqual([parts.pool.load.inFlight[1], copies.mirrors?.[0]?.ending], [0, "complete"]);
  });

  it("compares times to the first byte once both are known", async () => {
    const { parts, mirroring, begin, end, replica } = setUp();
    const [first, second] = [begin(), begin()];
    await parts.clock.advance(30);
    replica.send(jsonAnswer("{}"));
    end(second!, 10);
    end(first!, 20);
    const counts = mirroring.counts[0]!;
    assert.deepEqual([counts.firstBytes.count, counts.firstBytes.sum, counts.originalFirstBytes.sum], [1, 0.03, 0.01]);
    replica.send(jsonAnswer("{}"), replica.sockets[0]);
    assert.equal(counts.firstBytes.count, 2);
    assert.ok(Math.abs(counts.originalFirstBytes.sum - 0.03) < 1e-9);
  });

  it("ends a copy after its time, whatever it waits for", async () => {
    const { parts, begin, held } = setUp();
    const copies = begin();
    await parts.clock.advance(1000);
    assert.deepEqual([copies.mirrors?.[0]?.ending, held.now, parts.pool.load.inFlight[1]], ["time-limit", 0, 0]);
  });

  it("drops those that hold a body when its memory is needed", () => {
    const { mirroring, begin, replica } = setUp();
    const sending = begin();
    const sent = begin();
    replica.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n");
    mirroring.freeBodies();
    assert.deepEqual([sending.mirrors?.[0]?.ending, sent.mirrors?.[0]?.ending], ["memory", ""]);
  });

  it("says why a plugin's fault stopped a copy, and goes on", () => {
    const { parts, begin } = setUp();
    const thrower = () => {
      throw new Error("No");
    };
    assert.equal(begin(thrower).mirrors?.[0]?.skipped, "fault");
    assert.equal(parts.logged[0]?.[0], "A copy for a mirror failed inside the router");
    assert.equal(begin().mirrors?.[0]?.skipped, "");
  });

  it("sends none to an endpoint on trial, and none without mirrors", () => {
    const trial = [makeEndpoint(0, { models: ["v1"] }), makeEndpoint(1, { models: ["v2"], isOnTrial: true })];
    const { mirroring, begin } = setUp([MIRROR], { endpoints: trial });
    assert.equal(begin().mirrors?.[0]?.skipped, "no-endpoint");
    mirroring.useMirrors([]);
    assert.equal(begin().mirrors, undefined);
  });

  it("ends a copy whose client has left", () => {
    const { begin, end } = setUp();
    const ticket = begin();
    ticket.ending = "client-left";
    end(ticket, 10);
    assert.equal(ticket.mirrors?.[0]?.ending, "client-left");
  });

  it("sends none once it has stopped", () => {
    const { mirroring, begin } = setUp();
    const copies = begin();
    mirroring.stop();
    assert.deepEqual([begin().mirrors, copies.mirrors?.[0]?.ending], [undefined, "stopped"]);
  });
});
