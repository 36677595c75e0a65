/** What is configured and can't work at these replicas: the status says so, and that not all is well. */
import assert from "node:assert/strict";
import { afterEach, describe, it } from "node:test";
import { askFor, startTestAdmin } from "../support/admin.ts";
import { loadTestConfig, startTestRouter, type TestRouter } from "../support/router.ts";
import { answerOk } from "../support/scripted-pool.ts";
import { type ScriptedReplica, startScriptedReplica } from "../support/scripted-replica.ts";
import { makeShownConfig } from "../support/view.ts";

const jwt = `  plugins: [{ type: jwt, parameters: { issuer: i, audience: a, jwksUrl: "http://127.0.0.1:9/jwks", algorithms: [RS256] } }]\n`;

const ROWS: readonly (readonly [name: string, spec: string, warning: RegExp])[] = [
  [
    "a scorer of numbers that no replica reports",
    "  plugins: [{ type: queue }]\n",
    /^The scorer "queue" can't do its work: no replica reports how many requests wait/,
  ],
  ["a filter of such numbers", "  plugins: [{ type: utilization }]\n", /^The filter "utilization" can't do its work: /],
  [
    "a shadow's scorer of them",
    "  plugins: [{ type: running }]\n  profiles: [{ name: p, plugins: [] }]\n  shadow: { plugins: [{ pluginRef: running }] }\n",
    /running" can't do its work: no replica reports how many requests it runs/,
  ],
  [
    "pairs without any that process prompts",
    "  disaggregation: { decider: always }\n",
    /^spec.disaggregation makes no pairs: no endpoint processes prompts/,
  ],
  [
    "a gate over caches of unknown size",
    "  sessions: { gate: true }\n",
    /^spec.sessions.gate holds no turn back: no replica's metrics say/,
  ],
  [
    "events where no prompt is read",
    "  kvEvents: {}\n  plugins: [{ type: random }]\n  profiles: [{ name: p, plugins: [{ pluginRef: random }] }]\n",
    /^spec.kvEvents changes nothing: no plugin of the profile reads prompts/,
  ],
  [
    "tokens whose issuer is not there",
    jwt,
    /^The authenticator "jwt" can't do its work: the issuer's keys can't be read \(.*\), so its tokens get 503/,
  ],
];

describe("the status says what can't work", () => {
  const ends: (() => unknown)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });

  async function statusWith(spec: string): Promise<() => Promise<{ isWell: boolean; warnings: readonly string[] }>> {
    const replica: ScriptedReplica = await startScriptedReplica(answerOk);
    ends.push(() => replica.close());
    const router: TestRouter = await startTestRouter([replica.url], { spec });
    ends.push(() => router.close());
    const loaded = await loadTestConfig([replica.url], { spec });
    const admin = await startTestAdmin(router.router, { running: makeShownConfig({ loaded }) });
    ends.push(() => admin.close());
    return async () => JSON.parse((await askFor(admin.port, "/status")).body) as { isWell: boolean; warnings: readonly string[] };
  }

  for (const [name, spec, warning] of ROWS)
    it(name, async () => {
      const status = await statusWith(spec);
      let shown = await status();
      // An issuer is asked by the first look, in the background.
      for (let looks = 0; looks < 100 && !shown.warnings.some((each) => warning.test(each)); looks++) shown = await status();
      assert.ok(
        shown.warnings.some((each) => warning.test(each)),
        shown.warnings.join("\n"),
      );
      assert.equal(shown.isWell, false);
    });

  it("and nothing of what can", async () => {
    const { isWell, warnings } = await (await statusWith("  sessions: {}\n  plugins: [{ type: active-request }]\n"))();
    assert.deepEqual([isWell, warnings], [true, []]);
  });
});
