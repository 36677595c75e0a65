import assert from "node:assert/strict";
import { it } from "node:test";
import type { Principal } from "../../../../core/contract/principal.ts";
import { Ticket } from "../../../../core/ticket.ts";
import { KeyAccess } from "../../../../plugins/features/auth/access.ts";
import { FakeClock } from "../../../support/fake-clock.ts";
import { requestHead } from "../../../support/wire-heads.ts";

const HEAD = requestHead(["Host: a", "Authorization: Bearer x"]);
const alice: Principal = { name: "alice", tenant: "t", priority: 0, models: undefined, limits: { concurrency: 1 } };

it("a request that ends while its token is checked takes no place of its principal", async () => {
  const access = new KeyAccess(new FakeClock());
  const config = { authenticators: [{ name: "a", type: "a", plugin: { authenticate: async () => alice } }] };
  const entered = (endedAtMs: number) => {
    const ticket = new Ticket("1", "POST", 0);
    const entering = access.enter(ticket, HEAD, config as never);
    ticket.times.endedAtMs = endedAtMs;
    return entering;
  };
  await entered(5);
  await entered(Number.NaN);
  assert.equal(access.counts[0]?.inFlight, 1);
  await assert.rejects(entered(Number.NaN)!, { code: "rate_limit_exceeded" });
});
