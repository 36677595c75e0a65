import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { RouterError } from "../../../../core/contract/errors.ts";
import type { Outcome } from "../../../../core/contract/outcome.ts";
import type { RequestRun } from "../../../../core/contract/slots/request-run.ts";
import { makeEndpoints, makeRequest } from "../../../../core/contract/test-kit.ts";
import { Quarantine } from "../../../../plugins/features/quarantine/quarantine.ts";
import { collectedLog } from "../../../support/collected-log.ts";
import { FakeClock } from "../../../support/fake-clock.ts";

const [replica, other] = makeEndpoints(2);
const SETTINGS = { isOn: true, durationMs: 60_000 };

function setUp() {
  const clock = new FakeClock();
  const log = collectedLog();
  const load = { inFlight: 0 };
  const quarantine = new Quarantine({ clock, log, inFlight: () => load.inFlight });
  quarantine.use(SETTINGS);
  let count = 0;
  const runOf = (text: string) => {
    const body = Buffer.from(text);
    const spans = [[0, body.length]] as const;
    const request = makeRequest({ model: "m", body, promptSpans: spans });
    const ticket = { id: `r${++count}`, request, principal: undefined, ending: "complete", status: 200, attempts: [] };
    return { ticket: ticket as unknown as Outcome, body: { bytes: body }, parsed: request } as unknown as RequestRun;
  };
  const isRefused = (text: string) => {
    try {
      quarantine.admit(runOf(text));
      return false;
    } catch (thrown) {
      return thrown instanceof RouterError && thrown.code === "prompt_quarantined";
    }
  };
  const lose = (text: string, sentAgoMs = 0, endpoint = replica!) =>
    quarantine.lost(runOf(text), endpoint, clock.now() - sentAgoMs);
  const kill = (...texts: readonly string[]) => {
    for (const text of texts) lose(text);
    quarantine.replicaGone(replica!);
  };
  return { clock, log, load, quarantine, runOf, isRefused, lose, kill };
}

describe("Quarantine", () => {
  it("lets a prompt through after its time, and one more death is enough then, until the earlier ones are forgotten", async () => {
    const { clock, kill, isRefused, quarantine } = setUp();
    kill("a");
    assert.equal(isRefused("a"), false);
    kill("a");
    assert.equal(isRefused("a"), true);
    await clock.advance(61_000);
    assert.equal(isRefused("a"), false);
    kill("a");
    assert.equal(isRefused("a"), true);
    await clock.advance(700_000);
    assert.equal(isRefused("a"), false);
    kill("a");
    assert.equal(isRefused("a"), false);
    await clock.advance(700_000);
    assert.equal(clock.pending, 0);
    assert.deepEqual(quarantine.counts, { prompts: 2, refused: 2 });
  });

  const none: readonly (readonly [name: string, run: (world: ReturnType<typeof setUp>) => void | Promise<void>])[] = [
    ["lost requests, while the replica goes on", ({ lose }) => void [lose("a"), lose("a"), lose("a")]],
    ["replicas that go without a request", ({ quarantine }) => void [1, 2].map(() => quarantine.replicaGone(replica!))],
    [
      "a request that came long before",
      ({ lose, quarantine }) => {
        for (let i = 0; i < 2; i++) {
          lose("a", 10_001);
          quarantine.replicaGone(replica!);
        }
      },
    ],
    [
      "a replica that goes long after",
      async ({ clock, lose, quarantine }) => {
        for (let i = 0; i < 2; i++) {
          lose("a");
          await clock.advance(6_000);
          quarantine.replicaGone(replica!);
        }
      },
    ],
    [
      "another replica that goes",
      ({ lose, quarantine }) => {
        for (let i = 0; i < 2; i++) {
          lose("a", 0, other!);
          quarantine.replicaGone(replica!);
        }
      },
    ],
    ["a prompt that was always beside another one", ({ kill }) => void [1, 2, 3].map(() => kill("a", "b"))],
    [
      "a prompt that is served in between",
      ({ kill, quarantine, runOf }) => {
        for (let i = 0; i < 3; i++) {
          kill("a");
          const run = runOf("a");
          quarantine.admit(run);
          quarantine.settled(run.ticket);
        }
      },
    ],
    [
      "a request that two replicas lost, and a third one served",
      async ({ clock, quarantine, runOf }) => {
        const run = runOf("a");
        quarantine.admit(run);
        for (const endpoint of [replica!, other!]) {
          quarantine.lost(run, endpoint, clock.now());
          quarantine.replicaGone(endpoint);
        }
        quarantine.settled(run.ticket);
      },
    ],
    [
      "a request that was served elsewhere before its replica's death was known",
      async ({ quarantine, runOf }) => {
        for (const endpoint of [replica!, other!]) {
          const run = runOf("a");
          quarantine.admit(run);
          quarantine.lost(run, endpoint, 0);
          if (endpoint === replica) quarantine.settled(run.ticket);
          quarantine.replicaGone(endpoint);
        }
      },
    ],
  ];
  for (const [name, run] of none)
    it(`refuses nothing for ${name}`, async () => {
      const world = setUp();
      await run(world);
      assert.deepEqual([world.isRefused("a"), world.isRefused("b")], [false, false]);
    });

  it("lays a death to one prompt only: others that were there are not suspected for it", () => {
    const { kill, isRefused } = setUp();
    kill("a");
    kill("a", "b");
    kill("b", "c");
    assert.deepEqual(["a", "b", "c"].map(isRefused), [true, false, false]);
    kill("c");
    assert.deepEqual(["a", "b", "c"].map(isRefused), [true, false, true]);
  });

  it("counts a death when all requests that were there have ended, or a quarter of a second later", async () => {
    const { clock, kill, lose, load, isRefused } = setUp();
    kill("a", "b");
    load.inFlight = 1;
    kill("a");
    assert.equal(isRefused("a"), false);
    lose("b");
    await clock.advance(250);
    assert.deepEqual(["a", "b"].map(isRefused), [false, false]);
    kill("a");
    await clock.advance(250);
    assert.deepEqual(["a", "b"].map(isRefused), [true, false]);
  });

  it("knows a large prompt whose body was freed, once a replica has died", () => {
    const { kill, quarantine, runOf, isRefused } = setUp();
    kill("z");
    for (let i = 0; i < 2; i++) {
      const run = runOf("large");
      quarantine.admit(run);
      quarantine.freesBody(run);
      (run.ticket.request as { body: Uint8Array }).body = new Uint8Array(0);
      quarantine.lost(run, replica!, 0);
      quarantine.replicaGone(replica!);
    }
    assert.equal(isRefused("large"), true);
  });

  it("keeps a bounded number of suspects and deaths", () => {
    const { kill, lose, quarantine, isRefused } = setUp();
    for (let i = 0; i < 300; i++) lose(`before ${i}`);
    kill("late");
    kill("late");
    assert.equal(isRefused("late"), false, "256 were there before it");
    for (let i = 0; i < 100; i++) kill(`one ${i}`);
    kill("one 0");
    assert.equal(isRefused("one 0"), false, "its first death is forgotten");
    kill("one 0");
    assert.equal(isRefused("one 0"), true);
    assert.equal(quarantine.quarantined.length, 1);
  });

  it("forgets everything when it is turned off", () => {
    const { clock, kill, quarantine, isRefused } = setUp();
    kill("a");
    kill("a");
    quarantine.use({ ...SETTINGS, isOn: false });
    assert.equal(isRefused("a"), false);
    assert.equal(clock.pending, 0);
  });
});
