import assert from "node:assert/strict";
import { join } from "node:path";
import { after, it } from "node:test";
import { type Clock, systemClock } from "../../core/contract/clock.ts";
import type { Log } from "../../core/contract/log.ts";
import { askFor, startTestAdmin } from "../support/admin.ts";
import { exchange, readAnswer } from "../support/raw-client.ts";
import { chatPost, OK, setUp } from "../support/scripted-pool.ts";
import type { Script } from "../support/scripted-replica.ts";

const PLUGIN = join(import.meta.dirname ?? ".", "..", "support", "slow-scorer.ts");
const SPEC = `  plugins: [ { from: "${PLUGIN}", name: tardy } ]
  profiles: [ { name: default, plugins: [ { pluginRef: tardy } ] } ]`;
/** More than `limits.pluginMs`. */
const SLOW = "x-scorer-ms: 6\r\n";
/** Between two requests that are both timed. */
const APART_MS = 200;
const PATIENCE_MS = 10_000;
/** So many at most until something is noticed: a busy machine makes a quick plugin look slow now and then. */
const MOST_REQUESTS = 200;

it("a slow scorer of the user's is named in the log and in the status, loses its vote, and gets it back", async () => {
  let aheadMs = 0;
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + aheadMs };
  const logged: string[] = [];
  const tell: Log["warn"] = (message, fields) => void logged.push(`${message} ${JSON.stringify(fields)}`);
  const served = [0, 0];
  const counts =
    (at: number): Script =>
    (_request, socket) => {
      served[at]! += 1;
      socket.write(OK);
    };
  const { router } = await setUp([counts(0), counts(1)], {
    spec: SPEC,
    clock,
    operatorLog: { info: tell, warn: tell, error: tell },
  });
  const admin = await startTestAdmin(router.router);
  after(() => admin.close());
  const warnings = async () => (JSON.parse((await askFor(admin.port, "/status")).body) as { warnings: string[] }).warnings;
  const request = async (lines = "") => assert.equal(readAnswer(await exchange(router.port, chatPost("", lines))).status, 200);
  const isLogged = (words: string) => logged.some((line) => line.startsWith(words) && line.includes('"plugin":"tardy"'));
  const requestsUntil = async (words: string, lines = "") => {
    for (let sent = 0; !isLogged(words) && sent < MOST_REQUESTS; sent++) {
      aheadMs += APART_MS;
      await request(lines);
    }
    assert.ok(isLogged(words), logged.join("\n"));
  };
  /** Of some requests that come at once, so that few of them are timed: how many the replica got that the scorer prefers. */
  const shareOfPreferred = async () => {
    served.fill(0);
    for (let sent = 0; sent < 24; sent++) await request();
    return served[1]! / 24;
  };

  assert.equal(await shareOfPreferred(), 1);
  assert.deepEqual(await warnings(), []);
  await requestsUntil("A plugin takes more time per request than it may", SLOW);
  assert.match((await warnings()).join(), /tardy/);
  assert.equal(await shareOfPreferred(), 1, "its vote counts while it is only named");

  aheadMs += PATIENCE_MS;
  await requestsUntil("A scorer that takes too much time loses its vote", SLOW);
  assert.match((await warnings()).join(), /tardy.*vote/);
  assert.ok((await shareOfPreferred()) < 1);

  await requestsUntil("A plugin is within its time again");
  assert.deepEqual(await warnings(), []);
  assert.equal(await shareOfPreferred(), 1);
});
