import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { silentLog } from "../../../../core/contract/log.ts";
import { withoutRouter } from "../../../../core/router-host.ts";
import type { Run } from "../../../../core/run.ts";
import { makeRun } from "../../../../core/test-kit/feature.ts";
import { makeAttempt, makeOutcome } from "../../../../core/test-kit/records.ts";
import type { Ticket } from "../../../../core/ticket.ts";
import { GatedLine } from "../../../../plugins/features/sessions/gate/gated-line.ts";
import { SessionIds } from "../../../../plugins/features/sessions/session-ids.ts";
import { Sessions } from "../../../../plugins/features/sessions/sessions.ts";
import { sessionsSection } from "../../../../plugins/features/sessions/sessions-config.ts";
import { SharedSessions } from "../../../../plugins/features/sessions/shared-sessions.ts";
import { TestRouters } from "../shared/routers.ts";

const SETTINGS = sessionsSection.schema.parse({})!;
const IDS = new SessionIds(SETTINGS);
const SECRET = [1, 2, 3, 4, 5, 6];
const TURN = "what the user and the assistant say to each other, ".repeat(100);

const NOBODY = { admitted() {}, failed() {} };

/** Routers that agree on sessions, each with its gate. */
function sessionRouters(count: number) {
  const parts: { readonly sessions: Sessions; readonly line: GatedLine; readonly shared: SharedSessions }[] = [];
  const routers = new TestRouters(0, count, (clock) => {
    const line = new GatedLine(withoutRouter({ clock, random: Math.random, log: silentLog }));
    const sessions = new Sessions(clock);
    const shared = new SharedSessions(sessions, line, clock);
    sessions.use(SETTINGS, SECRET);
    line.use(1_000);
    parts.push({ sessions, line, shared });
    return [{ name: "spec/sessions", plugin: { shared } }];
  });
  for (const [at, { shared, line }] of parts.entries()) {
    shared.follow(routers.all[at]!.endpoints);
    line.follow(routers.all[at]!.endpoints);
  }
  /** A request comes to a router; it has an id, or only its prompt. */
  const come = (router: number, headers: Readonly<Record<string, string>>, prompt = TURN) => {
    const ticket = { ...makeOutcome(), session: undefined } as unknown as Ticket;
    const run = makeRun({ ticket, headers, text: prompt });
    const promptSpans = [[0, prompt.length]] as const;
    const asked = { ...run, parsed: { ...run.parsed!, promptSpans }, ticket };
    const { sessions, line } = parts[router]!;
    line.enter(sessions.arrived(asked, IDS)!, asked as unknown as Run, NOBODY);
    return ticket;
  };
  const end = (router: number, ticket: Ticket, endpoint: string) => {
    const usage = { promptTokens: 1_000, outputTokens: 10, cachedTokens: 0 };
    const outcome = Object.assign(ticket, { attempts: [makeAttempt(endpoint, 200)], usage, outputTokens: 10 });
    parts[router]!.sessions.settled(outcome);
    parts[router]!.line.settled(outcome);
  };
  return { routers, parts, come, end };
}

describe("sessions of several routers", () => {
  it("go on at any of them: by their ids, and by their prompts", async () => {
    const { routers, parts, come, end } = sessionRouters(3);
    const { clock } = routers;
    await clock.advance(1_000);
    for (const headers of [{ "session-id": "s" }, {}]) {
      let prompt = TURN;
      for (let turn = 1; turn <= 6; turn++) {
        const ticket = come(turn % 3, headers, prompt);
        const { session } = ticket;
        const before = turn === 1 ? ["", Number.NaN] : [`r${(turn - 1) % 2}`, 5_000];
        const pausedMs = 10 * Math.round(session!.pausedMs / 10);
        assert.deepEqual([session?.turn, session?.endpoint, pausedMs], [turn, ...before], JSON.stringify(headers));
        await clock.advance(2_000);
        end(turn % 3, ticket, `r${turn % 2}`);
        await clock.advance(5_000);
        prompt += TURN;
      }
    }
    for (const { sessions, line } of parts) {
      assert.equal(sessions.size, 2);
      // In the eyes of each gate, the last replica's cache holds them.
      assert.deepEqual([line.placesAt(0), line.placesAt(1)], [2, 0]);
    }
  });

  it("are at rest again when the router dies that had their turns under way; one that comes is told of all", async () => {
    const { routers, parts, come, end } = sessionRouters(2);
    const { clock } = routers;
    await clock.advance(1_000);
    end(0, come(0, { "session-id": "s" }), "r2");
    come(0, { "session-id": "s" });
    await clock.advance(100);
    const [session] = parts[1]!.sessions.all();
    assert.deepEqual([session?.isBusy, session?.endpoint, session?.turns], [true, "r2", 2]);
    routers.all[0]!.die();
    await clock.advance(6_000);
    assert.deepEqual([session?.isBusy, session?.underWay], [false, 0]);
    end(1, come(1, { "session-id": "s" }), "r1");
    await clock.advance(20_000);
    routers.add();
    await clock.advance(1_500);
    assert.equal([...parts[2]!.sessions.all()][0]?.turns, 3);
  });

  it("strange words about them break nothing", async () => {
    const { routers, parts } = sessionRouters(1);
    await routers.clock.advance(1_000);
    const usual = ["k", "t", "m", "n", "s", "http://nowhere:1/", "stop", "", [1, 1, 5, 5, 5, 0, 0], null, ["", 0, 5]];
    const strange = usual.map((_, at) => usual.map((field, place) => (place === at ? { strange: true } : field)));
    routers.say([usual, ...strange, [], ["k"]].map((fact) => ["of", "spec/sessions", ...fact]));
    assert.equal(routers.all[0]!.log.view!.facts.wrong, strange.length + 2);
    const [session] = parts[0]!.sessions.all();
    assert.deepEqual([parts[0]!.sessions.size, session?.endpoint, session?.isBusy], [1, "", true]);
    await routers.clock.advance(6_000);
    assert.equal(session?.isBusy, false);
  });
});
