/** What every authenticator keeps to, whatever a client shows. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { before, describe, it } from "node:test";
import type { Authenticator } from "../../core/contract/authenticator.ts";
import { RouterError } from "../../core/contract/errors.ts";
import type { Definition } from "../../core/contract/plugin.ts";
import { builtIns } from "../../plugins/registry.ts";
import { createPlugin } from "../support/plugins.ts";

const sha256 = createHash("sha256").update("sk-1").digest("hex");
const PARAMETERS: Readonly<Record<string, unknown>> = {
  keys: { keys: [{ name: "a", sha256, models: ["m"], tenant: "t", limits: { concurrency: 1 } }] },
  jwt: { issuer: "https://login.example", audience: "router", jwksFile: "/nowhere/keys.json" },
};

const NOBODYS = [
  ...[
    "x",
    "sk-",
    "null",
    "undefined",
    "__proto__",
    "constructor",
    "a",
    "sk-1 ",
    " sk-1",
    "SK-1",
    "sk-1\u00ff",
    "\u00ff\u00fe",
    sha256,
  ],
  ...[
    "a.b.c",
    "...",
    "..",
    "eyJhbGciOiJub25lIn0.e30.",
    "eyJhbGciOiJub25lIn0.bnVsbA.x",
    "eyJhbGciOiJub25lIn0.W10.x",
    "k".repeat(32_000),
  ],
  `${"a".repeat(10_000)}.${"b".repeat(10_000)}.${"c".repeat(10_000)}`,
];

for (const definition of builtIns.values()) {
  if (definition.kind !== "authenticator") continue;
  describe(`the authenticator ${definition.type}`, () => {
    before(() => definition.load?.());
    const make = () => createPlugin(definition as Definition<"authenticator">, PARAMETERS[definition.type]) as Authenticator;

    for (const credential of NOBODYS) {
      it(`knows nobody by ${JSON.stringify(credential.slice(0, 40))}`, async () => {
        try {
          assert.equal(await make().authenticate(credential), undefined);
        } catch (thrown) {
          assert.ok(thrown instanceof RouterError && thrown.status === 401, String(thrown));
        }
      });
    }

    it("gives the same answer again", async () => {
      const plugin = make();
      const first = await plugin.authenticate("sk-1");
      assert.deepEqual(await plugin.authenticate("sk-1"), first);
      assert.doesNotMatch(JSON.stringify(first) ?? "", /sk-1|[0-9a-f]{64}/);
    });
  });
}
