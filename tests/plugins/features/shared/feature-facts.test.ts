import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { BadFact } from "../../../../core/contract/fact-fields.ts";
import { silentLog } from "../../../../core/contract/log.ts";
import type { SharedFact, SharedFacts } from "../../../../core/contract/slots/shared.ts";
import { withoutRouter } from "../../../../core/router-host.ts";
import { Accounts } from "../../../../plugins/features/auth/accounts.ts";
import { SharedKeys } from "../../../../plugins/features/auth/shared-keys.ts";
import { RolloutGuard } from "../../../../plugins/features/rollouts/rollout-guard.ts";
import { SharedGuards } from "../../../../plugins/features/rollouts/shared-guards.ts";
import { GatedLine } from "../../../../plugins/features/sessions/gate/gated-line.ts";
import { Sessions } from "../../../../plugins/features/sessions/sessions.ts";
import { sessionsSection } from "../../../../plugins/features/sessions/sessions-config.ts";
import { SharedSessions } from "../../../../plugins/features/sessions/shared-sessions.ts";
import { FeatureFacts } from "../../../../plugins/features/shared/feature-facts.ts";
import { Outbox } from "../../../../plugins/features/shared/outbox.ts";
import { Holders } from "../../../../plugins/features/stored/holders.ts";
import { SharedHolders } from "../../../../plugins/features/stored/shared-holders.ts";
import { makeEndpoints } from "../../../support/endpoints.ts";
import { FakeClock } from "../../../support/fake-clock.ts";

const clock = new FakeClock();
const endpoints = makeEndpoints(3);
const HREF = endpoints[1]!.url.href;
const place = { namespace: "d", resource: "r", index: 0 };
const worseBy = { errorRate: 0.02, ttft: 0.5 };
const common = { name: "g", rule: "r", target: "v2", against: "v1", place, stickyHeader: "", confidence: 0.95, minRequests: 20 };
const GUARD = { ...common, worseBy, isAnnotation: false };

/** What each feature takes: a fact as it is told, of which fields are exchanged for strange ones. */
const FEATURES: readonly (readonly [name: string, make: () => SharedFacts, usual: (facts: SharedFacts) => SharedFact])[] = [
  ["keys", () => new SharedKeys(new Accounts(), clock), () => ["alice", 0, 9, 900, 2, 80, 5, 500, 9_000]],
  ["stored things", placesOf, () => ["t", "files", "file-1", HREF, 0, 5]],
  ["sessions", sessionsOf, () => ["k", "t", "m", "n", "s", HREF, "stop", "r", [3, 1, 500, 9, 400, 9_000, 8_000], [1, 2, 3, 4]]],
  ["guards", guardsOf, () => ["seen", new RolloutGuard(GUARD).key, 7, 20, 0, [[0, 0.5], [1, -0.2], "digest"]]],
];

function placesOf(): SharedFacts {
  const shared = new SharedHolders(new Holders(), clock);
  shared.use(100_000);
  shared.follow(endpoints);
  return shared;
}

function sessionsOf(): SharedFacts {
  const services = { clock, random: Math.random, log: silentLog };
  const [line, sessions] = [new GatedLine(withoutRouter(services)), new Sessions(clock)];
  const shared = new SharedSessions(sessions, line, clock);
  sessions.use(sessionsSection.schema.parse({ max: 50 }));
  line.use(1_000);
  shared.follow(endpoints);
  return shared;
}

function guardsOf(): SharedFacts {
  const guard = new RolloutGuard(GUARD);
  return new SharedGuards(clock, () => [guard]);
}

const odd = fc.oneof(
  ...[fc.integer(), fc.double(), fc.string(), fc.constant(null), fc.constant({}), fc.constant(1e308), fc.constant(-1e308)],
  ...[
    fc.array(fc.oneof(fc.integer(), fc.double(), fc.constant(null)), { maxLength: 8 }),
    fc.constant(HREF),
    fc.constant("__proto__"),
  ],
);

describe("facts of features", () => {
  for (const [name, make, usual] of FEATURES)
    it(`of ${name}: any field may be strange; it is refused, or taken, and what is said then can be sent`, () => {
      const changed = fc.array(fc.record({ at: fc.nat(10), value: odd, router: fc.constantFrom("a", "b") }), { maxLength: 30 });
      fc.assert(
        fc.property(changed, (changes) => {
          const shared = make();
          const facts = new FeatureFacts();
          facts.follow([{ name: "f", plugin: { shared } }], () => {});
          let taken = 0;
          for (const { at, value, router } of changes) {
            // As it comes from a message.
            const fact = JSON.parse(JSON.stringify(usual(shared).with(at % usual(shared).length, value))) as SharedFact;
            try {
              facts.hear("f", fact, router, false);
              taken += 1;
            } catch (thrown) {
              assert.ok(thrown instanceof BadFact, String(thrown));
            }
          }
          facts.gone("a");
          facts.repeat(Number.POSITIVE_INFINITY);
          facts.say(new Outbox());
          facts.gone("b");
          assert.ok(taken <= changes.length);
        }),
        { numRuns: 150 },
      );
    });
});
