import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { silentLog } from "../../../../core/contract/log.ts";
import type { Outcome } from "../../../../core/contract/outcome.ts";
import { withoutRouter } from "../../../../core/router-host.ts";
import { makeRun } from "../../../../core/test-kit/feature.ts";
import { makeAttempt, makeOutcome } from "../../../../core/test-kit/records.ts";
import type { Ticket } from "../../../../core/ticket.ts";
import { GatedLine } from "../../../../plugins/features/sessions/gate/gated-line.ts";
import { SessionIds } from "../../../../plugins/features/sessions/session-ids.ts";
import { Sessions } from "../../../../plugins/features/sessions/sessions.ts";
import { sessionsSection } from "../../../../plugins/features/sessions/sessions-config.ts";
import { sessionMetrics } from "../../../../plugins/features/sessions/sessions-metrics.ts";
import { Turn } from "../../../../plugins/features/sessions/turn.ts";
import { FakeClock } from "../../../support/fake-clock.ts";

function setUp(written: object = {}) {
  const clock = new FakeClock();
  const sessions = new Sessions(clock);
  const settings = sessionsSection.schema.parse(written)!;
  const ids = new SessionIds(settings);
  sessions.use(settings);
  const come = (id: string): Outcome => {
    const ticket = { ...makeOutcome(), session: undefined } as unknown as Ticket;
    const run = makeRun({ ticket, headers: { "session-id": id } });
    sessions.arrived({ ...run, parsed: { ...run.parsed!, promptSpans: [[0, 2]] }, ticket }, ids);
    return ticket;
  };
  const end = (outcome: Outcome, endpoint: string, more: Partial<Outcome> = {}) => {
    Object.assign(outcome, { attempts: endpoint === "" ? [] : [makeAttempt(endpoint, 200)], ...more });
    sessions.settled(outcome);
  };
  const value = (name: string) =>
    sessionMetrics(sessions, new GatedLine(withoutRouter({ clock, random: Math.random, log: silentLog })))
      .find((family) => family.name === name)!
      .samples.map(({ value }) => value);
  return { clock, sessions, come, end, value };
}

describe("turns of a session", () => {
  it("are counted, with the pause before each and the place of the one before", async () => {
    const { clock, come, end, value } = setUp();
    const first = come("s");
    await clock.advance(2_000);
    end(first, "gpu-1");
    await clock.advance(8_000);
    const second = come("s");
    const meanwhile = come("s");
    end(second, "gpu-2");
    end(meanwhile, "gpu-2");
    const turns = [first, second, meanwhile].map(({ session }) => [session?.turn, session?.pausedMs, session?.endpoint]);
    assert.deepEqual(turns, [
      [1, Number.NaN, ""],
      [2, 8_000, "gpu-1"],
      [3, Number.NaN, "gpu-1"],
    ]);
    assert.deepEqual(value("session_moves_total"), [1]);
    assert.deepEqual(value("session_turns_total"), [3]);
  });

  const notHeld: readonly (readonly [name: string, endpoint: string, more: Partial<Outcome>])[] = [
    ["that no replica saw", "", {}],
    ["that a replica refused", "gpu-2", { status: 503 }],
    ["whose response broke off", "gpu-2", { ending: "broken" }],
    ["whose client left before the response", "gpu-2", { ending: "client-left", status: 0 }],
  ];
  for (const [name, endpoint, more] of notHeld) {
    it(`leave the session where it is: one ${name}`, () => {
      const { come, end } = setUp();
      end(come("s"), "gpu-1");
      const failed = come("s");
      end(failed, endpoint, more);
      const session = Turn.sessionOf(failed);
      assert.deepEqual([session?.endpoint, session?.underWay, session?.turns], ["gpu-1", 0, 2]);
    });
  }

  it("move the session with a client that leaves in the middle of the response", () => {
    const { come, end } = setUp();
    const left = come("s");
    end(left, "gpu-1", { ending: "client-left", usage: undefined });
    assert.equal(Turn.sessionOf(left)?.endpoint, "gpu-1");
  });
});

describe("sessions that nobody goes on with", () => {
  it("are forgotten after idleMs, and no timer is left", async () => {
    const { clock, sessions, come, end, value } = setUp({ idleMs: 60_000 });
    end(come("one"), "gpu-1");
    const busy = come("busy");
    await clock.advance(50_000);
    end(come("two"), "gpu-1");
    await clock.advance(15_000);
    assert.equal(sessions.size, 2);
    end(busy, "gpu-1");
    await clock.advance(70_000);
    assert.equal(sessions.size, 0);
    assert.equal(clock.pending, 0);
    assert.deepEqual(value("sessions_forgotten_total"), [3, 0]);
  });

  it("end well when they were forgotten while a turn was under way", () => {
    const { sessions, come, end } = setUp({ max: 1 });
    const [one, two] = [come("one"), come("two")];
    end(one, "gpu-1");
    end(two, "gpu-1");
    assert.deepEqual(
      [...sessions.all()].map(({ name, underWay }) => [name, underWay]),
      [["two", 0]],
    );
    sessions.close();
    assert.equal(sessions.size, 0);
  });
});
