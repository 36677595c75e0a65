import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { loadTexts } from "../../../../config/load.ts";
import { formatProblems } from "../../../../config/read/problems.ts";
import { type SharedConfig, sharedSection } from "../../../../plugins/features/shared/shared-config.ts";
import { builtIns } from "../../../../plugins/registry.ts";

process.env["SHARED_LONG"] = "0123456789abcdef";
process.env["SHARED_SHORT"] = "0123";

const REDIS = "redis: { url: redis://store:6379 }";

async function load(shared: string) {
  const text = `apiVersion: signalbox/v1\nkind: Router\nspec:\n  shared: { ${shared} }\n`;
  return loadTexts([{ file: "test.yaml", text }], builtIns, ["http://gpu1:8000"]);
}

describe("spec.shared", () => {
  const refused: readonly (readonly [name: string, shared: string, problem: RegExp])[] = [
    ["without a store", "secret: env:SHARED_LONG", /spec\.shared {2}found no store; wanted one of: redis, nats, kubernetes/],
    ["with a cluster as well", `secret: env:SHARED_LONG, ${REDIS}, kubernetes: {}`, /found redis beside kubernetes/],
    ["with too many writes", "secret: env:SHARED_LONG, kubernetes: { everyMs: 50 }", /everyMs .*a whole number from 250 to 1500/],
    ["with two stores", `secret: env:SHARED_LONG, ${REDIS}, nats: { url: nats://store:4222 }`, /found redis beside nats/],
    ["without a secret", REDIS, /spec\.shared\.secret/],
    ["with a short secret", `secret: env:SHARED_SHORT, ${REDIS}`, /a secret that is short; wanted at least 16 characters/],
    ["with the secret itself", `secret: 0123456789abcdefgh, ${REDIS}`, /wanted env:NAME or file:PATH/],
    [
      "with a password in the URL",
      'secret: env:SHARED_LONG, redis: { url: "redis://me:word@store:6379" }',
      /without a user or a password/,
    ],
    [
      "with another scheme",
      "secret: env:SHARED_LONG, nats: { url: http://store:4222 }",
      /wanted nats:\/\/HOST:PORT or tls:\/\/HOST:PORT/,
    ],
  ];
  for (const [name, shared, problem] of refused) {
    it(`${name} is refused`, async () => {
      const { problems } = await load(shared);
      const text = formatProblems(problems ?? []);
      assert.match(text, problem);
      assert.doesNotMatch(text, /0123|me:word/);
    });
  }

  it("gives all routers with the same secret the same hashes", async () => {
    const [one, two] = await Promise.all([
      load(`secret: env:SHARED_LONG, ${REDIS}`),
      load("secret: env:SHARED_LONG, nats: { url: nats://a:1 }"),
    ]);
    assert.equal(one.problems, undefined);
    assert.equal(one.config?.settings.prefixSecret?.length, 6);
    assert.deepEqual(one.config?.settings.prefixSecret, two.config?.settings.prefixSecret);
    assert.equal((await load("secret: env:SHARED_LONG, group: b, redis: { url: rediss://store:6379/1 }")).problems, undefined);
  });

  it("takes a cluster, and shows what of it is set", async () => {
    const { config } = await load("secret: env:SHARED_LONG, kubernetes: { namespace: llm, everyMs: 500ms }");
    assert.deepEqual(sharedSection.written(config!.features.get("shared") as SharedConfig), {
      secret: "env:SHARED_LONG",
      kubernetes: { namespace: "llm", everyMs: 500 },
    });
  });
});
