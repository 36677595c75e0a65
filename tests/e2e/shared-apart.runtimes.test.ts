/** Routers at one store that should agree, and do not: each says of the other who it is, and why. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { systemClock } from "../../core/contract/clock.ts";
import { silentLog } from "../../core/contract/log.ts";
import { askFor, startTestAdmin } from "../support/admin.ts";
import { sharedStatusOf } from "../support/features.ts";
import { startTestRouter, type TestRouter, waitUntil } from "../support/router.ts";
import { answerOk } from "../support/scripted-pool.ts";
import { type ScriptedReplica, startScriptedReplica } from "../support/scripted-replica.ts";
import { NO_NATS, NO_REDIS, startNats, startRedis, type TestStore } from "../support/stores.ts";

process.env["APART_TEST"] = "a-secret-of-at-least-sixteen";
process.env["APART_TEST_OTHER"] = "another-secret-of-at-least-sixteen";

const STORES = [
  { name: "redis", absent: NO_REDIS, start: startRedis, url: (port: number) => `redis: { url: redis://127.0.0.1:${port} }` },
  { name: "nats", absent: NO_NATS, start: startNats, url: (port: number) => `nats: { url: nats://127.0.0.1:${port} }` },
];
const AHEAD_MS = 90_000;

interface Kept {
  readonly router: TestRouter;
  /** What its operator reads in the log. */
  readonly lines: string[];
}

for (const { name, absent, start, url } of STORES) {
  describe(`routers that do not agree by ${name}`, { skip: absent, timeout: 120_000 }, () => {
    let store: TestStore;
    let replica: ScriptedReplica;
    const all: Kept[] = [];

    async function run(rest = "", { secret = "env:APART_TEST", aheadMs = 0 } = {}): Promise<Kept> {
      const lines: string[] = [];
      const keep = (message: string, fields?: object) => void lines.push(`${message} ${JSON.stringify(fields)}`);
      const router = await startTestRouter([replica.url], {
        spec: `  shared: { secret: "${secret}", ${url(store.port)}${rest} }`,
        clock: { ...systemClock, wall: () => systemClock.wall() + aheadMs },
        operatorLog: { ...silentLog, warn: keep },
      });
      const kept = { router, lines };
      all.push(kept);
      return kept;
    }

    const idOf = ({ router }: Kept) => sharedStatusOf(router.router)!.router;
    const apart = ({ router }: Kept) => sharedStatusOf(router.router)!.apart;
    const causeAt = (one: Kept, other: Kept) => apart(one).find(({ router }) => router === idOf(other))?.cause;
    const both = (one: Kept, other: Kept, cause: string) =>
      waitUntil(() => causeAt(one, other) === cause && causeAt(other, one) === cause);

    before(async () => {
      store = await start();
      replica = await startScriptedReplica(answerOk);
    });
    after(async () => {
      await Promise.all(all.map(({ router }) => router.close()));
      await replica.close();
      await store.stop();
    });

    it("name each other and the cause: another clock, secret, group", async () => {
      const one = await run();
      const agreeing = await run();
      await waitUntil(() => sharedStatusOf(one.router.router)?.routers.length === 1);
      assert.deepEqual([apart(one), apart(agreeing)], [[], []]);
      const ahead = await run("", { aheadMs: AHEAD_MS });
      const secret = await run("", { secret: "env:APART_TEST_OTHER" });
      const group = await run(", group: other");
      await both(one, ahead, "of another time");
      await both(one, secret, "without the common secret");
      await both(one, group, "of another group");
      assert.equal(sharedStatusOf(one.router.router)?.routers.length, 1);
      // One line for each of them, however many messages came.
      const refused = () => sharedStatusOf(one.router.router)!.refused;
      await waitUntil(() => refused()["of another time"] > 3 && refused()["without the common secret"] > 3);
      for (const other of [ahead, secret, group])
        assert.equal(one.lines.filter((line) => line.includes(idOf(other))).length, 1, one.lines.join("\n"));
      assert.ok(one.lines.some((line) => line.includes(idOf(ahead)) && /clock is 90 s ahead/.test(line)));
      const admin = await startTestAdmin(one.router.router);
      try {
        const shown = JSON.parse((await askFor(admin.port, "/status")).body) as { isWell: boolean; warnings: string[] };
        assert.equal(shown.isWell, false);
        for (const other of [ahead, secret, group])
          assert.equal(
            shown.warnings.filter((warning) => warning.startsWith(`The router ${idOf(other)} does not agree`)).length,
            1,
          );
        assert.ok(!shown.warnings.join().includes(idOf(agreeing)));
      } finally {
        await admin.close();
      }
    });
  });
}
