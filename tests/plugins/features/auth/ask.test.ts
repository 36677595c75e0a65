import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Authenticator } from "../../../../core/contract/authenticator.ts";
import { RouterError } from "../../../../core/contract/errors.ts";
import type { Principal } from "../../../../core/contract/principal.ts";
import { whoAsks, whoShows } from "../../../../plugins/features/auth/ask.ts";

const alice: Principal = { name: "alice", tenant: "t", priority: 0, models: undefined, limits: {} };
const expired = () => new RouterError("invalid_api_key", "It has expired.");
type Answer = Authenticator["authenticate"];

const ask = async (...answers: readonly Answer[]) =>
  whoShows(
    "k",
    answers.map((authenticate, index) => ({ name: `p${index}`, type: "t", plugin: { authenticate } })),
  );

describe("who shows a credential", () => {
  const rows: readonly (readonly [name: string, answers: readonly Answer[], who: string])[] = [
    ["the first that knows it says it", [() => undefined, () => alice, () => ({ ...alice, name: "bob" })], "p1:alice"],
    ["also if it has to ask elsewhere", [async () => undefined, async () => alice], "p1:alice"],
    ["and one that is quick behind one that is not", [async () => undefined, () => alice], "p1:alice"],
    ["nobody, without any", [], "invalid_api_key"],
    ["nobody, where none knows it", [() => undefined, async () => undefined], "invalid_api_key"],
    [
      "one that knows it and refuses is the last",
      [
        () => {
          throw expired();
        },
        () => alice,
      ],
      "invalid_api_key",
    ],
    ["the same later", [() => Promise.reject(expired()), () => alice], "invalid_api_key"],
    [
      "one that breaks lets nobody in",
      [
        () => {
          throw new TypeError("no");
        },
        () => alice,
      ],
      "plugin_fault",
    ],
    ["the same later", [() => Promise.reject(new TypeError("no")), () => alice], "plugin_fault"],
    ["nor one that names nobody", [() => ({ ...alice, name: "" })], "plugin_fault"],
    ["nor one that gives something else", [async () => "alice" as never], "plugin_fault"],
    ["nor one that gives true", [() => true as never], "plugin_fault"],
  ];
  for (const [name, answers, who] of rows) {
    it(name, async () => {
      const found = await ask(...answers).catch((thrown: unknown) => {
        assert.ok(thrown instanceof RouterError, String(thrown));
        if (thrown.code === "plugin_fault") assert.match(thrown.fault?.plugin ?? "", /^p\d$/);
        return thrown.code;
      });
      assert.equal(typeof found === "string" ? found : found.name, who);
    });
  }
});

it("only the operator's keys have names of their own; behind others is who vouches for them", async () => {
  const names = (["keys", "jwt"] as const).map(async (type) => {
    const { name, tenant } = await whoShows("k", [{ name: "mine", type, plugin: { authenticate: () => alice } }]);
    return [name, tenant];
  });
  assert.deepEqual(await Promise.all(names), [
    ["alice", "t"],
    ["mine:alice", "mine:t"],
  ]);
});

describe("who shows two credentials", () => {
  const unavailable = () => new RouterError("authentication_unavailable", "Not now.");
  const rows: readonly (readonly [name: string, answers: Readonly<Record<string, Answer>>, who: string])[] = [
    ["the one that is known", { a: () => undefined, b: () => alice }, "p:alice"],
    ["the same later", { a: async () => alice, b: async () => undefined }, "p:alice"],
    ["one that has expired does not count", { a: () => Promise.reject(expired()), b: () => alice }, "p:alice"],
    ["two that are known are refused", { a: () => alice, b: () => alice }, "invalid_api_key"],
    ["two that are unknown", { a: () => undefined, b: () => undefined }, "invalid_api_key"],
    [
      "nobody where one can't be checked",
      { a: () => Promise.reject(unavailable()), b: () => alice },
      "authentication_unavailable",
    ],
  ];
  for (const [name, answers, who] of rows) {
    it(name, async () => {
      const plugin = { authenticate: (credential: string) => answers[credential]!(credential) };
      const found = await Promise.resolve(whoAsks({ credential: "a", other: "b" }, [{ name: "p", type: "t", plugin }])).catch(
        (thrown: RouterError) => thrown.code,
      );
      assert.equal(typeof found === "string" ? found : found.name, who);
    });
  }
});
