import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import { run } from "../../../support/cli.ts";

const CONFIG = join(import.meta.dirname ?? ".", "../../../../examples/custom-scorer.yaml");

describe("signalbox plugins", () => {
  it("lists the types, and those of the config's own plugins", async () => {
    const { code, out } = await run("plugins", "list", "-f", CONFIG);
    assert.equal(code, 0);
    assert.match(out, /^kind +type +summary\n/);
    assert.match(out, /^scorer +outstanding-work +Prefers /m);
    assert.match(out, /^scorer +label-preference +Prefers endpoints by the value of a label\.$/m);
    assert.doesNotMatch((await run("plugins", "list")).out, /label-preference/);
  });

  it("shows one type with its options, by either of its names, for people and for programs", async () => {
    const { out } = await run("plugins", "show", "label-preference", "-f", CONFIG);
    assert.match(out, /^label-preference, a scorer: /);
    assert.match(out, /^label +string +"gpu"$/m);
    assert.match(out, /^scores +mapping to number, from 0 to 1 +required$/m);
    const json = JSON.parse((await run("plugins", "show", "queue-scorer", "--json")).out) as { type: string };
    assert.equal(json.type, "queue");
  });

  it("says which type may be meant, and how it is called", async () => {
    const { code, err } = await run("plugins", "show", "queu");
    assert.equal(code, 1);
    assert.match(err, /no plugin type "queu".*queue/);
    assert.equal((await run("plugins")).code, 2);
    assert.equal((await run("plugins", "list", "-f", "no-such-file.yaml")).code, 1);
  });
});

describe("signalbox schema", () => {
  it("has the options of the plugins that a config loads", async () => {
    const { out } = await run("schema", "-f", CONFIG);
    const { definitions } = JSON.parse(out);
    const rules = definitions.Router.properties.spec.properties.plugins.items.allOf as readonly Rule[];
    const own = rules.find((each) => each.if.properties.from?.const === "./custom-scorer.ts");
    assert.deepEqual(Object.keys(own?.then.properties.parameters.properties ?? {}), ["label", "scores"]);
  });
});

interface Rule {
  readonly if: { readonly properties: { readonly from?: { readonly const: string } } };
  readonly then: { readonly properties: { readonly parameters: { readonly properties: object } } };
}
