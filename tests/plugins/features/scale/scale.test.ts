import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ActiveConfig } from "../../../../core/active-config.ts";
import type { Endpoint } from "../../../../core/contract/endpoint.ts";
import { silentLog } from "../../../../core/contract/log.ts";
import type { Outcome } from "../../../../core/contract/outcome.ts";
import { withoutRouter } from "../../../../core/router-host.ts";
import type { Run } from "../../../../core/run.ts";
import { factsOf } from "../../../../core/state/facts.ts";
import { Scale } from "../../../../plugins/features/scale/scale.ts";
import { type ScaleSettings, scaleSection } from "../../../../plugins/features/scale/scale-config.ts";
import { wantedReplicas } from "../../../../plugins/features/scale/wanted-replicas.ts";
import { makeEndpoint } from "../../../support/endpoints.ts";
import { FakeClock } from "../../../support/fake-clock.ts";

const CONFIG = { pool: "llama", features: new Map(), rewriters: [], settings: { unlisted: "never" } } as unknown as ActiveConfig;

function setUp(settings: Partial<ScaleSettings> = {}, replicas = 2) {
  const clock = new FakeClock();
  const host = withoutRouter({ clock, random: () => 0.5, log: silentLog });
  const pool = { endpoints: Array.from({ length: replicas }, (_, slot) => makeEndpoint(slot)) as readonly Endpoint[] };
  const scale = new Scale({ ...host, facts: () => factsOf(pool.endpoints) });
  const all = { ...scaleSection.schema.parse({})!, ...settings };
  scale.use(CONFIG, all);
  const ask = (model = "base") => {
    const ticket = { attempts: [] } as unknown as Outcome;
    scale.arrived({ ticket, parsed: { model } } as unknown as Run);
    return ticket;
  };
  return { clock, scale, pool, ask, host, all };
}

describe("how many replicas are wanted", () => {
  it("is the mean of what is under way, by what one may have and how full it is to be", async () => {
    const { clock, scale, ask } = setUp({ concurrency: 10, utilization: 0.8 });
    const open = Array.from({ length: 24 }, () => ask());
    await clock.advance(60_000);
    assert.deepEqual(scale.wanted(), { wanted: 3, underWay: 24, work: 2.4 });
    for (const ticket of open) scale.settled(ticket);
    await clock.advance(60_000);
    assert.deepEqual([scale.wanted().wanted, Math.round(10 * scale.wanted().work)], [2, 12]);
    await clock.advance(60_000);
    assert.equal(scale.wanted().wanted, 1);
  });

  it("is at least one for a while after the last request, and then none", async () => {
    const { clock, scale, ask } = setUp({ idleMs: 60_000 });
    assert.equal(scale.wanted().wanted, 0);
    scale.settled(ask());
    await clock.advance(59_000);
    assert.equal(scale.wanted().wanted, 1);
    await clock.advance(2_000);
    assert.equal(scale.wanted().wanted, 0);
    const stays = ask();
    await clock.advance(600_000);
    assert.equal(scale.wanted().wanted, 1);
    scale.settled(stays);
  });

  it("is counted by model, and no more models than are told apart", async () => {
    const { clock, scale, ask, pool } = setUp({ concurrency: 1, utilization: 1 }, 0);
    pool.endpoints = [];
    for (let index = 0; index < 200; index++) scale.settled(ask(`model-${index}`));
    assert.equal(scale.byModel().length, 64);
    for (let index = 0; index < 3; index++) ask("a");
    ask("b");
    await clock.advance(1_000);
    const models = new Map(scale.byModel().map(({ model, wanted }) => [model, wanted]));
    assert.equal(models.size, 64);
    assert.deepEqual([models.get("model-199"), models.get("b")], [1, 1]);
    assert.equal(scale.wanted().underWay, 4);
  });

  it("wakes a pool from zero for models that it had, not for others", async () => {
    const { clock, scale, ask, pool } = setUp({ idleMs: 10_000, concurrency: 2, utilization: 1 });
    await clock.advance(1_000);
    pool.endpoints = [];
    ask("unheard-of");
    assert.equal(scale.wanted().wanted, 0);
    for (let index = 0; index < 6; index++) ask();
    assert.equal(scale.wanted().wanted, 1);
    await clock.advance(3_000);
    // Six that wait need three replicas: the room that one has is remembered.
    assert.deepEqual([scale.wanted().wanted, scale.waiting], [3, 6]);
  });

  it("follows a burst that needs twice what is ready, and not a smaller one", () => {
    const needed = { ready: 2, utilization: 0.8, isIdle: false };
    assert.equal(wantedReplicas({ ...needed, work: 1, latestWork: 3.1 }), 2);
    assert.equal(wantedReplicas({ ...needed, work: 1, latestWork: 3.3 }), 5);
    assert.equal(wantedReplicas({ ...needed, work: 0, latestWork: 0 }), 1);
    assert.equal(wantedReplicas({ ...needed, work: 0, latestWork: 0, isIdle: true }), 0);
    assert.equal(wantedReplicas({ ...needed, work: 0.1 + 0.7, latestWork: 0 }), 1);
  });

  it("is the prompts' where these fill replicas, and what waits for unknown room needs as much as the rest", async () => {
    const { clock, scale, ask, host } = setUp({ utilization: 1, windowMs: 60_000 });
    await clock.advance(60_000);
    const rate = host.load.prefillRate(0, clock.now());
    const ticket = ask();
    const usage = { promptTokens: 4 * 60_000 * rate, outputTokens: 1, cachedTokens: 60_000 * rate };
    scale.settled(Object.assign(ticket, { attempts: [{}], usage }));
    const { wanted, work } = scale.wanted();
    assert.deepEqual([wanted, Math.round(work)], [3, 3]);
    const other = setUp({ utilization: 1 });
    other.host.load.inFlight[0] = 2;
    for (let index = 0; index < 6; index++) other.ask();
    await other.clock.advance(1_000);
    assert.equal(other.scale.wanted().wanted, 6);
  });

  it("outlives another config, and ends with its section", async () => {
    const { clock, scale, ask, all } = setUp({ concurrency: 1, utilization: 1 });
    ask();
    ask();
    scale.use(CONFIG, { ...all, utilization: 0.5 });
    await clock.advance(1_000);
    assert.equal(scale.wanted().wanted, 4);
    scale.use(CONFIG, undefined);
    assert.equal(scale.isOn, false);
    await clock.advance(10_000);
  });
});
